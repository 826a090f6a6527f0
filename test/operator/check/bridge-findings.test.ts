/** What check says of the addresses of a bridge; with the plugin `bridge` itself in test/e2e/more-addresses.test.ts and cut-off.test.ts. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { SystemError } from "../../../src/system/system.ts";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { type LinkFacts, linksText } from "../../harness/network-links.ts";
import {
  configure,
  findingsOn,
  type MemoryRun,
  memoryNode,
  RESULTS,
  remember,
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

/** The findings on bridges where `cni0` has these addresses, in this order, and what else there is. */
function findingsWith(
  machine: MemoryMachine,
  addresses: readonly string[],
  others: Readonly<Record<string, LinkFacts>> = {},
  run: MemoryRun = {},
) {
  const text = linksText({ lo: [], cni0: { kind: "bridge", addresses }, ...others });
  const found = findingsOn(machine, { ...run, networkLinks: () => text });
  return found.filter(({ code }) => code.startsWith("bridge-"));
}

const FIRST = { subnet: "10.1.2.0/28" };
const SECOND = { subnet: "10.7.0.0/24" };
const SIX = { subnet: "fd00::/64" };

/** The addresses of a bridge of 10.1.2.0/28 at which nothing is, and what is found and printed of it. */
const cases: Readonly<
  Record<
    string,
    readonly [addresses: readonly string[], message?: string, commands?: readonly string[]]
  >
> = {
  "the gateway's address": [["10.1.2.1/28", "fe80::1/64"]],
  "another address behind the gateway's": [["10.1.2.1/28", "10.1.2.14/28"]],
  // In which order the plugin looks, it says itself.
  "another address before the gateway's": [["10.99.0.1/24", "10.1.2.1/28"]],
  "another address": [
    ["10.99.0.1/24"],
    "cni0 has 10.99.0.1/24; expected the gateway 10.1.2.1/28",
    ["ip addr del 10.99.0.1/24 dev cni0"],
  ],
  "two other addresses": [
    ["10.99.0.1/24", "10.99.0.2/24"],
    "cni0 has 10.99.0.1/24, 10.99.0.2/24; expected the gateway 10.1.2.1/28",
    ["ip addr del 10.99.0.2/24 dev cni0", "ip addr del 10.99.0.1/24 dev cni0"],
  ],
  "the gateway with a longer prefix, as after the subnet was widened": [
    ["10.1.2.1/29"],
    "cni0 has 10.1.2.1/29; expected the gateway 10.1.2.1/28",
    ["ip addr add 10.1.2.1/28 dev cni0 && ip addr del 10.1.2.1/29 dev cni0"],
  ],
  "the gateway with a shorter prefix": [
    ["10.1.2.1/16"],
    "cni0 has 10.1.2.1/16; expected the gateway 10.1.2.1/28",
    ["ip addr del 10.1.2.1/16 dev cni0"],
  ],
};

for (const [name, [addresses, message, commands]] of Object.entries(cases)) {
  test(`a bridge with ${name}`, async (t) => {
    const machine = memoryNode({});
    configureBridged(machine, "net", FIRST);
    const findings = findingsWith(machine, addresses);
    t.equal(findings.length, message === undefined ? 0 : 1);
    if (message === undefined) return;
    t.match(findings, [{ code: "bridge-address", severity: "error", message }]);
    t.same(findings[0]?.commands, commands);
  });
}

for (const [what, plugin, address, message] of [
  ["may need its address", {}, "10.99.0.1/24", "veth1 at cni0 may need it"],
  [
    "may lose the gateway with the rest of its subnet",
    {},
    "10.1.2.1/16",
    "veth1 at cni0 may need it",
  ],
  [
    "loses it with the next ADD",
    { forceAddress: true },
    "10.99.0.1/24",
    "the next ADD takes the address away (forceAddress): veth1 at cni0 may need it",
  ],
] as const) {
  test(`without a command: what is at the bridge ${what}`, async (t) => {
    const machine = memoryNode({});
    configureBridged(machine, "net", FIRST, plugin);
    const found = findingsWith(machine, [address], { veth1: { kind: "veth", master: "cni0" } });
    t.match(found, [
      {
        code: "bridge-address",
        remedy: /^correct the configuration: .* drain the node first/,
        message: `cni0 has ${address}; expected the gateway 10.1.2.1/28; ${message}`,
      },
    ]);
    t.same(found[0]?.commands, []);
  });
}

