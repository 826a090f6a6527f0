// test: each executable, one if short
/** What the commands show of reservations from before this boot, and of addresses that cool down. */

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { keyOf } from "../../../src/store/reservations/owner.ts";
import { attachment } from "../../store/fixtures.ts";
import { type Node, nodeFor } from "../node.ts";

const skip = existsSync("/etc/machine-id") ? false : "There is no /etc/machine-id.";

/** Notes the reservations that there are, as the first call of a boot does. */
function bootSince({ dataDir }: Node): void {
  const machine = readFileSync("/etc/machine-id", "utf8").trim();
  const lines = ["c1", "c2", "c3"].map((id, at) => {
    const name = `10.7.41.${at + 2}`;
    const { ino, mtimeNs } = statSync(join(dataDir, "net", name), { bigint: true });
    const key = keyOf(attachment(id));
    return `11111111-2222-3333-4444-555555555555 ${name} ${key} ${ino},${mtimeNs}\n`;
  });
  const text = [`host-local-before-boot 2 ${machine}\n`, ...lines].join("");
  writeFileSync(join(dataDir, ".host-local/net/before-boot"), text);
}

/** Three reservations from before this boot in a /29, and one since. */
function rebooted(t: Parameters<typeof nodeFor>[0], ipam: object = {}): Node {
  const node = nodeFor(t);
  node.network("net", { subnet: "10.7.41.0/29", ...ipam });
  for (const id of ["c1", "c2", "c3"]) node.call("ADD", "net", id);
  bootSince(node);
  node.call("ADD", "net", "c4");
  return node;
}

test("list marks them, and says that nobody alive holds them", { skip }, async (t) => {
  const { stdout } = rebooted(t).tool(["list", "net"]);
  const rows = stdout.split("\n").map((line) => line.split(/ +/));

  t.match(rows[0]?.join(" "), /AGE ALIVE BOOT POD$/);
  t.same(
    rows.slice(1, 5).map((cells) => `${cells[1]} ${cells[5]} ${cells[6]}`),
    ["10.7.41.2 no before", "10.7.41.3 no before", "10.7.41.4 no before", "10.7.41.5 - -"],
  );
});

test("capacity, networks and metrics count them as free and name their number", {
  skip,
}, async (t) => {
  const node = rebooted(t);

  const { document } = node.json(["capacity", "net"]);
  t.match(document, { networks: [{ beforeBoot: 3, ranges: [{ used: 1, free: 4 }] }] });
  t.match(
    node.tool(["capacity", "net"]).stdout,
    "net: FREE includes 3 addresses held since before this boot of the node.",
  );
  t.match(node.json(["networks"]).document, { networks: [{ ranges: [{ free: 4 }] }] });
  const metrics = node.tool(["metrics"]).stdout;
  t.match(metrics, /cni_ipam_addresses_used\{.*\} 1\n/);
  t.match(metrics, /cni_ipam_addresses_free\{.*\} 4\n/);
  t.match(metrics, /cni_ipam_reservations_before_boot\{.*\} 3\n/);
});

test("where they are to stay, they count as used", { skip }, async (t) => {
  const node = rebooted(t, { reclaim: "never" });
  const { document } = node.json(["capacity", "net"]);
  t.match(document, { networks: [{ beforeBoot: 0, ranges: [{ used: 4, free: 1 }] }] });
});

test("gc reports them, and to check they are no leaks", { skip }, async (t) => {
  const node = rebooted(t);
  t.match(node.json(["check", "net"]).document, { findings: [] });
  t.match(node.json(["gc", "net", "--grace", "0s"]).document, {
    dead: [{ beforeBoot: true }, { beforeBoot: true }, { beforeBoot: true }],
  });
  t.match(node.tool(["gc", "net", "--grace", "0s"]).stdout, "dead, from before this boot;");
});

test("addresses that cool down are counted, also those that an operator released", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "10.7.42.0/29", reuseDelaySeconds: 3600 });
  for (const id of ["c1", "c2", "c3"]) node.call("ADD", "net", id);
  node.call("DEL", "net", "c1");
  t.match(node.json(["capacity", "net"]).document, { networks: [{ cooling: 1 }] });

  node.tool(["release", "10.7.42.3", "--yes", "--force"]);

  t.match(node.json(["capacity", "net"]).document, { networks: [{ cooling: 2 }] });
  t.match(node.tool(["capacity", "net"]).stdout, "net: 2 free addresses released lately");
  t.match(node.tool(["metrics"]).stdout, /cni_ipam_addresses_cooling\{.*\} 2\n/);
});
