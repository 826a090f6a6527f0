/** What check says of the addresses of a bridge; with the plugin `bridge` itself in test/e2e/stale-bridge.test.ts. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { capacity } from "../../../src/operator/capacity/capacity.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import { SystemError } from "../../../src/system/system.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import {
  configure,
  findingsOn,
  type MemoryRun,
  memoryNode,
  remember,
  runOn,
} from "../memory-node.ts";

const bridged = { type: "bridge", bridge: "cni0", isGateway: true };

/** Configures a network with the bridge there. */
function configureBridged(
  machine: MemoryMachine,
  name: string,
  ipam: JsonObject,
  plugin: JsonObject = {},
): void {
  const document = {
    ...{ cniVersion: "1.0.0", name, ...bridged, ...plugin },
    ipam: { type: "host-local", dataDir: "/data", ...ipam },
  };
  configure(machine, `${name}.conf`, document);
}

/** The findings on bridges where `cni0` has these addresses, in this order. */
function findingsWith(machine: MemoryMachine, addresses: readonly string[], run: MemoryRun = {}) {
  const interfaces = ["lo", "cni0", ...addresses.map((address) => `cni0 ${address}`)];
  const listInterfaces = () => interfaces;
  machine.disk.makeDirectories("/sys/class/net/cni0/bridge");
  machine.disk.makeDirectories("/sys/class/net/cni0/brif");
  return findingsOn(machine, { ...run, listInterfaces }).filter(({ code }) =>
    code.startsWith("bridge-"),
  );
}

const unknownPod = "1 pod, of which it is not known whether they live: c1 (10.1.2.2)";

/** The addresses of a bridge of 10.1.2.0/28 with one pod, and what is found and printed of it. */
const cases: Readonly<
  Record<
    string,
    readonly [addresses: readonly string[], message?: string, commands?: readonly string[]]
  >
> = {
  "the gateway's address": [["10.1.2.1/28", "fe80::1/64"]],
  "another address behind the gateway's": [["10.1.2.1/28", "10.1.2.14/28"]],
  "another address": [
    ["10.99.0.1/24"],
    "cni0 has 10.99.0.1/24; expected the gateway 10.1.2.1/28",
    ["ip addr del 10.99.0.1/24 dev cni0"],
  ],
  "another address before the gateway's": [
    ["10.99.0.1/24", "10.1.2.1/28"],
    "cni0 has 10.99.0.1/24 before the gateway 10.1.2.1/28, and the bridge plugin looks at the first",
    ["ip addr del 10.99.0.1/24 dev cni0", "ip addr replace 10.1.2.1/28 dev cni0"],
  ],
  "the gateway with another prefix length, which its pods keep": [
    ["10.1.2.1/16"],
    "cni0 has 10.1.2.1/16; expected the gateway 10.1.2.1/28",
    ["ip addr add 10.1.2.1/28 dev cni0 && ip addr del 10.1.2.1/16 dev cni0"],
  ],
  "the gateway with another prefix length first": [
    ["10.1.2.1/29", "10.1.2.1/28"],
    "cni0 has 10.1.2.1/29 before the gateway 10.1.2.1/28, and the bridge plugin looks at the first",
    ["ip addr del 10.1.2.1/29 dev cni0", "ip addr replace 10.1.2.1/28 dev cni0"],
  ],
  "the gateway with another prefix length, before one that goes with it": [
    ["10.1.2.1/29", "10.1.2.6/29"],
    "cni0 has 10.1.2.1/29; expected the gateway 10.1.2.1/28",
    [
      "ip addr add 10.1.2.1/28 dev cni0 && ip addr del 10.1.2.1/29 dev cni0",
      "ip addr replace 10.1.2.6/29 dev cni0",
    ],
  ],
};

for (const [name, [addresses, message, commands]] of Object.entries(cases)) {
  test(`a bridge with ${name}`, async (t) => {
    const machine = memoryNode({ "10.1.2.2": "c1\r\neth0" });
    configureBridged(machine, "net", { subnet: "10.1.2.0/28" });
    const findings = findingsWith(machine, addresses);
    t.equal(findings.length, message === undefined ? 0 : 1);
    if (message === undefined) return;
    t.match(findings, [{ code: "bridge-address", message }]);
    t.same(findings[0]?.commands, commands);
  });
}

