/** When check says that a living pod is cut off from its bridge; with the plugin `bridge` itself in test/e2e/cut-off.test.ts. */

import { test } from "tap";
import { formatCall } from "../../../src/store/failed-calls/failed-call.ts";
import { type LinkFacts, linksText } from "../../harness/network-links.ts";
import type { Machine } from "../../harness/proc.ts";
import { configure, findingsOn, memoryNode, remember } from "../memory-node.ts";

const NETNS = "/run/netns/c1";
const kernel: Machine = { mounted: { [NETNS]: 50 }, addresses: { 50: ["10.1.2.2"] } };
const bridge = { kind: "bridge", addresses: ["10.1.2.1/28"] };
const end = { kind: "veth", otherEnd: 50 };
const apart = { cni0: bridge, veth1: end };

/** What is known of the pod `default/web` and its node; by default its interface is at no bridge. */
interface Facts {
  readonly kernel?: Machine;
  /** The links of the node at each look; the last ones stay. */
  readonly links?: readonly Readonly<Record<string, LinkFacts>>[];
  /** The container of which a DEL has failed. */
  readonly ending?: string;
}

function found(facts: Facts) {
  const machine = memoryNode({ "10.1.2.2": "c1\r\neth0", "fd00::2": "c1\r\neth0" });
  configure(machine, "net.conf", {
    ...{ cniVersion: "1.0.0", name: "net", type: "bridge", bridge: "cni0", isGateway: true },
    ipam: { type: "host-local", dataDir: "/data", subnet: "10.1.2.0/28" },
  });
  const known = { netns: NETNS, addresses: ["10.1.2.2/28"], pod: "default/web" };
  remember(machine, "c1", { ...known, hostInterfaces: ["cni0", "veth1"] });
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
  "is seen at no bridge once, as while the pod ends": {
    links: [apart, { cni0: bridge, veth1: { ...end, master: "cni0" } }],
  },
  "the plugin has removed, since its DEL has failed after that": { ending: "c1" },
  "is in a namespace without an id": { kernel: { ...kernel, unlinked: [50] } },
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

test("of pods at a bridge that is down: ip link set dev cni0 up", async (t) => {
  const links = [{ cni0: { ...bridge, isDown: true }, veth1: { ...end, master: "cni0" } }];
  const [finding, ...others] = found({ links });
  t.same(finding?.commands, ["ip link set dev cni0 up"]);
  t.same(others, []);
});
