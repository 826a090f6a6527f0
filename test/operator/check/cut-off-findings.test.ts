/** When check says that a living pod is cut off from its bridge; with the plugin `bridge` itself in test/e2e/cut-off.test.ts. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { formatCall } from "../../../src/store/failed-calls/failed-call.ts";
import { type LinkFacts, linksText } from "../../harness/network-links.ts";
import type { Machine } from "../../harness/proc.ts";
import { configure, findingsOn, memoryNode, remember } from "../memory-node.ts";

const NETNS = "/run/netns/c1";
const kernel: Machine = { mounted: { [NETNS]: 50 }, addresses: { 50: ["10.1.2.2"] } };
const bridge = { kind: "bridge", addresses: ["10.1.2.1/28"] };
const end = { kind: "veth", otherEnd: 50 };
const apart = { cni0: bridge, veth1: end };
const renamed = { old0: bridge, veth1: { ...end, master: "old0" } };

/** What is known of the pod `default/web` and its node; by default its interface is at no bridge. */
interface Facts {
  readonly plugin?: JsonObject;
  /** The interfaces on the node that its result has. */
  readonly hostInterfaces?: readonly string[];
  readonly kernel?: Machine;
  /** The links of the node at each look; the last ones stay. */
  readonly links?: readonly Readonly<Record<string, LinkFacts>>[];
  /** The container of which a DEL has failed. */
  readonly ending?: string;
  /** The bridge of another network. */
  readonly otherBridge?: string;
}

function found(facts: Facts) {
  const machine = memoryNode({ "10.1.2.2": "c1\r\neth0", "fd00::2": "c1\r\neth0" });
  const configureBridge = (name: string, plugin: JsonObject): void => {
    const ipam = { type: "host-local", dataDir: "/data", subnet: "10.1.2.0/28" };
    const main = { type: "bridge", bridge: "cni0", isGateway: true, ...plugin };
    configure(machine, `${name}.conf`, { cniVersion: "1.0.0", name, ...main, ipam });
  };
  configureBridge("net", facts.plugin ?? {});
  if (facts.otherBridge !== undefined) configureBridge("other", { bridge: facts.otherBridge });
  const { hostInterfaces = ["cni0", "veth1"] } = facts;
  const known = { netns: NETNS, addresses: ["10.1.2.2/28"], pod: "default/web" };
  remember(machine, "c1", { ...known, hostInterfaces });
  if (facts.ending !== undefined) {
    const about = { network: "net", dataDir: "/data", interfaceName: "eth0", pod: "", details: "" };
    const call = {
      ...about,
      kind: "failed",
      verb: "DEL",
      code: 999,
      message: "read-only",
    } as const;
    const text = formatCall({ ...call, time: machine.time, container: facts.ending });
    machine.disk.put("/run/host-local/failed-calls", text);
  }
  const looks = [...(facts.links ?? [apart])];
  const networkLinks = () => linksText((looks.length > 1 ? looks.shift() : looks[0]) ?? {});
  return findingsOn(machine, { kernel: facts.kernel ?? kernel, networkLinks }).filter(
    ({ code }) => code === "pods-cut-off",
  );
}

for (const [what, facts] of Object.entries<Facts>({
  "is a port of its bridge": { links: [{ cni0: bridge, veth1: { ...end, master: "cni0" } }] },
  "is seen at no bridge once, as while the pod ends": {
    links: [apart, { cni0: bridge, veth1: { ...end, master: "cni0" } }],
  },
  "the plugin has removed, since its DEL has failed after that": { ending: "c1" },
  "was made for another bridge": { hostInterfaces: ["cni1", "veth1"] },
  "was made by another plugin": { hostInterfaces: ["veth1"] },
  "is one of another plugin now": { plugin: { type: "ptp" } },
  "is in a namespace without an id": { kernel: { ...kernel, unlinked: [50] } },
  "is in a namespace that is gone": { kernel: { ...kernel, mounted: {} } },
  "is looked at from the namespace of another pod": {
    kernel: { ...kernel, processes: { 1: { namespace: 1 }, 99: { namespace: 60 } } },
  },
})) {
  test(`an interface that ${what}: nothing`, async (t) => {
    t.same(found(facts), []);
  });
}

test("a pod of both families is named once", async (t) => {
  t.equal(found({ ending: "c2" }).length, 1);
  t.match(found({}), [
    {
      severity: "error",
      network: "net",
      message:
        "default/web (container c1) is cut off from cni0: its interface (veth1) is at no bridge",
      remedy: "restart these pods: a new one is connected as the configuration says",
      commands: [],
    },
  ]);
});

for (const [what, facts, commands] of [
  ["was renamed", {}, []],
  ["was renamed, beside a new one", { links: [{ ...renamed, cni0: bridge }] }, []],
  [
    "is down",
    { links: [{ cni0: { ...bridge, isDown: true }, veth1: { ...end, master: "cni0" } }] },
    ["ip link set dev cni0 up"],
  ],
] as const) {
  test(`of pods at a bridge that ${what}: ${commands[0] ?? "no command"}`, async (t) => {
    const [finding, ...others] = found({ links: [renamed], ...facts });
    t.same(finding?.commands, commands);
    t.same(others, []);
  });
}
