/** Two networks with the same addresses: only where their pods may meet on one link is that wrong. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { configure, findingsOn, memoryNode, remember } from "../memory-node.ts";

/** What is found where both networks have 10.1.2.0/28, and each a pod with 10.1.2.5. */
function foundWith(one: JsonObject, other: JsonObject, arePodsThere: boolean): readonly string[] {
  const machine = memoryNode({});
  const mounted: Record<string, number> = {};
  const addresses: Record<number, readonly string[]> = {};
  for (const [at, plugin] of [one, other].entries()) {
    const name = ["lan-a", "lan-b"][at] ?? "";
    const id = `c${at}`;
    configure(machine, `${name}.conflist`, {
      ...{ cniVersion: "1.0.0", name },
      plugins: [
        { ...plugin, ipam: { type: "host-local", dataDir: "/data", subnet: "10.1.2.0/28" } },
      ],
    });
    if (!arePodsThere) continue;
    machine.disk.put(`/data/${name}/10.1.2.5`, `${id}\r\neth0`);
    const netns = `/run/netns/${id}`;
    remember(machine, id, { netns, addresses: ["10.1.2.5/28"], pod: `default/${id}` }, name);
    mounted[netns] = 50 + at;
    addresses[50 + at] = ["10.1.2.5"];
  }
  const codes = ["overlapping-ranges", "address-in-use-twice", "live-without-reservation"];
  return findingsOn(machine, { kernel: { mounted, addresses } })
    .filter(({ code }) => codes.includes(code))
    .map(({ severity, code, message }) =>
      code === "overlapping-ranges" ? `${severity} ${code}: ${message}` : code,
    );
}

const range = [
  "warning overlapping-ranges: 10.1.2.1-10.1.2.14 is in the networks lan-a and lan-b (/conf/lan-b.conflist)",
];
const twice = ["address-in-use-twice", ...range];

const onEth0 = { type: "macvlan", master: "eth0" };
const bridge = { type: "bridge", bridge: "br0" };

for (const [what, one, other, areTogether] of [
  ["macvlan on two interfaces (moby#46438)", onEth0, { ...onEth0, master: "eth1" }, false],
  ["two bridges without a gateway", bridge, { ...bridge, bridge: "br1" }, false],
  ["a plugin of which the link is not known", onEth0, { type: "host-device" }, true],
] as const) {
  test(`${what}: ${areTogether ? "found" : "nothing"}`, async (t) => {
    t.same(foundWith(one, other, false), areTogether ? range : []);
    t.same(foundWith(one, other, true), areTogether ? twice : []);
  });
}
