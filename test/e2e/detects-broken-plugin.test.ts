// test: each executable, one if short
/** The scenarios fail with a broken plugin, and name what is broken. */

import { test } from "tap";
import { type Defect, idleAt, mustFailWith } from "./broken-plugin.ts";
import { obstacle } from "./machine.ts";

const defects: readonly Defect[] = [
  { fault: "a DEL that does nothing", script: idleAt("DEL"), noticed: "DEL frees" },
  {
    fault: "a CHECK that is always content",
    script: idleAt("CHECK"),
    noticed: "CHECK misses the address",
  },
];

const skip = obstacle({ plugins: ["ptp"], cniVersion: "1.0.0" }) ?? false;

for (const defect of defects) {
  test(`a scenario fails with ${defect.fault}`, { skip }, async (t) => {
    mustFailWith(t, "test/e2e/ptp.test.ts", defect);
  });
}