for (const [what, reservations, networks, address, remedy, message] of [
  [
    "a subnet that was made smaller keeps the pods outside of it from their gateway",
    { "10.1.2.9": "c1\r\neth0" },
    { net: "10.1.2.0/29" },
    "10.1.2.1/28",
    /^correct the configuration/,
    "cni0 has 10.1.2.1/28; expected the gateway 10.1.2.1/29; 10.1.2.1 may be the gateway of 1 pod, of which it is not known whether they live: c1 (10.1.2.9)",
  ],
  [
    "the gateway of another network on the same bridge is not removed",
    {},
    { net: "10.1.2.0/28", other: "10.7.0.0/24" },
    "10.7.0.1/24",
    /^give each network a bridge of its own/,
    "cni0 has 10.7.0.1/24; expected the gateway 10.1.2.1/28; the other one is the gateway of other",
  ],
] as const) {
  test(`without a command: ${what}`, async (t) => {
    const machine = memoryNode(reservations);
    configure(machine, "00-first.conf", { name: "first", type: "cilium-cni" });
    for (const [name, subnet] of Object.entries(networks))
      configureBridged(machine, name, { subnet });

    const found = findingsWith(machine, [address]);
    t.same(found[0]?.commands, []);
    t.match(found, [{ code: "bridge-address", network: "net", remedy, message }]);
  });
}

const FIRST = { subnet: "10.1.2.0/28" };
const SECOND = { subnet: "10.7.0.0/24" };
const SIX = { subnet: "fd00::/64" };
/** What a network has, with which addresses of `cni0`, and why no ADD from a range of it works. */
for (const [what, ipam, plugin, addresses, ...messages] of [
  ["one range", { ranges: [[FIRST]] }, {}, ["10.1.2.1/28"]],
  [
    "two ranges of one subnet",
    {
      ranges: [
        [
          { ...FIRST, rangeEnd: "10.1.2.6" },
          { ...FIRST, rangeStart: "10.1.2.9", gateway: "10.1.2.1" },
        ],
      ],
    },
    {},
    ["10.1.2.1/28"],
  ],
  ["a range of each family", { ranges: [[FIRST], [SIX]] }, {}, ["10.1.2.1/28", "fd00::1/64"]],
  ["a set of two IPv6 subnets", { ranges: [[SIX, { subnet: "fd01::/64" }]] }, {}, ["fd00::1/64"]],
  ["two subnets, without a gateway", { ranges: [[FIRST, SECOND]] }, { isGateway: false }, []],
  [
    "a second subnet in its set",
    { ranges: [[FIRST, SECOND]] },
    {},
    ["10.1.2.1/28"],
    "no ADD with an address of 10.7.0.1-10.7.0.254 works: the bridge plugin gives cni0 one IPv4 gateway, 10.1.2.1/28, and this range needs 10.7.0.1/24",
  ],
  [
    "a second subnet in its set, whose gateway is there",
    { ranges: [[FIRST, SECOND]] },
    {},
    ["10.7.0.1/24"],
    "no ADD with an address of 10.1.2.1-10.1.2.14 works: the bridge plugin gives cni0 one IPv4 gateway, 10.7.0.1/24, and this range needs 10.1.2.1/28",
  ],
  [
    "a second IPv4 set",
    { ranges: [[FIRST], [SECOND]] },
    {},
    [],
    "no ADD works, since a pod also gets an address of 10.7.0.1-10.7.0.254: the bridge plugin gives cni0 one IPv4 gateway, 10.1.2.1/28, and this range needs 10.7.0.1/24",
  ],
  [
    "a second subnet with forceAddress",
    { ranges: [[FIRST, SECOND]] },
    { forceAddress: true },
    ["10.1.2.1/28"],
    "an ADD with an address of 10.7.0.1-10.7.0.254 takes 10.1.2.1/28 from cni0, the gateway of other pods: with forceAddress the bridge plugin gives it 10.7.0.1/24 in its place",
  ],
  // What the kernel makes of gateways and routes, only the kernel knows.
  ["a gateway outside", { ...FIRST, gateway: "10.7.0.1" }, {}, ["10.7.0.1/28"]],
  ["a link-local gateway", { ...SIX, gateway: "fe80::1" }, {}, ["fe80::1/64"]],
] as const) {
  test(`a network with ${what}: ${messages.length === 0 ? "nothing" : "found"}`, async (t) => {
    const machine = memoryNode({});
    configureBridged(machine, "net", ipam as unknown as JsonObject, plugin);
    const listInterfaces = () => ["cni0", ...addresses.map((address) => `cni0 ${address}`)];
    const found = findingsOn(machine, { listInterfaces });
    t.same(
      found.map(({ code, message }) => [code, message]),
      messages.map((message) => ["unusable-range", message]),
    );
    for (const { severity } of found) t.equal(severity, "error");
    const { logged } = runOn(machine, capacity, { listInterfaces });
    t.equal(logged, messages.map((message) => `/conf/net.conf: ${message}`).join("\n"));
    const count = () => runOn(machine, capacity, { listInterfaces, options: { "--max-pods": "" } });
    const refusal = messages.find((message) => message.startsWith("no ADD "));
    if (refusal === undefined) t.doesNotThrow(count);
    else t.throws(count, { message: `capacity: /conf/net.conf: ${refusal}` });
  });
}