/** What a network has, with which addresses of `cni0`: nothing is wrong. */
for (const [what, ipam, plugin, addresses] of [
  ["a range of each family", { ranges: [[FIRST], [SIX]] }, {}, ["10.1.2.1/28", "fd00::1/64"]],
  ["two subnets, with the first one's gateway", { ranges: [[FIRST, SECOND]] }, {}, ["10.1.2.1/28"]],
  ["two subnets, with the second one's", { ranges: [[FIRST, SECOND]] }, {}, ["10.7.0.1/24"]],
  [
    "two subnets, without a gateway",
    { ranges: [[FIRST, SECOND]] },
    { isGateway: false },
    ["10.99.0.1/24"],
  ],
  ["a gateway outside", { ...FIRST, gateway: "10.7.0.1" }, {}, ["10.7.0.1/28"]],
  ["a link-local gateway", { ...SIX, gateway: "fe80::1" }, {}, ["fe80::2/64"]],
  ["a gateway of the other family", { ...FIRST, gateway: "fd00::1" }, {}, ["fd00::1/28"]],
  ["a bridge that is not there yet", FIRST, { bridge: "none0" }, ["10.99.0.1/24"]],
  ["a bridge without an address", FIRST, {}, ["fe80::1/64"]],
  ["forceAddress", FIRST, { forceAddress: true }, ["10.99.0.1/24"]],
  ["the gateway of a /31", { subnet: "10.1.2.0/31", gateway: "10.1.2.0" }, {}, ["10.1.2.0/31"]],
  ["IPv6 addresses of other subnets", SIX, {}, ["fd01::1/64"]],
] as const) {
  test(`a network with ${what}: nothing`, async (t) => {
    const machine = memoryNode({});
    configureBridged(machine, "net", ipam as unknown as JsonObject, plugin);
    t.same(findingsWith(machine, addresses), []);
  });
}

test("of IPv6, only an old address of the subnet is in the way", async (t) => {
  const machine = memoryNode({});
  configureBridged(machine, "net", SIX);
  t.match(findingsWith(machine, ["fd01::1/64", "fd00::ff/64"]), [
    { code: "bridge-address", commands: ["ip addr del fd00::ff/64 dev cni0"] },
  ]);
  t.same(findingsWith(machine, ["fd01::1/64", "fd00::1/64", "fd00::ff/64"]), []);
});

test("a gateway that living pods have, and no interface, is given back", async (t) => {
  const machine = memoryNode({ "10.1.2.2": "c1\r\neth0" });
  configureBridged(machine, "net", FIRST);
  remember(machine, "c1", {
    ...{ netns: "/run/netns/c1", addresses: ["10.1.2.2/28"], gateway: "10.1.2.1" },
    hostInterfaces: ["cni0", "veth1"],
  });
  const found = (others: Readonly<Record<string, LinkFacts>>, run: MemoryRun) =>
    findingsWith(machine, ["fe80::1/64"], others, run);
  const alive = { kernel: { mounted: { "/run/netns/c1": 50 }, addresses: { 50: ["10.1.2.2"] } } };
  t.match(found({}, alive), [
    {
      ...{ code: "bridge-without-address", severity: "error" },
      message: "cni0 lacks 10.1.2.1, the gateway of 1 pod: container c1",
      commands: ["ip addr add 10.1.2.1/28 dev cni0"],
    },
  ]);
  const old0 = { kind: "bridge", addresses: ["10.1.2.1/16"] };
  t.same(found({ old0 }, alive), [], "another interface has it, with another prefix length");
  t.same(found({}, {}), [], "the pod is dead: the next one gets it from the next ADD");
});

/** The pod `default/web` of 10.99.0.0/24, which runs, where the network is another by now. */
function nodeOfFormerSubnet(plugin: JsonObject): readonly [MemoryMachine, MemoryRun] {
  const machine = memoryNode({ "10.99.0.2": "c1\r\neth0" });
  configureBridged(machine, "net", FIRST, plugin);
  const netns = "/run/netns/c1";
  remember(machine, "c1", {
    ...{ netns, addresses: ["10.99.0.2/24"], gateway: "10.99.0.1", pod: "default/web" },
    hostInterfaces: ["cni0", "veth1"],
  });
  const kernel = { mounted: { [netns]: 50 }, addresses: { 50: ["10.99.0.2"] } };
  return [machine, { kernel }];
}

test("that the next ADD takes the gateway of living pods away is said before, and after it", async (t) => {
  const [machine, run] = nodeOfFormerSubnet({ forceAddress: true });
  const veth1 = { kind: "veth", master: "cni0", otherEnd: 50 };
  t.match(findingsWith(machine, ["10.99.0.1/24"], { veth1 }, run), [
    {
      ...{ code: "bridge-address", severity: "error", commands: [] },
      message:
        "cni0 has 10.99.0.1/24; expected the gateway 10.1.2.1/28; the next ADD takes the address away (forceAddress): 10.99.0.1 is the gateway of 1 pod: default/web",
      remedy: /drain the node first/,
    },
  ]);
  t.match(findingsWith(machine, ["10.1.2.1/28"], { veth1 }, run), [
    {
      ...{ code: "bridge-without-address", severity: "error", commands: [] },
      message: "cni0 lacks 10.99.0.1, the gateway of 1 pod: default/web",
      remedy: "restart these pods, which then get the gateway that is configured now",
    },
  ]);
  t.same(findingsWith(machine, ["10.1.2.1/28", "10.99.0.1/24"], { veth1 }, run), []);
});

