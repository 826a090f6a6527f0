// test: each executable, mounts
/** An ADD that cannot deliver its result releases its own file, not another one with the same inode and date. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "tap";
import { fileSystemObstacle, fileSystems, makeImage } from "../faults/executables/file-systems.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable, run } from "../harness/executable.ts";
import { Mounts } from "../harness/mounts.ts";
import { attachmentCall, configuration } from "../harness/runtime-call.ts";
import { until } from "../harness/until.ts";

/** A full pipe: a writer waits until its reader is gone. */
function fullPipe(path: string): { readonly reader: number; readonly writer: number } {
  spawnSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const filler = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const page = Buffer.alloc(4096);
  try {
    for (;;) writeSync(filler, page);
  } catch {
    closeSync(filler);
  }
  return { reader, writer: openSync(path, constants.O_WRONLY) };
}

const kind = fileSystems.ext4OfSeconds;

test("an ADD that is not heard keeps what its attachment has got since, in the same second", {
  skip: fileSystemObstacle(kind) ?? false,
}, async (t) => {
  const scratch = scratchDirectory(t);
  makeImage(join(scratch, "image"), kind);
  const mounts = await Mounts.open(t.teardown.bind(t));
  const directory = mounts.image("disk", join(scratch, "image"));
  const call = (verb: string) =>
    attachmentCall(
      verb,
      { containerId: "c1" },
      configuration(directory, { subnet: "198.51.100.0/30" }),
    );
  t.equal(run(executable, call("ADD")).exitCode, 0);
  t.equal(run(executable, call("DEL")).exitCode, 0);
  const { reader, writer } = fullPipe(join(scratch, "pipe"));
  // Everything that follows must happen within one second.
  await sleep(1010 - (Date.now() % 1000));
  const unheard = spawn(executable, {
    env: { ...call("ADD").environment },
    stdio: ["pipe", writer, "ignore"],
  });
  closeSync(writer);
  unheard.stdin?.end(call("ADD").stdin);
  const check = () => run(executable, call("CHECK")).exitCode;
  await until("the reservation of the first ADD", () => check() === 0, 20);

  t.equal(run(executable, call("DEL")).exitCode, 0);
  t.equal(run(executable, call("ADD")).exitCode, 0);
  const ended = once(unheard, "exit");
  closeSync(reader);

  t.same((await ended)[0], 1);
  t.equal(check(), 0);
});
