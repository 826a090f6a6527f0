/** What the main plugin connects pods to, as it is configured. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { mainPluginOf } from "../../../src/operator/configured/main-plugin.ts";

const links: readonly (readonly [plugin: JsonObject, link: string | undefined])[] = [
  [{ type: "macvlan", master: "eth0" }, "eth0"],
  [{ type: "ipvlan", master: "eth0" }, "eth0"],
  [{ type: "macvlan" }, undefined],
  [{ type: "macvlan", master: "eth0", linkInContainer: true }, "eth0 of the pod"],
  [{ type: "vlan", master: "eth0", vlanId: 5 }, "eth0.5"],
  [{ type: "bridge" }, "cni0"],
  [{ type: "bridge", bridge: "br0", vlan: 7 }, "br0.7"],
  [{ type: "bridge", vlan: 0 }, "cni0"],
  [{ type: "ptp", master: "eth0" }, undefined],
];

test("the link is a bridge or a master, with the VLAN; otherwise not known", async (t) => {
  for (const [plugin, link] of links) {
    t.equal(mainPluginOf(plugin).link, link, JSON.stringify(plugin));
  }
});

test("a bridge has the gateways' addresses only where the plugin sets them, in any letter case", async (t) => {
  const bridge = { type: "bridge", Bridge: "br0" };
  const plain = { bridge: undefined, bridgeName: "br0", isRouted: false };
  t.match(mainPluginOf({ ...bridge, forceAddress: true }), plain);
  const gateway = { bridgeName: "br0", isRouted: true };
  for (const key of ["IsGateway", "isDefaultGateway"]) {
    const name = { name: "br0", isForced: false };
    t.match(mainPluginOf({ ...bridge, [key]: true }), { ...gateway, bridge: name });
  }
  const forced = { ...bridge, isGateway: true, forceAddress: true, vlan: 7 };
  t.match(mainPluginOf(forced), { ...gateway, bridge: { name: "br0.7", isForced: true } });
});

test("the node has a route to pods of ptp, and to those of no other main plugin", async (t) => {
  const routed = ["ptp", "macvlan", "host-device"].filter(
    (type) => mainPluginOf({ type }).isRouted,
  );
  t.strictSame(routed, ["ptp"]);
});
