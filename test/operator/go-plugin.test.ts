// test: each executable, one if short, Go plugin
/** The commands understand what the Go plugin has reserved, and it understands what they have released. */

import { test } from "tap";
import { goPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { startStranger } from "../harness/network-namespaces.ts";
import { listOf } from "./gc/pods-on-node.ts";
import { nodeFor } from "./node.ts";

test("reservations of the Go plugin are as those of this one", {
  skip: skipWithoutGoPlugin,
}, async (t) => {
  // Only the list tells which containers live.
  await startStranger(t);
  const node = nodeFor(t);
  const go = goPlugin?.path;
  node.network("net", { subnet: "198.51.100.0/29", rangeEnd: "198.51.100.4" });
  node.call("ADD", "net", "ours");
  node.call("ADD", "net", "theirs", go);

  t.match(node.json(["list"]).document, {
    reservations: [
      { address: "198.51.100.2", container: "ours", owner: "attachment" },
      { address: "198.51.100.3", container: "theirs", owner: "attachment" },
    ],
  });
  t.match(node.json(["show", "theirs"]).document, {
    reservations: [{ address: "198.51.100.3", interface: "eth0" }],
  });
  t.match(node.tool(["metrics"]).stdout, /^cni_ipam_addresses_used\{.*\} 2$/m);
  t.same(node.findings(), []);

  for (const last of [2, 3]) node.age(`net/198.51.100.${last}`, 3600);
  t.match(node.tool(["gc", "--live-command", listOf("ours"), "--now", "--yes"]), { exitCode: 0 });
  for (const id of ["next", "again"]) node.call("ADD", "net", id, go);
  t.equal(node.read("net/198.51.100.3"), "again\r\neth0");
  t.match(node.tool(["release", "again", "--yes", "--force"]), { exitCode: 0 });
  t.throws(() => node.read("net/198.51.100.3"), { code: "ENOENT" });
});
