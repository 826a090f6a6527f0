// test: each executable, one if short, slow
/** What of the history the machine decides: times, modes, calls at the same time. */

import { readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { networkFor } from "../harness/executable-network.ts";
import { grantedAddresses } from "../harness/network.ts";

const ipam = {
  history: true,
  ranges: [[{ subnet: "10.47.0.0/24" }], [{ subnet: "2001:db8:47::/64" }]],
};

const cniArgs = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0";

test("a line of the history has its time, for its owner alone to read", async (t) => {
  const network = networkFor(t, ipam);
  const path = join(network.machine.dataDirectory, ".host-local/net/history");
  const before = new Date().toISOString();
  network.add("c1", { cniArgs });
  network.gc([]);
  const after = new Date().toISOString();

  const text = readFileSync(path, "utf8");
  t.strictSame(text.trimEnd().replaceAll(/^\S+ /gm, "").split("\n"), [
    "ADD 10.47.0.2 c1 eth0 default/web-0",
    "ADD 2001:db8:47::2 c1 eth0 default/web-0",
    "GC 10.47.0.2 c1 eth0 -",
    "GC 2001:db8:47::2 c1 eth0 -",
  ]);
  const times = text.match(/^\S+/gm) ?? [];
  t.strictSame([before, ...times, after].toSorted(), [before, ...times, after]);
  t.equal(statSync(path).mode & 0o777, 0o600);
});

test("ADD and DEL at the same time rotate a full history, and each line is whole", async (t) => {
  const network = networkFor(t, { ...ipam, history: { maxBytes: 4096 } });
  const ids = Array.from({ length: 24 }, (_, at) => `container-${at}`);
  const answers = await Promise.all(
    ids.map(async (id) => {
      const added = await network.begin("ADD", id, { cniArgs });
      await network.begin("DEL", id, { cniArgs });
      return grantedAddresses(added);
    }),
  );

  t.ok(answers.every(({ length }) => length === 2));
  const files = network.machine.tree().filter(({ path }) => /history/.test(path));
  const kept = files.flatMap(({ content = "" }) => content.trimEnd().split("\n"));
  t.equal(files.length, 2);
  t.ok(files.every(({ content = "" }) => content.length <= 4096));
  for (const line of kept) {
    t.match(line, /^\S+Z (?:ADD|DEL) [0-9a-f.:]+ container-\d+ eth0 default\/web-0$/);
  }
  t.ok(kept.length > 30, `${kept.length} of ${4 * ids.length} lines are left`);
  const words = kept.map((line) => line.replace(/^\S+ /, ""));
  t.equal(new Set(words).size, kept.length, "none is there twice");
});

test("ADD does not follow a symbolic link in place of the history, and says so", async (t) => {
  const network = networkFor(t, ipam);
  network.add("c0", { ipam: { history: false } });
  const path = join(network.machine.dataDirectory, ".host-local/net/history");
  symlinkSync("/nonexistent/target", path);

  const { addresses, stderr } = network.add("c1");

  t.equal(addresses.length, 2);
  t.match(stderr, /^host-local: this call is missing in the history: open \S+: .+\n$/);
});
