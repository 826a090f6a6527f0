// test: each executable, one if short, Go plugin
/**
 * The Go plugin understands a configuration as this plugin does, or refuses it: it refuses every value of its own keys that
 * only this plugin understands, and does not read new keys.
 */

import { test } from "tap";
import { networkFor } from "../harness/executable-network.ts";
import { byGoPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { ownValues } from "./random-configuration.ts";

const skip = skipWithoutGoPlugin;

const subnet = "198.18.0.0/29";

for (const [ipam, msg] of [
  [{ subnet, gateway: "none" }, "invalid IP address: none"],
  [{ ranges: [[{ subnet, gateway: "none" }]] }, "invalid IP address: none"],
  [{ subnet: "198.18.0.0/31" }, "too small to allocate from"],
  [{ subnet: "198.18.0.0/32", gateway: "203.0.113.1" }, "too small to allocate from"],
  [{ subnet: "2001:db8::/127" }, "too small to allocate from"],
  [{ rangesFile: "/etc/ranges.json" }, "no IP ranges specified"],
  [
    { partition: { subnetFile: "/run/flannel/subnet.env", ranges: [[{ subnet }]] } },
    "no IP ranges specified",
  ],
] as const) {
  test(`the Go plugin refuses ${JSON.stringify(ipam)}`, { skip }, async (t) => {
    const network = networkFor(t, ipam);
    for (const answer of [network.add("c1", byGoPlugin), network.del("c1", byGoPlugin)]) {
      t.match(answer, { exitCode: 1, error: { msg } });
    }
    t.same(network.reserved(), []);
  });
}

for (const [key, [value]] of Object.entries(ownValues)) {
  test(`the Go plugin does not read ${key}`, { skip }, async (t) => {
    const network = networkFor(t, { subnet, [key]: value });
    const answer = networkFor(t, { subnet }).add("c1", byGoPlugin);
    t.same(answer.addresses, ["198.18.0.2"]);
    t.equal(network.add("c1", byGoPlugin).stdout, answer.stdout);
  });
}
