// test: each executable, one if short
/** The scenarios fail with a broken plugin, and name what is broken. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";
import { obstacle } from "./machine.ts";

const faults = [
  { command: "DEL", fault: "a DEL that does nothing", noticed: "DEL frees" },
  {
    command: "CHECK",
    fault: "a CHECK that is always content",
    noticed: "CHECK misses the address",
  },
];

const skip = obstacle({ plugins: ["ptp"], cniVersion: "1.0.0" }) ?? false;

for (const { command, fault, noticed } of faults) {
  test(`a scenario fails with ${fault}`, { skip }, async (t) => {
    const plugin = join(scratchDirectory(t), "host-local");
    writeFileSync(plugin, idleAt(command), { mode: 0o755 });

    const report = spawnSync(process.execPath, [inRepository("test/e2e/ptp.test.ts")], {
      env: { ...process.env, HOST_LOCAL_BIN: plugin },
      encoding: "utf8",
    });

    t.equal(report.status, 1);
    t.match(report.stdout, new RegExp(`^ *not ok \\d+ - ${noticed}$`, "m"));
  });
}

/** The plugin under test, except that one command succeeds without doing anything. */
function idleAt(command: string): string {
  return `#!/bin/sh
if [ "$CNI_COMMAND" = ${command} ]; then exec cat >/dev/null; fi
exec '${executable}'
`;
}
