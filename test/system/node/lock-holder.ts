/**
 * A process that takes the portable lock, says so, and gives it back when its standard input ends.
 *
 * Usage: `node lock-holder.ts DIRECTORY TIMEOUT`
 */

import { readSync, writeSync } from "node:fs";
import { createNodeSystem } from "../../../src/system/node/node-system.ts";
import { LockTimeout } from "../../../src/system/system.ts";

const [directory = "", timeout = "0"] = process.argv.slice(2);
const system = createNodeSystem();
try {
  const { release } = system.lock({
    file: `${directory}/lock`,
    directory: `${directory}/own`,
    timeout: Number(timeout),
  });
  writeSync(1, "locked\n");
  waitForEndOfInput();
  release();
  writeSync(1, "unlocked\n");
} catch (error) {
  if (!(error instanceof LockTimeout)) throw error;
  writeSync(1, `timed out: ${error.holder}\n`);
}
// As the plugin: the process ends at once.
system.exit(0);

function waitForEndOfInput(): void {
  while (readSync(0, Buffer.alloc(1)) > 0);
}
