// test: native executable
/** Every file in conf-examples/ does what its row in README.md says, in memory; e2e/cnitool.test.ts runs the commands there. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { renderContainerdTemplate } from "./e2e/containerd-template.ts";
import { allFiles, exampleFiles, loadExample, readExample } from "./e2e/example.ts";
import { ExampleNetwork, type Offer } from "./e2e/example-network.ts";
import { isAtLeast, type Result, readNetwork } from "./e2e/libcni.ts";
import { inRepository } from "./harness/repository.ts";
import { nodeFor } from "./operator/node.ts";

interface Example {
  /** What a runtime adds to it. */
  readonly offer?: Offer;
  /** What the first pods get, one after the other, as {@link textOf} has it. */
  readonly pods: readonly string[];
  /** The error of the pod after these. */
  readonly refused?: string;
  /** Asserts what else is special to this file, beyond the life of a pod. */
  readonly keeps?: (t: Test, network: ExampleNetwork, results: readonly Result[]) => void;
}

/** The addresses with their gateways, and the routes. */
function textOf({ ips = [], ip4, routes = ip4?.routes ?? [] }: Result): string {
  const addresses = ip4 === undefined ? ips : [{ address: ip4.ip, gateway: ip4.gateway }];
  const via = (gateway: string | undefined) => (gateway === undefined ? "" : ` via ${gateway}`);
  return [
    ...addresses.map(({ address, gateway }) => `${address}${via(gateway)}`),
    ...routes.map(({ dst, gw }) => `to ${dst}${via(gw)}`),
  ].join(", ");
}

const FULL = "no IP addresses available in range set";

const web = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0";

