// test: own process
/** Standard input and output of a real process, also where the caller closed them. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { test } from "tap";
import { until } from "../../harness/until.ts";

const program = fileURLToPath(new URL("stream-program.ts", import.meta.url));

/** Runs the program through a shell, which can redirect and close streams. */
function shell(
  script: string,
  input: string,
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = spawnSync(
    "sh",
    ["-c", script, "sh", process.execPath, program],
    { input, encoding: "utf8", env: {} },
  );
  return { status, stdout, stderr };
}

const cases: readonly {
  readonly name: string;
  readonly script: string;
  readonly input?: string;
  readonly expected: object;
}[] = [
  {
    name: "input is read to its end",
    script: '"$1" "$2" read 1000000',
    input: "x".repeat(200_000),
    expected: { status: 0, stdout: "200000", stderr: "" },
  },
  {
    name: "input that comes in pieces is read to its end",
    script: '(printf ab; sleep 0.1; printf cd) | "$1" "$2" read 100',
    expected: { status: 0, stdout: "4", stderr: "" },
  },
  {
    name: "input of more bytes than the limit is an error",
    script: '"$1" "$2" read 3',
    input: "éé",
    expected: { status: 1, stdout: "", stderr: "Error: read /dev/stdin: file too large" },
  },
  {
    name: "a pipe that does not end in time is an error",
    // The shell holds the other end, however long the program takes to start.
    script:
      'f=$(mktemp -u) && mkfifo "$f" && exec 3<>"$f" && rm "$f"; printf ab >&3; "$1" "$2" read 100 300 <&3',
    expected: { status: 1, stdout: "", stderr: "Error: read /dev/stdin: connection timed out" },
  },
  {
    name: "a file is read from where the caller left off",
    script: '(dd bs=2 count=1 2>&-; exec "$1" "$2" read 1000000) <"$2"',
    expected: { status: 0, stdout: `/*${readFileSync(program).length - 2}`, stderr: "" },
  },
  {
    name: "closed input is an error",
    script: '"$1" "$2" read 100 <&-',
    expected: { status: 1, stdout: "", stderr: "Error: read /dev/stdin: bad file descriptor" },
  },
  {
    name: "empty input is not an error",
    script: '"$1" "$2" read 100 </dev/null',
    expected: { status: 0, stdout: "0", stderr: "" },
  },
  {
    name: "a directory as input is an error",
    script: '"$1" "$2" read 100 </',
    expected: { status: 1, stdout: "", stderr: "Error: read /dev/stdin: is a directory" },
  },
  {
    name: "closed output is an error",
    script: '"$1" "$2" write 100 >&-',
    expected: { status: 1, stdout: "", stderr: "Error: write /dev/stdout: bad file descriptor" },
  },
  {
    name: "output that the caller throws away is not an error",
    script: '"$1" "$2" write 100 >/dev/null',
    expected: { status: 0, stdout: "", stderr: "" },
  },
  {
    name: "output to a full device is an error",
    script: '"$1" "$2" write 100 >/dev/full',
    expected: {
      status: 1,
      stdout: "",
      stderr: "Error: write /dev/stdout: no space left on device",
    },
  },
];

for (const { name, script, input, expected } of cases) {
  test(name, (t) => {
    t.same(shell(script, input ?? ""), expected);
    t.end();
  });
}

test("output to a closed pipe is an error, not a signal", (t) => {
  const { stderr } = shell('{ "$1" "$2" write 1000000; } | true', "");

  t.match(stderr, /^Error: write \/dev\/stdout: broken pipe/);
  t.end();
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
