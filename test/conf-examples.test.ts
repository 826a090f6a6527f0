// test: native executable
/** Every file in conf-examples/ works as it is and does what its row in README.md says. */

import { type Test, test } from "tap";
import { renderContainerdTemplate } from "./e2e/containerd-template.ts";
import { allFiles, exampleFiles, loadExample, readExample } from "./e2e/example.ts";
import { ExampleNetwork, type Offer } from "./e2e/example-network.ts";
import { isAtLeast, readNetwork } from "./e2e/libcni.ts";
import { inRepository } from "./harness/repository.ts";
import { nodeFor } from "./operator/node.ts";

interface Example {
  /** What the file shows, as the test's name. */
  readonly shows: string;
  /** What a runtime adds to it. */
  readonly offer?: Offer;
  /** Asserts what is special to this file, beyond the life of a pod. */
  readonly keeps: (t: Test, network: ExampleNetwork) => void;
}

const examples: Readonly<Record<string, Example>> = {
  "bridge.conflist": {
    shows: "a pod gets an address, the bridge as its gateway and a default route",
    keeps(t, network) {
      t.same(network.add("pod-1"), {
        cniVersion: "1.0.0",
        ips: [{ address: "10.22.0.2/24", gateway: "10.22.0.1" }],
        routes: [{ dst: "0.0.0.0/0" }],
      });
    },
  },

  "bridge-with-ports.conflist": {
    shows: "the plugins behind bridge leave the address as it is",
    keeps(t, network) {
      t.same(network.add("pod-1"), {
        cniVersion: "1.0.0",
        ips: [{ address: "10.45.0.2/24", gateway: "10.45.0.1" }],
        routes: [{ dst: "0.0.0.0/0" }],
      });
    },
  },

  "dual-stack.conflist": {
    shows: "a pod gets an IPv4 and an IPv6 address, in the order of the sets",
    keeps(t, network) {
      t.same(network.add("pod-1"), {
        cniVersion: "1.0.0",
        ips: [
          { address: "10.23.0.2/24", gateway: "10.23.0.1" },
          { address: "fd00:10:23::2/64", gateway: "fd00:10:23::1" },
        ],
        routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }],
      });
    },
  },

  "ranges-in-one-set.conflist": {
    shows: "when the first range of a set is used up, the second one serves",
    keeps(t, network) {
      const pods = ["pod-1", "pod-2", "pod-3"].map((pod) => network.add(pod));
      t.same(
        pods.flatMap(({ ips }) => ips),
        [
          { address: "10.24.0.10/24", gateway: "10.24.0.1" },
          { address: "10.24.0.11/24", gateway: "10.24.0.1" },
          { address: "10.24.1.2/24", gateway: "10.24.1.1" },
        ],
      );
    },
  },

  "ranges-in-several-sets.conflist": {
    shows: "a pod gets one address from every set",
    keeps(t, network) {
      t.same(network.add("pod-1"), {
        cniVersion: "1.0.0",
        ips: [
          { address: "10.25.0.2/24", gateway: "10.25.0.1" },
          { address: "10.25.1.1/24", gateway: "10.25.1.254" },
          { address: "fd00:10:25::100/64", gateway: "fd00:10:25::1" },
        ],
        routes: [{ dst: "0.0.0.0/0", gw: "10.25.0.1" }, { dst: "::/0" }],
      });
    },
  },

  "ranges-by-runtime-config.conflist": {
    shows: "the runtime names the ranges, and need not send them to free an address",
    offer: { capabilities: { ipRanges: [[{ subnet: "10.34.0.0/24" }]] } },
    keeps(t, network) {
      t.same(network.add("pod-1").ips, [{ address: "10.34.0.2/24", gateway: "10.34.0.1" }]);

      network.del("pod-1", { runtimeConfig: undefined });

      t.same(network.reservations(), []);
    },
  },

  "ranges-file.conflist": {
    shows: "the ranges are those that the node's file has for the network",
    keeps(t, network) {
      t.same(network.add("pod-1").ips, [{ address: "192.168.2.20/24", gateway: "192.168.2.1" }]);
    },
  },

  "partition.conflist": {
    shows: "the addresses are those of this node's part of the range",
    keeps(t, network) {
      t.same(network.add("pod-1").ips, [{ address: "10.42.0.112/20", gateway: "10.42.0.1" }]);
    },
  },

  "small-subnet.conflist": {
    shows: "of the two addresses of a /31 the node has one and the pod the other",
    keeps(t, network) {
      t.same(network.add("pod-1").ips, [{ address: "10.37.0.1/31", gateway: "10.37.0.0" }]);
      t.match(network.refusalOf("pod-2").msg, "no IP addresses available in range set");
    },
  },

  "no-gateway.conflist": {
    shows: "the result has no gateway, and the first address is a pod's",
    keeps(t, network) {
      t.same(network.add("pod-1"), { cniVersion: "1.0.0", ips: [{ address: "10.43.0.1/24" }] });
    },
  },

  "repeated-add.conflist": {
    shows: "a repeated ADD gets the same result",
    keeps(t, network) {
      const first = network.add("pod-1");
      t.same(network.add("pod-1"), first);
      t.same(network.reservations(), ["10.35.0.2"]);
    },
  },

  "history.conflist": {
    shows: "who had which address, from when until when",
    offer: { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0" },
    keeps(t, network) {
      network.add("pod-1");
      network.del("pod-1");
      t.match(
        network.history(),
        /^\S+Z ADD 10\.36\.0\.2 pod-1 eth0 default\/web-0\n\S+Z DEL 10\.36\.0\.2 pod-1 eth0 default\/web-0\n$/,
      );
    },
  },

  "reclaim-never.conflist": {
    shows: "a pod gets an address; what a boot changes is tested elsewhere",
    keeps(t, network) {
      t.same(network.add("pod-1").ips, [{ address: "10.39.0.2/24", gateway: "10.39.0.1" }]);
    },
  },

  "reuse-delay.conflist": {
    shows: "an address that was released a moment ago is not the next one",
    keeps(t, network) {
      network.add("pod-1");
      network.del("pod-1");
      t.same(network.add("pod-2").ips, [{ address: "10.40.0.3/24", gateway: "10.40.0.1" }]);
    },
  },

  "sticky.conflist": {
    shows: "a pod that comes back gets its address",
    offer: { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0" },
    keeps(t, network) {
      const first = network.add("pod-1");
      network.del("pod-1");
      t.same(network.add("pod-1"), first);
    },
  },

  "sticky-by.conflist": {
    shows: "a virtual machine gets its address, whatever its pod is called",
    offer: { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=any;VM=db" },
    keeps(t, network) {
      const first = network.add("launcher-a1");
      network.del("launcher-a1");
      t.same(network.add("launcher-b2"), first);
    },
  },

  "pod-annotations.conflist": {
    shows: "a pod gets the address that its annotation asks for, or none",
    offer: {
      cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=any",
      capabilities: {
        "io.kubernetes.cri.pod-annotations": {
          "example.com/ip": "10.47.0.50",
          "kubevirt.io/domain": "db",
        },
      },
    },
    keeps(t, network) {
      t.same(network.add("virt-launcher-a1").ips, [
        { address: "10.47.0.50/24", gateway: "10.47.0.1" },
      ]);
      t.match(network.refusalOf("pod-2").msg, "requested IP address 10.47.0.50 is not available");
    },
  },

  "ptp.conflist": {
    shows: "a pod gets an address and a default route over its own link",
    keeps(t, network) {
      t.same(network.add("pod-1"), {
        cniVersion: "1.0.0",
        ips: [{ address: "10.26.0.2/24", gateway: "10.26.0.1" }],
        routes: [{ dst: "0.0.0.0/0" }],
      });
    },
  },

  "macvlan.conflist": {
    shows: "pods share the node's own subnet, from a part that its DHCP server leaves alone",
    keeps(t, network) {
      const pods = [network.add("pod-1"), network.add("pod-2")];
      t.same(
        pods.flatMap(({ ips }) => ips),
        [
          { address: "192.168.1.200/24", gateway: "192.168.1.1" },
          { address: "192.168.1.201/24", gateway: "192.168.1.1" },
        ],
      );
    },
  },

  "requested-by-runtime-config.conflist": {
    shows: "the runtime asks for one address of each family by the `ips` capability",
    offer: { capabilities: { ips: ["10.27.0.50", "fd00:10:27::50"] } },
    keeps(t, network) {
      t.same(network.add("pod-1").ips, [
        { address: "10.27.0.50/24", gateway: "10.27.0.1" },
        { address: "fd00:10:27::50/64", gateway: "fd00:10:27::1" },
      ]);
      t.match(network.refusalOf("pod-2").msg, "requested IP address 10.27.0.50 is not available");
    },
  },

  "requested-by-args.conflist": {
    shows: "the configuration itself asks for an address by `args.cni.ips`",
    keeps(t, network) {
      t.same(network.add("pod-1").ips, [{ address: "10.28.0.50/24", gateway: "10.28.0.1" }]);
      t.match(network.refusalOf("pod-2").msg, "requested IP address 10.28.0.50 is not available");
    },
  },

  "requested-by-cni-args.conflist": {
    shows: "the runtime asks for an address by `IP=` in CNI_ARGS",
    offer: { cniArgs: "IgnoreUnknown=1;K8S_POD_NAME=web-0;IP=10.29.0.50" },
    keeps(t, network) {
      t.same(network.add("pod-1").ips, [{ address: "10.29.0.50/24", gateway: "10.29.0.1" }]);
      t.match(network.refusalOf("pod-2").msg, "requested IP address 10.29.0.50 is not available");
    },
  },

  "kubenet-30.conf": {
    shows: "a /30 holds one pod, and the second is refused until the first is gone",
    keeps(t, network) {
      t.same(network.add("pod-1"), {
        cniVersion: "0.1.0",
        ip4: {
          ip: "10.255.1.2/30",
          gateway: "10.255.1.1",
          routes: [{ dst: "0.0.0.0/0" }],
        },
        dns: {},
      });
      t.match(
        network.refusalOf("pod-2").msg,
        "no IP addresses available in range set: 10.255.1.1-10.255.1.2",
      );

      network.del("pod-1");

      t.equal(network.add("pod-2").ip4?.ip, "10.255.1.2/30");
    },
  },

  "kubenet-29.conf": {
    shows: "a /29 holds five pods, and the sixth is refused",
    keeps(t, network) {
      const pods = [1, 2, 3, 4, 5].map((number) => network.add(`pod-${number}`));
      t.same(
        pods.map(({ ip4 }) => ip4?.ip),
        ["10.255.0.2/29", "10.255.0.3/29", "10.255.0.4/29", "10.255.0.5/29", "10.255.0.6/29"],
      );
      t.match(network.refusalOf("pod-6").msg, "no IP addresses available in range set");
    },
  },

  "flannel-delegate.conf": {
    shows: "what flannel passes to bridge: the node's subnet, and a route to the cluster",
    keeps(t, network) {
      t.same(network.add("pod-1"), {
        cniVersion: "0.3.1",
        ips: [{ version: "4", address: "10.244.1.2/24", gateway: "10.244.1.1" }],
        routes: [{ dst: "10.244.0.0/16" }],
        dns: {},
      });
    },
  },

  "containerd.conflist.template": {
    shows: "containerd fills in every podCIDR of the node as a set of its own",
    keeps(t, network) {
      t.same(network.add("pod-1"), {
        cniVersion: "1.0.0",
        ips: [
          { address: "10.244.3.2/24", gateway: "10.244.3.1" },
          { address: "fd00:10:244:3::2/64", gateway: "fd00:10:244:3::1" },
        ],
        routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }],
      });
    },
  },

  "gc-only-chain.conflist": {
    shows: "the chained host-local leaves pods alone, and does what bridge does not: GC and STATUS",
    keeps(t, network) {
      const result = network.add("pod-1");
      network.add("pod-2");

      t.same(network.chained("ADD", "pod-3", result), result, "ADD hands the result on");
      network.chained("CHECK", "pod-1", result);
      network.chained("DEL", "pod-1", result);
      t.same(network.reservations(), ["10.30.0.2", "10.30.0.3"], "nothing was reserved or freed");

      network.gc(["pod-1"]);
      t.same(network.reservations(), ["10.30.0.2"], "GC frees what is not listed");

      network.status();
      for (const pod of ["pod-4", "pod-5", "pod-6", "pod-7"]) network.add(pod);
      network.status();
    },
  },

  "exclude.conflist": {
    shows: "excluded addresses and CIDRs are never handed out",
    keeps(t, network) {
      const pods = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => network.add(`pod-${number}`));
      t.same(
        pods.map(({ ips }) => ips?.[0]?.address.replace("/28", "")),
        [3, 8, 9, 10, 11, 12, 13, 14].map((host) => `10.31.0.${host}`),
      );
      t.match(network.refusalOf("pod-9").msg, "no IP addresses available in range set");
    },
  },

  "reserved.conflist": {
    shows: "a pod gets what is reserved for it",
    offer: { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=db-0" },
    keeps(t, network) {
      t.same(
        network.add("pod-1").ips?.map(({ address }) => address),
        ["10.46.0.2/29", "fd00:10:46::10/64"],
      );
    },
  },

  "resolv-conf.conflist": {
    shows: "the node's resolv.conf becomes the pod's DNS settings",
    keeps(t, network) {
      t.same(network.add("pod-1").dns, {
        nameservers: ["192.0.2.53", "2001:db8::53"],
        search: ["cluster.example", "example"],
        options: ["ndots:5"],
      });
    },
  },

  "static.conflist": {
    shows: "a pod gets the addresses, routes and DNS settings of the configuration",
    keeps(t, network) {
      t.same(network.add("pod-1"), {
        cniVersion: "1.0.0",
        dns: { nameservers: ["192.0.2.53"], search: ["example"] },
        ips: [
          { address: "10.61.0.10/24", gateway: "10.61.0.1" },
          { address: "fd00:10:61::10/64", gateway: "fd00:10:61::1" },
        ],
        routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }],
      });
      t.same(network.reservations(), [], "nothing is reserved");
    },
  },

  "status-and-lock.conflist": {
    shows: "STATUS reports a full range where the configuration asks for it",
    keeps(t, network) {
      network.status();
      network.add("pod-1");

      t.equal(network.statusRefusal().code, 50);
    },
  },
};

