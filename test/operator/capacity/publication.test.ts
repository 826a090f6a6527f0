/** capacity: the document, and how the number of pods gets to kubelet and the scheduler. */

import { test } from "tap";
import { capacity } from "../../../src/operator/capacity/capacity.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { contextOf, memoryNode, places, startOperator } from "../memory-node.ts";

/** A node with the network `net`, and a directory that nothing configures, which does not get in the way. */
function nodeWith(ipam: object): MemoryMachine {
  const machine = memoryNode({});
  configure(machine, "net", ipam);
  machine.disk.put("/data/stray/10.9.0.2", "c1\r\neth0");
  return machine;
}

function configure({ disk }: MemoryMachine, name: string, ipam: object, rest: object = {}): void {
  const plugin = { type: "bridge", ...rest, ipam: { type: "host-local", ...ipam } };
  disk.put(`/conf/${name}.conf`, JSON.stringify({ cniVersion: "1.0.0", name, ...plugin }));
}

/** What `capacity` reports with these options. */
function reportOf(
  machine: MemoryMachine,
  options: Readonly<Record<string, string>> = {},
  ...operands: readonly string[]
): ReturnType<typeof capacity.run> {
  const { system } = startOperator(machine);
  return capacity.run(contextOf(system, { ...places, ...options }, operands));
}

test("the document has the numbers, of any size", async (t) => {
  const machine = memoryNode({ "fd00::10": "c1\r\neth0" });
  configure(machine, "net", { subnet: "fd00::/64", rangeStart: "fd00::10" });
  const size = 2n ** 64n - 16n;
  const counts = { capacity: size, used: 1n, free: size - 1n };

  t.strictSame(reportOf(machine).document(), {
    networks: [
      {
        network: "net",
        configuration: "/conf/net.conf",
        directory: "/data/net",
        reservations: 1,
        pods: size,
        failure: null,
        reclaimable: 0,
        ranges: [
          {
            set: 0,
            first: "fd00::10",
            last: "fd00::ffff:ffff:ffff:ffff",
            subnet: "fd00::/64",
            gateway: "fd00::1",
            ...counts,
          },
        ],
      },
    ],
  });
  const maxPods = reportOf(machine, { "--max-pods": "" }).text();
  t.equal(maxPods, "2147483647\n", "kubelet accepts no more");
});

test("--max-pods is only the number, with the pods with hostNetwork, which kubelet counts, too", async (t) => {
  const machine = nodeWith({ ranges: [[{ subnet: "10.0.0.0/24" }], [{ subnet: "10.1.0.0/28" }]] });
  for (const [given, maxPods, hostNetworkPods] of [
    [{}, 13n, 0n],
    [{ "--host-network-pods": "0" }, 13n, 0n],
    [{ "--host-network-pods": "3" }, 16n, 3n],
  ] as const) {
    const report = reportOf(machine, { "--max-pods": "", ...given });
    t.equal(report.text(), `${maxPods}\n`);
    t.strictSame(report.document(), { maxPods, addresses: 13n, hostNetworkPods });
  }
  for (const count of ["", "-1", "three", "1.5"]) {
    const options = { "--max-pods": "", "--host-network-pods": count };
    t.throws(() => reportOf(machine, options), { message: /^--host-network-pods: expected / });
  }
});

test("what is reserved, for a pod or for nobody, is no capacity", async (t) => {
  const machine = nodeWith({ subnet: "10.1.2.0/29", reserved: { "10.1.2.0/29": null } });
  configure(machine, "some", { subnet: "10.1.3.0/29", reserved: { "10.1.3.3": "default/db-0" } });
  for (const [name, pods] of [
    ["net", "0"],
    ["some", "4"],
  ] as const) {
    t.equal(reportOf(machine, { "--max-pods": "" }, name).text(), `${pods}\n`);
    t.match(reportOf(machine, { "--node-patch": "" }, name).document(), [{ value: pods }]);
  }
  t.match(
    reportOf(machine).text(),
    /\nnet +0 +10\.1\.2\.0\/29 +0 +0 +0 +-\nsome +0 +\S+ +4 +0 +4 +0\.0%\n.*net holds 0 pods\.\n/s,
  );
});

test("the number of several networks, or of several configurations, is none", async (t) => {
  const machine = nodeWith({ subnet: "10.0.0.0/24" });
  configure(machine, "two", { subnet: "10.1.0.0/24" });
  configure(machine, "runtime", {}, { capabilities: { ipRanges: true } });
  const ipam = { type: "host-local", subnet: "10.2.0.0/24" };
  const delegates = [{ name: "two", type: "bridge", ipam }];
  const multus = { name: "multus", type: "multus", delegates };
  machine.disk.put("/conf/zwei.conf", JSON.stringify(multus));
  for (const [operands, problem] of [
    [
      [],
      "several configurations: net (/conf/net.conf), two (/conf/two.conf), two (/conf/zwei.conf); choose a network with host-local capacity NETWORK",
    ],
    [["two"], "several configurations: two (/conf/two.conf), two (/conf/zwei.conf); choose"],
    [
      ["runtime"],
      "no configuration has ranges for runtime; with containerd's conf_template there is none before the node's first podCIDR: see --pods in host-local plan --help",
    ],
  ] as const) {
    t.throws(() => reportOf(machine, { "--max-pods": "" }, ...operands), {
      message: `capacity: ${problem}`,
    });
  }
});

test("--node-patch is a JSON patch for the node's status", async (t) => {
  const machine = nodeWith({ subnet: "10.0.0.0/24" });
  t.equal(
    reportOf(machine, { "--node-patch": "" }).text(),
    '[{"op":"add","path":"/status/capacity/example.com~1pod-ips","value":"253"}]\n',
  );
  const own = { "--node-patch": "", "--resource": "net.x.org/IPs_v4" };
  t.match(reportOf(machine, own).document(), [{ path: "/status/capacity/net.x.org~1IPs_v4" }]);
});

test("names that no extended resource can have are refused", async (t) => {
  const machine = nodeWith({ subnet: "10.0.0.0/24" });
  for (const name of [
    ...["ips", "Example.com/ips", "example.com/", "example.com/a/b", "example.com/-a"],
    ...["kubernetes.io/ips", "x.kubernetes.io/ips"],
  ]) {
    const options = { "--node-patch": "", "--resource": name };
    t.throws(() => reportOf(machine, options), { message: `found ${name}` }, name);
  }
});

test("--node-feature writes a feature that is not a label and expires, after an hour by default", async (t) => {
  const machine = nodeWith({ subnet: "10.0.0.0/24" });
  machine.disk.makeDirectories("/features");
  const options = { "--node-feature": "/features" };

  t.equal(reportOf(machine, options).text(), "", "nothing to say, as for a timer");
  t.same(machine.disk.filesUnder("/features"), {
    "host-local.net":
      "# Written by host-local.\n# +expiry-time=2026-01-31T13:00:00.000Z\n# +no-label\nexample.com/pod-ips=253\n",
  });

  reportOf(machine, { ...options, "--resource": "example.org/v4", "--expires-after": "2m" });
  t.same(machine.disk.filesUnder("/features"), {
    "host-local.net":
      "# Written by host-local.\n# +expiry-time=2026-01-31T12:02:00.000Z\n# +no-label\nexample.org/v4=253\n",
  });

  // node-feature-discovery would not read it.
  t.throws(() => reportOf(machine, { "--node-feature": "/none" }), {
    message: "--node-feature: /none: no such file or directory",
  });
});
