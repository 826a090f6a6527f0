// test: each executable, one if short, slow
/** The scenarios, and those with clients, fail with a broken plugin, and name what is broken. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { extent } from "../harness/extent.ts";
import { inRepository } from "../harness/repository.ts";
import { obstacle } from "./machine.ts";

/** The script of a plugin of which one command succeeds without doing anything. */
function idleAt(command: string): string {
  return `if [ "$CNI_COMMAND" = ${command} ]; then exec cat >/dev/null; fi; plugin`;
}

const pods = "test/e2e/two-pods.test.ts";
const clients = "test/clients/cnitool.test.ts";

/** A script of the shell in place of the plugin, in which `plugin` is the one under test, and what notices it. */
const defects = [
  [pods, "has a DEL that does nothing", idleAt("DEL"), "DEL frees the addresses of the first pod"],
  [pods, "has a CHECK that is always content", idleAt("CHECK"), "CHECK misses the address"],
  [
    clients,
    "always gives the same address",
    `if [ "$CNI_COMMAND" = ADD ]; then rm -rf /var/lib/cni/networks/*; fi; plugin`,
    "the second container gets the next address",
  ],
  [
    clients,
    "forgets the last address",
    "rm -f /var/lib/cni/networks/*/last_reserved_ip.*; plugin",
    "the order goes on after the last address",
  ],
  [clients, "ignores GC", idleAt("GC"), "GC frees what is not valid, and nothing else"],
] as const;

const needs = {
  [pods]: { plugins: ["bridge"], cniVersion: "0.1.0" },
  [clients]: { plugins: ["bridge"], cniVersion: "1.1.0", programs: ["cnitool", "libcni-gc"] },
};

for (const [file, fault, script, noticed] of defects) {
  // Those with clients run in full only.
  if (file === clients && extent === "short") continue;
  const skip = obstacle(needs[file]) ?? false;
  test(`${file} fails with a plugin that ${fault}`, { skip }, async (t) => {
    const plugin = join(scratchDirectory(t), "host-local");
    const text = `#!/bin/sh\nplugin() { '${executable}'; }\n${script}\n`;
    writeFileSync(plugin, text, { mode: 0o755 });
    const { HOST_LOCAL_CLIENT_RUNS: _, ...environment } = process.env;
    const report = spawnSync(process.execPath, [inRepository(file)], {
      env: { ...environment, HOST_LOCAL_BIN: plugin, TAP_BAIL: "1" },
      encoding: "utf8",
    });
    t.equal(report.status, 1);
    t.match(report.stdout, new RegExp(`^ *not ok \\d+ - ${noticed}`, "m"));
  });
}
