// test: own process
/** What of the standard streams takes long, or another process of the pipe. The rest: test/faults/executables/streams.test.ts. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { test } from "tap";
import { until } from "../../harness/until.ts";

const program = fileURLToPath(new URL("stream-program.ts", import.meta.url));

test("input that does not end in time is an error", async (t) => {
  // The shell holds the other end of the pipe, however long the program takes to start.
  const pipe = 'f=$(mktemp -u) && mkfifo "$f" && exec 3<>"$f" && rm "$f"; printf ab >&3';
  const script = `${pipe}; "$1" "$2" read 100 300 <&3`;

  const { status, stderr } = spawnSync("sh", ["-c", script, "sh", process.execPath, program], {
    encoding: "utf8",
    env: {},
  });

  t.same([status, stderr], [1, "Error: read /dev/stdin: connection timed out"]);
});

test("output is written completely, although the pipe takes only a part at a time", async (t) => {
  const fifo = `${t.testdir()}/fifo`;
  execFileSync("mkfifo", [fifo]);
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  const writer = openSync(fifo, constants.O_WRONLY);
  const waiting = ["-c", 'read -r line; exec "$@"', "sh", process.execPath, program];
  const child = spawn("sh", [...waiting, "write", "300000"], {
    stdio: ["pipe", writer, "inherit"],
  });
  const ended = once(child, "exit");
  // A socket makes its end of the pipe non-blocking for all who share it.
  const socket = new Socket({ fd: writer, readable: false });
  t.teardown(() => socket.destroy());
  child.stdin?.end("\n");

  let length = 0;
  await until("the end of the program", () => {
    length += available(reader);
    return child.exitCode !== null || child.signalCode !== null;
  });
  while (length < 300_000) {
    const more = available(reader);
    if (more === 0) break;
    length += more;
  }

  t.same(await ended, [0, null]);
  t.equal(length, 300_000);
});

/** Reads what is in a pipe now; returns how many bytes that were. */
function available(pipe: number): number {
  const buffer = Buffer.alloc(64 * 1024);
  try {
    return readSync(pipe, buffer);
  } catch {
    return 0;
  }
}