test("a bridge with a gateway of the other family does not lack it", async (t) => {
  const machine = memoryNode({ "10.1.2.2": "c1\r\neth0" });
  configureBridged(machine, "net", { subnet: "10.1.2.0/28", gateway: "fd00::1" });
  t.same(findingsWith(machine, ["fd00::1/28"]), []);
});

test("a bridge without an address, while it is not known whether its pods live, is a warning", async (t) => {
  const machine = memoryNode({ "10.1.2.2": "c1\r\neth0" });
  configureBridged(machine, "net", { subnet: "10.1.2.0/28" });
  t.match(findingsWith(machine, ["fe80::1/64"]), [
    {
      code: "bridge-without-address",
      severity: "warning",
      message: `cni0 lacks 10.1.2.1/28, the gateway of ${unknownPod}`,
      commands: ["ip addr add 10.1.2.1/28 dev cni0"],
    },
  ]);
});

test("an address that is the gateway of no pod, by libcni's cache, is removed", async (t) => {
  const machine = memoryNode({ "10.1.2.2": "c1\r\neth0" });
  configureBridged(machine, "net", { subnet: "10.1.2.0/28" });
  const findings = (gateway: string) => {
    remember(machine, "c1", { addresses: ["10.1.2.2/28"], gateway });
    return findingsWith(machine, ["10.1.2.14/28"]);
  };

  t.match(findings("10.1.2.1"), [{ commands: ["ip addr del 10.1.2.14/28 dev cni0"] }]);
  const own = findings("10.1.2.14");
  t.match(own, [{ remedy: /^correct the configuration/ }]);
  t.same(own[0]?.commands, []);
});

for (const [what, ipam, plugin, address] of [
  ["is not there yet", { subnet: "10.1.2.0/28" }, { bridge: "none0" }, "10.99.0.1/24"],
  ["has no gateway", { subnet: "10.1.2.0/28" }, { isGateway: false }, "10.99.0.1/24"],
  ["has forceAddress", { subnet: "10.1.2.0/28" }, { forceAddress: true }, "10.99.0.1/24"],
  ["has the gateway of a /31", { subnet: "10.1.2.0/31", gateway: "10.1.2.0" }, {}, "10.1.2.0/31"],
  ["has no gateway of a /31", { subnet: "10.1.2.0/31" }, { isGateway: false }, "10.99.0.1/24"],
] as const) {
  test(`a bridge that ${what} is fine`, async (t) => {
    const machine = memoryNode({});
    configureBridged(machine, "net", ipam, plugin);
    t.same(findingsWith(machine, [address]), []);
  });
}

test("of IPv6, only an old address of the subnet is in the way", async (t) => {
  const machine = memoryNode({});
  configureBridged(machine, "net", { subnet: "fd00::/64" });
  t.match(findingsWith(machine, ["fd01::1/64", "fd00::ff/64"]), [
    { code: "bridge-address", commands: ["ip addr del fd00::ff/64 dev cni0"] },
  ]);
  t.same(findingsWith(machine, ["fd01::1/64", "fd00::1/64", "fd00::ff/64"]), []);
});

