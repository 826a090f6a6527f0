// test: each executable, one if short, slow
/** The part of the history that depends on the lock: calls at the same time. */

import { test } from "tap";
import { networkFor } from "../harness/executable-network.ts";
import { grantedAddresses } from "../harness/network.ts";

const ranges = [[{ subnet: "198.51.100.0/24" }], [{ subnet: "2001:db8:47::/64" }]];

test("ADD and DEL at the same time rotate a full history, and each line is whole", async (t) => {
  const network = networkFor(t, { ranges, history: { maxBytes: 4096 } });
  const cniArgs = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0";
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