const examples: Readonly<Record<string, Example>> = {
  "bridge.conflist": { pods: ["10.22.0.2/24 via 10.22.0.1, to 0.0.0.0/0"] },
  "bridge-with-ports.conflist": { pods: ["10.45.0.2/24 via 10.45.0.1, to 0.0.0.0/0"] },
  "dual-stack.conflist": {
    pods: ["10.23.0.2/24 via 10.23.0.1, fd00:10:23::2/64 via fd00:10:23::1, to 0.0.0.0/0, to ::/0"],
  },
  "ranges-in-one-set.conflist": {
    pods: [
      "10.24.0.10/24 via 10.24.0.1, to 0.0.0.0/0",
      "10.24.0.11/24 via 10.24.0.1, to 0.0.0.0/0",
      "10.24.1.2/24 via 10.24.1.1, to 0.0.0.0/0",
    ],
  },
  "ranges-in-several-sets.conflist": {
    pods: [
      "10.25.0.2/24 via 10.25.0.1, 10.25.1.1/24 via 10.25.1.254, fd00:10:25::100/64 via fd00:10:25::1, to 0.0.0.0/0 via 10.25.0.1, to ::/0",
    ],
  },
  "ranges-by-runtime-config.conflist": {
    offer: { capabilities: { ipRanges: [[{ subnet: "10.34.0.0/24" }]] } },
    pods: ["10.34.0.2/24 via 10.34.0.1, to 0.0.0.0/0"],
    keeps(t, network) {
      network.del("pod-1", { runtimeConfig: undefined });
      t.same(network.reservations(), []);
    },
  },
  "ranges-file.conflist": { pods: ["192.168.2.20/24 via 192.168.2.1, to 0.0.0.0/0"] },
  "partition.conflist": { pods: ["10.42.0.112/20 via 10.42.0.1"] },
  "small-subnet.conflist": {
    pods: ["10.37.0.1/31 via 10.37.0.0, to 0.0.0.0/0"],
    refused: FULL,
  },
  "no-gateway.conflist": { pods: ["10.43.0.1/24"] },
  "repeated-add.conflist": {
    pods: ["10.35.0.2/24 via 10.35.0.1"],
    keeps(t, network, [first]) {
      t.same(network.add("pod-1"), first);
    },
  },
  "history.conflist": {
    offer: { cniArgs: web },
    pods: ["10.36.0.2/24 via 10.36.0.1"],
    keeps(t, network) {
      network.del("pod-1");
      const pod = /^\S+Z ADD 10\.36\.0\.2 pod-1 eth0 default\/web-0\n\S+Z DEL .* default\/web-0\n$/;
      t.match(network.history(), pod);
    },
  },
  // What a boot changes is tested elsewhere.
  "reclaim-never.conflist": { pods: ["10.39.0.2/24 via 10.39.0.1"] },
  "reuse-delay.conflist": {
    pods: ["10.40.0.2/24 via 10.40.0.1"],
    keeps(t, network) {
      network.del("pod-1");
      t.match(textOf(network.add("pod-2")), /^10\.40\.0\.3\//);
    },
  },
  "sticky.conflist": {
    offer: { cniArgs: web },
    pods: ["10.41.0.2/24 via 10.41.0.1"],
    keeps(t, network, [first]) {
      network.del("pod-1");
      t.same(network.add("pod-1"), first);
    },
  },
  "sticky-by.conflist": {
    offer: { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=any;VM=db" },
    pods: ["10.44.0.2/24 via 10.44.0.1"],
    keeps(t, network, [first]) {
      network.del("pod-1");
      t.same(network.add("launcher-b2"), first);
    },
  },
  "pod-annotations.conflist": {
    offer: {
      cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=any",
      capabilities: {
        "io.kubernetes.cri.pod-annotations": {
          "example.com/ip": "10.47.0.50",
          "kubevirt.io/domain": "db",
        },
      },
    },
    pods: ["10.47.0.50/24 via 10.47.0.1"],
    refused: "requested IP address 10.47.0.50 is not available",
  },
  "ptp.conflist": { pods: ["10.26.0.2/24 via 10.26.0.1, to 0.0.0.0/0"] },
  "macvlan.conflist": { pods: ["192.168.1.200/24 via 192.168.1.1, to 0.0.0.0/0"] },
  "requested-by-runtime-config.conflist": {
    offer: { capabilities: { ips: ["10.27.0.50", "fd00:10:27::50"] } },
    pods: ["10.27.0.50/24 via 10.27.0.1, fd00:10:27::50/64 via fd00:10:27::1"],
    refused: "requested IP address 10.27.0.50 is not available",
  },
  "requested-by-args.conflist": {
    pods: ["10.28.0.50/24 via 10.28.0.1"],
    refused: "requested IP address 10.28.0.50 is not available",
  },
  "requested-by-cni-args.conflist": {
    offer: { cniArgs: "IgnoreUnknown=1;K8S_POD_NAME=web-0;IP=10.29.0.50" },
    pods: ["10.29.0.50/24 via 10.29.0.1"],
    refused: "requested IP address 10.29.0.50 is not available",
  },
  "kubenet-30.conf": {
    pods: ["10.255.1.2/30 via 10.255.1.1, to 0.0.0.0/0"],
    refused: `${FULL}: 10.255.1.1-10.255.1.2`,
  },
  "kubenet-29.conf": {
    pods: [2, 3, 4, 5, 6].map((last) => `10.255.0.${last}/29 via 10.255.0.1, to 0.0.0.0/0`),
    refused: FULL,
  },
  "flannel-delegate.conf": { pods: ["10.244.1.2/24 via 10.244.1.1, to 10.244.0.0/16"] },
  "containerd.conflist.template": {
    pods: [
      "10.244.3.2/24 via 10.244.3.1, fd00:10:244:3::2/64 via fd00:10:244:3::1, to 0.0.0.0/0, to ::/0",
    ],
  },
  "gc-only-chain.conflist": {
    pods: [2, 3].map((last) => `10.30.0.${last}/29 via 10.30.0.1, to 0.0.0.0/0`),
    keeps(t, network, [first]) {
      const result = first ?? { cniVersion: "" };
      t.same(network.chained("ADD", "pod-3", result), result, "ADD hands the result on");
      network.chained("CHECK", "pod-1", result);
      network.chained("DEL", "pod-1", result);
      t.same(network.reservations(), ["10.30.0.2", "10.30.0.3"], "nothing was reserved or freed");

      network.gc(["pod-1"]);
      t.same(network.reservations(), ["10.30.0.2"], "GC frees what is not listed");

      for (const pod of ["pod-4", "pod-5", "pod-6", "pod-7"]) network.add(pod);
      network.status();
    },
  },
  "exclude.conflist": {
    pods: [3, 8, 9, 10, 11, 12, 13, 14].map(
      (last) => `10.31.0.${last}/28 via 10.31.0.1, to 0.0.0.0/0`,
    ),
    refused: FULL,
  },
  "reserved.conflist": {
    offer: { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=db-0" },
    pods: ["10.46.0.2/29 via 10.46.0.1, fd00:10:46::10/64 via fd00:10:46::1"],
  },
  "resolv-conf.conflist": {
    pods: ["10.32.0.2/24 via 10.32.0.1"],
    keeps(t, _, [first]) {
      t.same(first?.dns, {
        nameservers: ["192.0.2.53", "2001:db8::53"],
        search: ["cluster.example", "example"],
        options: ["ndots:5"],
      });
    },
  },
  "static.conflist": {
    pods: [
      "10.61.0.10/24 via 10.61.0.1, fd00:10:61::10/64 via fd00:10:61::1, to 0.0.0.0/0, to ::/0",
    ],
    keeps(t, network, [first]) {
      t.same(first?.dns, { nameservers: ["192.0.2.53"], search: ["example"] });
      t.same(network.reservations(), [], "nothing is reserved");
    },
  },
  "status-and-lock.conflist": {
    pods: ["10.33.0.2/30 via 10.33.0.1"],
    keeps(t, network) {
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

/**
 * With no bridge and no address that this machine may have, at which `check` looks; they differ where those of the examples
 * do.
 */
function elsewhere(text: string): string {
  return text
    .replace(/"bridge":"/g, '"bridge":"no-')
    .replace(/\b10\.(?=\d+\.\d+\.\d)/g, "240.")
    .replaceAll("192.168.", "241.168.")
    .replaceAll("fd00:10:", "2001:db8:f");
}

test("no two examples share a name or a subnet, so that all of them can be tried on one node", async (t) => {
  const names = exampleFiles.map((file) => loadExample(file).name);
  t.equal(new Set(names).size, exampleFiles.length);

  const node = nodeFor(t);
  const ranges = join(node.root, "ranges.json");
  writeFileSync(ranges, elsewhere(readExample("node/ranges.json")));
  for (const [at, file] of exampleFiles.entries()) {
    const here = elsewhere(JSON.stringify(loadExample(file)))
      .replace("/etc/cni/ranges.json", ranges)
      .replace("/run/flannel/subnet.env", inRepository("conf-examples/node/subnet.env"));
    node.configure(`${at}.conflist`, here);
  }
  // Of many files a runtime uses the first.
  const findings: readonly { code: string }[] = JSON.parse(
    node.tool(["check", "--json"]).stdout,
  ).findings;
  t.same(
    findings.filter(({ code }) => code !== "shadowed-configuration"),
    [],
  );
});

for (const [file, { offer, pods, refused, keeps }] of Object.entries(examples)) {
  test(`${file} does what its row in README.md says`, async (t) => {
    const network = new ExampleNetwork(file, offer);
    const results = pods.map((_, at) => network.add(`pod-${at + 1}`));
    t.strictSame(results.map(textOf), pods);
    if (refused !== undefined) t.match(network.refusalOf("next").msg, refused);
    keeps?.(t, network, results);
  });

  test(`${file}: a pod lives and dies and leaves nothing`, async (t) => {
    const network = new ExampleNetwork(file, offer);
    network.add("pod-1");
    network.check("pod-1");
    network.del("pod-1");
    network.del("pod-1");
    t.same(network.reservations(), []);
    if (isAtLeast(loadExample(file).cniVersion, "1.1.0")) network.status();
  });

  if (!isAtLeast(loadExample(file).cniVersion, "1.1.0")) continue;
  test(`${file}: GC frees what the runtime no longer knows`, async (t) => {
    const network = new ExampleNetwork(file, offer);
    network.add("pod-1");
    network.gc([]);
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