test("every network configuration in conf-examples has a case here", async (t) => {
  t.same(exampleFiles, Object.keys(examples).sort());
});

test("every file in conf-examples has a row in its README", async (t) => {
  const rows = [...readExample("README.md").matchAll(/^\| \[`(.+?)`\]\(\1\) \|/gm)].map(
    ([, file]) => file,
  );
  t.same(rows.toSorted(), allFiles);
});

test("no two examples share a name or a subnet, so that all of them can be tried on one node", async (t) => {
  const names = exampleFiles.map((file) => loadExample(file).name);
  t.equal(new Set(names).size, exampleFiles.length);

  const node = nodeFor(t);
  for (const [at, file] of exampleFiles.entries()) {
    const text = JSON.stringify(loadExample(file));
    const here = text
      .replace("/etc/cni/ranges.json", inRepository("conf-examples/node/ranges.json"))
      .replace("/run/flannel/subnet.env", inRepository("conf-examples/node/subnet.env"));
    node.configure(`${at}.conflist`, here);
  }
  t.same(JSON.parse(node.tool(["check", "--json"]).stdout).findings, []);
});

for (const [file, example] of Object.entries(examples)) {
  test(`${file}: ${example.shows}`, async (t) => {
    example.keeps(t, new ExampleNetwork(t, file, example.offer));
  });

  test(`${file}: a pod lives and dies and leaves nothing`, async (t) => {
    const network = new ExampleNetwork(t, file, example.offer);
    network.add("pod-1");
    network.check("pod-1");
    network.del("pod-1");
    network.del("pod-1");
    t.same(network.reservations(), []);
  });
}

for (const file of exampleFiles.filter((name) =>
  isAtLeast(loadExample(name).cniVersion, "1.1.0"),
)) {
  test(`${file}: GC frees what the runtime no longer knows, and STATUS succeeds`, async (t) => {
    const network = new ExampleNetwork(t, file, examples[file]?.offer);
    network.add("pod-1");
    network.gc([]);
    network.status();
    t.same(network.reservations(), []);
  });
}

test("containerd.conflist.template: an IPv4 node gets one set and one route", async (t) => {
  const template = readExample("containerd.conflist.template");
  const rendered = readNetwork(renderContainerdTemplate(template, ["10.244.3.0/24"]));
  t.match(rendered.plugins[0]?.ipam, {
    ranges: [[{ subnet: "10.244.3.0/24" }]],
    routes: [{ dst: "0.0.0.0/0" }],
  });
});
