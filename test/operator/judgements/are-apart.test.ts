/** Whether the pods of two networks may meet: a table of what their main plugins make. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { mainPluginOf } from "../../../src/operator/configured/main-plugin.ts";
import { NetworkDirectory } from "../../../src/operator/held/network-directory.ts";
import { areApart } from "../../../src/operator/judgements/are-apart.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { networkIn } from "../held/reservation.ts";
import { startOperator } from "../memory-node.ts";

/** A network with a configuration for each of these main plugins. */
function networkOf(first: JsonObject, ...others: readonly JsonObject[]): NetworkDirectory {
  const { system } = startOperator(new MemoryMachine());
  const found = (plugin: JsonObject) => networkIn("/data", mainPluginOf(plugin));
  return new NetworkDirectory(system, [found(first), ...others.map(found)]);
}

const bridge = (name: string, more: JsonObject = {}): JsonObject => {
  return { type: "bridge", bridge: name, ...more };
};
const isGateway = { isGateway: true };

for (const [what, one, other, apart] of [
  ["two bridges, one with a gateway", bridge("br0", isGateway), bridge("br1"), true],
  [
    "two VLANs of a bridge with gateways",
    bridge("br0", { ...isGateway, vlan: 7 }),
    bridge("br0", { ...isGateway, vlan: 8 }),
    true,
  ],
  [
    "a VLAN of a bridge, and another bridge, with gateways",
    bridge("br0", { ...isGateway, vlan: 7 }),
    bridge("br1", isGateway),
    false,
  ],
] as const) {
  test(`pods of ${what} are ${apart ? "apart" : "on one link"}`, async (t) => {
    t.equal(areApart(networkOf(one), networkOf(other)), apart);
    t.equal(areApart(networkOf(other), networkOf(one)), apart);
  });
}

test("one configuration of a network is enough to meet", async (t) => {
  const both = networkOf(bridge("br0"), bridge("br1", isGateway));
  t.equal(areApart(both, networkOf(bridge("br1"))), false);
  t.equal(areApart(networkOf(bridge("br1")), both), false);
});
