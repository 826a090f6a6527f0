/** The link of a network, as its main plugin is configured. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { linkIn } from "../../../src/operator/configured/link.ts";

const cases: readonly (readonly [
  plugin: JsonObject,
  bridge: string | undefined,
  link: string | undefined,
])[] = [
  [{ type: "macvlan", master: "eth0" }, undefined, "eth0"],
  [{ type: "ipvlan", master: "eth0" }, undefined, "eth0"],
  [{ type: "macvlan" }, undefined, undefined],
  [{ type: "macvlan", master: "eth0", linkInContainer: true }, undefined, "eth0 of the pod"],
  [{ type: "vlan", master: "eth0", vlanId: 5 }, undefined, "eth0.5"],
  [{ type: "bridge" }, "cni0", "cni0"],
  [{ type: "bridge", vlan: 7 }, "cni0", "cni0.7"],
  [{ type: "bridge", vlan: 0 }, "cni0", "cni0"],
  [{ type: "ptp", master: "eth0" }, undefined, undefined],
];

test("a bridge or a master, with the VLAN; otherwise not known", async (t) => {
  for (const [plugin, bridge, link] of cases) {
    t.equal(linkIn(plugin, bridge), link, JSON.stringify(plugin));
  }
});