test("flannel's bridge, cni0, has the gateway of this node's subnet", async (t) => {
  const machine = memoryNode({});
  const document = { cniVersion: "0.3.1", name: "net", plugins: [{ type: "flannel" }] };
  machine.disk.put("/conf/net.conflist", JSON.stringify(document));
  machine.disk.put("/run/flannel/subnet.env", "FLANNEL_SUBNET=10.255.9.1/24\n");
  t.same(findingsWith(machine, ["10.255.9.1/24"]), []);
  t.match(findingsWith(machine, ["10.255.0.1/24"]), [
    {
      code: "bridge-address",
      message: "cni0 has 10.255.0.1/24; expected the gateway 10.255.9.1/24",
      commands: ["ip addr del 10.255.0.1/24 dev cni0"],
    },
  ]);
});

test("that the kernel does not tell the addresses is said", async (t) => {
  const machine = memoryNode({});
  configureBridged(machine, "net", { subnet: "10.1.2.0/28" });
  const listInterfaces = (): never => {
    throw new SystemError("getifaddrs", "", "ENOSYS");
  };
  t.match(findingsOn(machine, { listInterfaces }), [
    { code: "interfaces-unread", severity: "info" },
  ]);
});

for (const [what, plugin, paths, isFound] of [
  ["a NIC", { bridge: "eth0" }, ["eth0/ifindex"], true],
  ["a NIC, under a VLAN", { bridge: "eth0", vlan: 7 }, ["eth0/ifindex", "eth0.7/ifindex"], true],
  ["a NIC, without a gateway", { bridge: "eth0", isGateway: false }, ["eth0/ifindex"], true],
  ["the bridge's", { bridge: "eth0" }, ["eth0/bridge/stp_state"], false],
  ["not in /sys", { bridge: "eth0" }, ["lo/ifindex"], false],
] as const) {
  test(`a bridge's name that is ${what}: ${isFound ? "no command for it" : "as others"}`, async (t) => {
    const machine = memoryNode({ "10.1.2.2": "c1\r\neth0" });
    configureBridged(machine, "net", FIRST, plugin);
    for (const path of paths) machine.disk.put(`/sys/class/net/${path}`, "");
    const listInterfaces = () => ["lo", "eth0", "eth0 203.0.113.7/24", "eth0.7"];
    const found = findingsOn(machine, { listInterfaces });
    if (isFound) {
      const message =
        'no ADD works: eth0, which the configuration names as the bridge, is another interface ("already exists but is not a bridge")';
      t.match(found, [{ code: "unusable-range", severity: "error", message, commands: [] }]);
      t.equal(found.length, 1, "and nothing else");
    } else {
      t.match(found, [{ code: "bridge-address" }]);
    }
  });
}

/** What `capacity` and `metrics` say of the network `net`. */
function countedWith(machine: MemoryMachine, listInterfaces: () => readonly string[]) {
  const report = runOn(machine, capacity, { listInterfaces });
  const document = report.document() as {
    readonly networks: readonly {
      readonly pods: bigint;
      readonly failure: string | null;
      readonly ranges: readonly { readonly free: bigint }[];
    }[];
  };
  const [network] = document.networks;
  const free = network?.ranges.map((range) => range.free);
  const lines = runOn(machine, metrics, { listInterfaces }).text().split("\n");
  const measured = lines
    .filter((line) => line.startsWith("cni_ipam_addresses_free{"))
    .map((line) => BigInt(line.replace(/.* /, "")));
  return { ...report, ...network, free, measured };
}

test("a range that the bridge cannot serve is not free, so that a full one beside it is told", async (t) => {
  const machine = memoryNode({ "10.1.2.2": "c1\r\neth0" });
  const ranges = [[{ subnet: "10.1.2.0/30" }, SECOND]];
  configureBridged(machine, "net", { ranges, reclaim: "never" });
  const listInterfaces = () => ["cni0", "cni0 10.1.2.1/30"];
  const counted = countedWith(machine, listInterfaces);
  t.same([counted.free, counted.measured, counted.pods], [[0n, 0n], [0n, 0n], 1n]);
  t.equal(counted.exitCode, 1);
  t.match(counted.text(), /range set 0 has no free address/);
  const codes = findingsOn(machine, { listInterfaces }).map(({ code }) => code);
  t.same(codes, ["unusable-range", "range-full"]);
});

