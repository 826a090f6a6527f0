// test: each executable, full extent only, slow
/** The tests with clients fail with a broken plugin, and name what is broken. */

import { test } from "tap";
import { type Defect, idleAt, mustFailWith } from "../e2e/broken-plugin.ts";
import { obstacle } from "../e2e/machine.ts";

const defects: readonly Defect[] = [
  {
    fault: "always gives the same address",
    script: `if [ "$CNI_COMMAND" = ADD ]; then rm -rf /var/lib/cni/networks/*; fi; plugin`,
    noticed: "the second container gets the next address",
  },
  {
    fault: "forgets the last address",
    script: "rm -f /var/lib/cni/networks/*/last_reserved_ip.*; plugin",
    noticed: "the order goes on after the last address",
  },
  {
    fault: "ignores GC",
    script: idleAt("GC"),
    noticed: "GC frees what is not valid, and nothing else",
  },
];

const needs = { plugins: ["bridge"], cniVersion: "1.1.0", programs: ["cnitool", "libcni-gc"] };
const skip = obstacle(needs) ?? false;

for (const defect of defects) {
  test(`the tests fail with a plugin that ${defect.fault}`, { skip }, async (t) => {
    mustFailWith(t, "test/clients/cnitool.test.ts", defect);
  });
}
