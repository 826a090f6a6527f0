// test: each executable, full extent only, slow
/** The tests with clients fail with a broken plugin, and name what is broken. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { obstacle } from "../e2e/machine.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";

/** In each script, `plugin` is the plugin under test. */
const faults = [
  {
    fault: "always gives the same address",
    script: `if [ "$CNI_COMMAND" = ADD ]; then rm -rf /var/lib/cni/networks/*; fi; plugin`,
    noticed: "the second container gets the next address",
  },
  {
    fault: "never releases",
    script: `if [ "$CNI_COMMAND" = DEL ]; then exec cat >/dev/null; fi; plugin`,
    noticed: "its end frees its address",
  },
  {
    fault: "forgets the last address",
    script: "rm -f /var/lib/cni/networks/*/last_reserved_ip.*; plugin",
    noticed: "the order goes on after the last address",
  },
  {
    fault: "ignores GC",
    script: `if [ "$CNI_COMMAND" = GC ]; then exec cat >/dev/null; fi; plugin`,
    noticed: "GC frees what is not valid, and nothing else",
  },
];

const needs = { plugins: ["bridge"], cniVersion: "1.1.0", programs: ["cnitool", "libcni-gc"] };
const skip = obstacle(needs) ?? false;

for (const { fault, script, noticed } of faults) {
  test(`the tests fail with a plugin that ${fault}`, { skip }, async (t) => {
    const plugin = join(scratchDirectory(t), "host-local");
    const text = `#!/bin/sh\nplugin() { '${executable}'; }\n${script}\n`;
    writeFileSync(plugin, text, { mode: 0o755 });
    const { HOST_LOCAL_CLIENT_RUNS: _, ...environment } = process.env;

    const report = spawnSync(process.execPath, [inRepository("test/clients/cnitool.test.ts")], {
      env: { ...environment, HOST_LOCAL_BIN: plugin, TAP_BAIL: "1" },
      encoding: "utf8",
    });

    t.equal(report.status, 1);
    t.match(report.stdout, new RegExp(`^ *not ok \\d+ - ${noticed}$`, "m"));
  });
}