test("the gateway of a living pod is not taken away where its port was taken out of the bridge", async (t) => {
  const [machine, run] = nodeOfFormerSubnet({});
  t.match(findingsWith(machine, ["10.99.0.1/24"], {}, run), [
    {
      code: "bridge-address",
      message: /10\.99\.0\.1 is the gateway of 1 pod/,
      commands: [],
    },
  ]);
});

test("no gateway is taken away where libcni's cache cannot be read", async (t) => {
  const machine = memoryNode({});
  configureBridged(machine, "net", FIRST);
  const interrupt = refuse("list", "EIO", RESULTS);
  t.match(findingsWith(machine, ["10.99.0.1/24"], {}, { interrupt }), [
    {
      code: "bridge-address",
      message: /a pod of libcni's cache, which cannot be read/,
      commands: [],
    },
  ]);
});

test("with forceAddress the next ADD sets the prefix length of a subnet that was widened", async (t) => {
  const machine = memoryNode({});
  configureBridged(machine, "net", FIRST, { forceAddress: true });
  t.same(findingsWith(machine, ["10.1.2.1/29"], { veth1: { kind: "veth", master: "cni0" } }), []);
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
  configureBridged(machine, "net", FIRST);
  const networkLinks = (): never => {
    throw new SystemError("netlink", "route", "ENOSYS");
  };
  t.match(findingsOn(machine, { networkLinks }), [{ code: "interfaces-unread", severity: "info" }]);
});

for (const plugin of [{}, { vlan: 7 }, { isGateway: false }]) {
  test(`a bridge's name that is a NIC's, with ${JSON.stringify(plugin)}: no command for it`, async (t) => {
    const machine = memoryNode({ "10.1.2.2": "c1\r\neth0" });
    configureBridged(machine, "net", FIRST, { ...plugin, bridge: "eth0" });
    const found = findingsWith(machine, [], { eth0: ["203.0.113.7/24"], "eth0.7": [] });
    const message =
      "eth0, which the configuration names as the bridge, is another interface: every ADD fails";
    t.match(found, [{ code: "bridge-address", severity: "error", message, commands: [] }]);
    t.equal(found.length, 1, "and nothing else");
  });
}

for (const [what, reserved, severity] of [
  ["which has no reservation", {}, "warning"],
  ["which has one", { "/data/other/10.7.0.2": "c1\r\neth0" }, "error"],
] as const) {
  test(`a bridge with the gateway of another network than that ${what}`, async (t) => {
    const machine = memoryNode({});
    configureBridged(machine, "net", FIRST);
    configureBridged(machine, "other", SECOND);
    machine.disk.makeDirectories("/data/other");
    for (const [path, text] of Object.entries(reserved)) machine.disk.put(path, text);
    t.match(findingsWith(machine, ["10.1.2.1/28"]), [
      {
        ...{ code: "bridge-address", network: "other", severity, commands: [] },
        message:
          "cni0 has 10.1.2.1/28; expected the gateway 10.7.0.1/24; the other one is the gateway of net in /conf/net.conf",
        remedy:
          /^if both networks are meant, give each a bridge of its own, in the member bridge of its configuration;/,
      },
    ]);
  });
}

test("of two files with one bridge the first may be the one that is not meant", async (t) => {
  const machine = memoryNode({});
  configureBridged(machine, "net", FIRST);
  configureBridged(machine, "a-first", SECOND);
  t.match(findingsWith(machine, ["10.1.2.1/28"]), [
    {
      ...{ code: "bridge-address", network: "a-first", severity: "error" },
      remedy:
        /move the file that is not meant out of its directory: the one in use only on a drained node$/,
    },
  ]);
});

test("a file that no runtime uses raises no alarm about the bridge", async (t) => {
  const machine = memoryNode({});
  configureBridged(machine, "net", FIRST);
  const shadowed = { cniVersion: "1.0.0", name: "net", ...bridged };
  const ipam = { type: "host-local", dataDir: "/data", ...SECOND };
  configure(machine, "old.conf", { ...shadowed, ipam });
  t.same(findingsWith(machine, ["10.1.2.1/28"]), []);
});