for (const [what, ipam, lines, failure] of [
  [
    "whose bridge has another address",
    FIRST,
    ["cni0 10.99.0.1/24"],
    "no ADD with an address of 10.1.2.1-10.1.2.14 works: cni0 has 10.99.0.1/24, where the bridge plugin expects the gateway 10.1.2.1/28",
  ],
  [
    "with a set that the bridge cannot serve",
    { ranges: [[FIRST], [SECOND]] },
    [],
    /^no ADD works, since a pod also gets an address of 10\.7\.0\.1-10\.7\.0\.254/,
  ],
] as const) {
  test(`a network ${what} fails every ADD, and is not full`, async (t) => {
    const machine = memoryNode({});
    configureBridged(machine, "net", ipam as unknown as JsonObject);
    const counted = countedWith(machine, () => ["cni0", ...lines]);
    t.match(counted.failure, failure);
    t.equal(counted.free?.at(-1), 0n);
    t.equal(counted.measured.at(-1), 0n);
    t.equal(counted.exitCode, 1);
    t.match(counted.text(), /net: every ADD fails: no ADD /);
    t.notMatch(counted.text(), "has no free address");
  });
}

test("a bridge of two subnets with the first one's gateway fails no ADD", async (t) => {
  const machine = memoryNode({});
  configureBridged(machine, "net", { ranges: [[FIRST, SECOND]] });
  const counted = countedWith(machine, () => ["cni0", "cni0 10.1.2.1/28"]);
  t.same([counted.failure, counted.exitCode], [null, 0]);
  t.same([counted.free, counted.pods], [[13n, 0n], 13n]);
});

for (const [what, address, network, severity] of [
  ["which has the bridge, fails the network behind it", "10.1.2.1/28", "b", "warning"],
  ["but the network behind it has the bridge, fails", "10.7.0.1/24", "a", "error"],
] as const) {
  test(`of two networks with one bridge the first, ${what}: a file is the cause`, async (t) => {
    const machine = memoryNode({});
    configureBridged(machine, "a", FIRST);
    configureBridged(machine, "b", SECOND);
    t.match(findingsWith(machine, [address]), [
      {
        ...{ code: "bridge-address", network, severity, commands: [] },
        message:
          /; \/conf\/a\.conf comes before \/conf\/b\.conf, and the runtimes of Kubernetes use the first alone$/,
        remedy: /^drain the node, then move the file that is not meant out of its directory/,
      },
    ]);
  });
}

for (const [what, reserved, severity] of [
  ["which has no reservation: it may be left over", {}, "warning"],
  ["which has one", { "/data/old/10.7.0.2": "c1\r\neth0" }, "error"],
] as const) {
  test(`the bridge of another network than that of a second directory, ${what}`, async (t) => {
    const machine = memoryNode({});
    for (const [name, directory, subnet] of [
      ["net", "/etc/cni/net.d", FIRST],
      ["old", "/etc/kubernetes/cni/net.d", SECOND],
    ] as const) {
      const ipam = { type: "host-local", ...subnet };
      machine.disk.makeDirectories(directory);
      machine.disk.put(`${directory}/${name}.conf`, JSON.stringify({ name, ...bridged, ipam }));
      machine.disk.makeDirectories(`/data/${name}`);
    }
    for (const [path, text] of Object.entries(reserved)) machine.disk.put(path, text);
    t.match(findingsWith(machine, ["10.1.2.1/28"], { without: ["--conf-dir"] }), [
      {
        ...{ code: "bridge-address", network: "old", severity, commands: [] },
        message: /; the other one is the gateway of net, in another directory$/,
        remedy: /^drain the node, then move the file that is not meant out of its directory/,
      },
    ]);
  });
}

test("a file that no runtime uses raises no alarm about the bridge", async (t) => {
  const machine = memoryNode({});
  configureBridged(machine, "net", FIRST);
  const shadowed = { cniVersion: "1.0.0", name: "net", ...bridged };
  const ipam = { type: "host-local", dataDir: "/data", ...SECOND };
  configure(machine, "old.conf", { ...shadowed, ipam });
  t.same(findingsWith(machine, ["10.1.2.1/28"]), []);
});
