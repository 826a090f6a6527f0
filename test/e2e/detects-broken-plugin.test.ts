// test: native executable, full extent only, slow, makes namespaces, mounts
/** The scenarios with clients fail with a broken plugin, and name what is broken, as docs/evidence/compatibility.md says. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";
import { obstacle } from "./machine.ts";

/** The script of a plugin with one command that succeeds without doing anything. */
function idleAt(command: string): string {
  return `if [ "$CNI_COMMAND" = ${command} ]; then exec cat >/dev/null; fi; plugin`;
}

/** Shell scripts in place of the plugin, in which `plugin` is the one under test, and the scenarios that notice them. */
const defects = [
  [
    "always gives the same address",
    // In a network namespace of its own the plugin does not see what lives on the node.
    `if [ "$CNI_COMMAND" = ADD ]; then rm -rf /var/lib/cni/networks/*; exec unshare --net '${executable}'; fi; plugin`,
    "the second container gets the next address",
  ],
  ["never releases", idleAt("DEL"), "its end frees its address"],
  [
    "forgets the last address",
    "rm -f /var/lib/cni/networks/*/last_reserved_ip.*; plugin",
    "the order goes on after the last address",
  ],
  ["has a CHECK that is always content", idleAt("CHECK"), "CHECK misses the reservation"],
  ["ignores GC", idleAt("GC"), "GC frees what is not valid, and nothing else"],
] as const;

const skip =
  obstacle({ plugins: ["bridge"], cniVersion: "1.1.0", programs: ["cnitool", "libcni-gc"] }) ??
  false;

for (const [fault, script, noticed] of defects) {
  test(`they fail with a plugin that ${fault}`, { skip }, async (t) => {
    const plugin = join(scratchDirectory(t), "host-local");
    const text = `#!/bin/sh\nplugin() { '${executable}'; }\n${script}\n`;
    writeFileSync(plugin, text, { mode: 0o755 });
    const { HOST_LOCAL_CLIENT_RUNS: _, ...environment } = process.env;
    const file = inRepository("test/clients/cnitool.test.ts");
    const { status, stdout } = spawnSync(process.execPath, [file], {
      env: { ...environment, HOST_LOCAL_BIN: plugin, TAP_BAIL: "1" },
      encoding: "utf8",
    });
    t.equal(status, 1);
    t.match(stdout, new RegExp(`^ *not ok \\d+ - ${noticed}`, "m"));
  });
}
