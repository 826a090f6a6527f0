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

for (const [name, addresses, message, commands] of [
  [
    "two other addresses",
    ["10.99.0.1/24", "10.99.0.2/24"],
    "cni0 has 10.99.0.1/24, 10.99.0.2/24; expected the gateway 10.1.2.1/28",
    ["ip addr del 10.99.0.2/24 dev cni0", "ip addr del 10.99.0.1/24 dev cni0"],
  ],
  [
    "the gateway with a longer prefix, as after the subnet was widened",
    ["10.1.2.1/29"],
    "cni0 has 10.1.2.1/29; expected the gateway 10.1.2.1/28",
    ["ip addr add 10.1.2.1/28 dev cni0 && ip addr del 10.1.2.1/29 dev cni0"],
  ],
] as const) {
  test(`a bridge with ${name}`, async (t) => {
    const machine = memoryNode({});
    configureBridged(machine, "net", FIRST);
    const findings = findingsWith(machine, addresses);
    t.equal(findings.length, 1);
    t.match(findings, [{ code: "bridge-address", severity: "error", message }]);
    t.same(findings[0]?.commands, commands);
  });
}

test("without a command: what is at the bridge may lose the gateway with the rest of its subnet", async (t) => {
  const machine = memoryNode({});
  configureBridged(machine, "net", FIRST);
  const links = { veth1: { kind: "veth", master: "cni0" } };
  const found = findingsWith(machine, ["10.1.2.1/16"], links);
  t.match(found, [
    {
      code: "bridge-address",
      remedy: /^correct the configuration: .* drain the node first/,
      message: "cni0 has 10.1.2.1/16; expected the gateway 10.1.2.1/28; veth1 at cni0 may need it",
    },
  ]);
  t.same(found[0]?.commands, []);
});

/** What a network has, with which addresses of `cni0`: nothing is wrong. */
for (const [what, ipam, plugin, addresses] of [
  ["two subnets, with the second one's", { ranges: [[FIRST, SECOND]] }, {}, ["10.7.0.1/24"]],
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

test("that the kernel does not tell the addresses is said", async (t) => {
  const machine = memoryNode({});
  configureBridged(machine, "net", FIRST);
  const networkLinks = (): never => {
    throw new SystemError("netlink", "route", "ENOSYS");
  };
  t.match(findingsOn(machine, { networkLinks }), [{ code: "interfaces-unread", severity: "info" }]);
});

test("a bridge's name that is a NIC's, with {\"isGateway\":false}: no command for it", async (t) => {
  const machine = memoryNode({ "10.1.2.2": "c1\r\neth0" });
  configureBridged(machine, "net", FIRST, { isGateway: false, bridge: "eth0" });
  const found = findingsWith(machine, [], { eth0: ["203.0.113.7/24"], "eth0.7": [] });
  const message =
    "eth0, which the configuration names as the bridge, is another interface: every ADD fails";
  t.match(found, [{ code: "bridge-address", severity: "error", message, commands: [] }]);
  t.equal(found.length, 1, "and nothing else");
});

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
