/** Faults of standard input. */

import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { scratchDirectory } from "../../harness/data-directory.ts";
import type { Call } from "../../harness/executable.ts";
import { attachmentCall, configuration } from "../../harness/runtime-call.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { verifyRefusal, verifySuccess } from "./answer.ts";
import { callWithin, type Ending } from "./running-call.ts";
import { shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";

/** A call with some input, and how it is started. */
interface Case {
  readonly what: string;
  readonly start: (call: Call, context: Context) => Promise<Ending>;
}

const MEBIBYTE = 1024 * 1024;

/** The largest configuration that is read. */
const LARGEST = 64 * MEBIBYTE;

/** For calls that should end at once, on a machine that is busy. */
const SOON = 60_000;

/** For an input that never ends: a minute, and what a busy machine adds. */
const AFTER_A_MINUTE = 90_000;

export const inputScenarios: readonly Scenario[] = [
  {
    fault: "Standard input is closed, empty, a directory, cut off, or not UTF-8 where it matters",
    promise: "one error JSON, exit 1, nothing reserved",
    attempt: (context) => attempts(context, noConfiguration, verifyRefusal, []),
  },
  {
    fault:
      "The configuration comes byte by byte, in a file, with bytes that are not UTF-8, or has 64 MiB",
    promise: "the call is served",
    attempt: (context) => attempts(context, strangeWays, verifySuccess, ["10.0.0.2"]),
  },
  {
    fault: "Standard input never ends",
    promise: "one error JSON within a minute or after 64 MiB, exit 1, nothing reserved",
    attempt: (context) => attempts(context, endless(context), verifyRefusal, []),
  },
];

const noConfiguration: readonly Case[] = [
  { what: "closed", start: (call, context) => throughShell('exec "$0" <&-', call, context) },
  { what: "empty", start: (call, context) => throughPipes({ ...call, stdin: "" }, context) },
  { what: "/dev/null", start: (call, context) => fromFile("/dev/null", call, context) },
  { what: "a directory", start: (call, context) => fromFile("/", call, context) },
  {
    what: "cut off",
    start: (call, context) => throughPipes({ ...call, stdin: call.stdin.slice(0, -3) }, context),
  },
  {
    what: "a name that is not UTF-8",
    start: (call, context) => throughPipes(spoil(call), context),
  },
];

const strangeWays: readonly Case[] = [
  { what: "byte by byte", start: byteByByte },
  {
    what: "in a file",
    start: (call, context) => throughShell('cat >input; exec "$0" <input', call, context),
  },
  {
    what: "in a file whose beginning somebody else read",
    start: (call, context) =>
      throughShell(
        '{ printf "not for you"; cat; } >input; { dd bs=11 count=1 of=/dev/null; exec "$0"; } <input 2>/dev/null',
        call,
        context,
      ),
  },
  {
    what: "with bytes that are no UTF-8 in a member that nobody reads",
    start: (call, context) => {
      const text = String(call.stdin).replace("{", '{"note":"\xff\xfe\x80",');
      return throughPipes({ ...call, stdin: Buffer.from(text, "latin1") }, context);
    },
  },
  {
    what: "64 MiB of blanks before it",
    start: (call, context) => throughPipes(padded(call), context),
  },
];

function endless({ extent }: Context): readonly Case[] {
  const always: readonly Case[] = [
    {
      what: "more than 64 MiB and no end",
      start: (call, context) => openPipe(tooLong(call), context),
    },
  ];
  if (extent !== "exhaustive") return always;
  return [
    ...always,
    {
      what: "nothing is written",
      start: (call, context) => openPipe({ ...call, stdin: "" }, context),
    },
    { what: "the whole configuration and no end", start: openPipe },
  ];
}

function attempts(
  context: Context,
  cases: readonly Case[],
  decide: (outcome: Ending, verifier: Verifier) => void,
  reserved: readonly string[],
): Promise<readonly Attempt[]> {
  // Several at once, since some wait for a minute.
  return sideBySide(shortSampleOf(context, cases), 3, async ({ what, start }) => {
    const directory = scratchDirectory(context);
    const { cniVersion } = context.subject;
    const document = configuration("data", { subnet: "10.0.0.0/29" }, { cniVersion });
    const call = attachmentCall("ADD", { containerId: "c1" }, document);
    const verifier = new Verifier();
    decide(await start({ ...call, workingDirectory: directory }, context), verifier);
    const found = reservedIn(directory);
    const isRight = found.join() === reserved.join();
    verifier.require(isRight, reserved.length === 0 ? "kept" : "refused", `reserved: ${found}`);
    return { what, violations: verifier.violations };
  });
}

function reservedIn(directory: string): readonly string[] {
  const { stdout } = spawnSync("sh", ["-c", "ls -1 data/net 2>/dev/null"], {
    cwd: directory,
    encoding: "utf8",
  });
  return stdout.split("\n").filter((name) => /^\d+\./.test(name));
}

function throughPipes(call: Call, { subject }: Context): Promise<Ending> {
  return callWithin(subject.path, call, { limit: SOON });
}

/** The script's `$0` is the plugin. */
function throughShell(script: string, call: Call, { subject }: Context): Promise<Ending> {
  const shell = { ...call, arguments: ["-c", script, subject.path] };
  return callWithin("/bin/sh", shell, { limit: SOON });
}

async function fromFile(path: string, call: Call, { subject }: Context): Promise<Ending> {
  const file = openSync(path, constants.O_RDONLY);
  try {
    const stdio = [file, "pipe", "pipe"] as const;
    return await callWithin(subject.path, call, { limit: SOON, stdio: [...stdio] });
  } finally {
    closeSync(file);
  }
}

async function byteByByte(call: Call, context: Context): Promise<Ending> {
  return withPipe(context, async (reader, writer) => {
    const stdio = [reader, "pipe", "pipe"] as const;
    const answer = callWithin(context.subject.path, call, {
      limit: SOON,
      stdio: [...stdio],
    });
    for (const byte of Buffer.from(call.stdin)) {
      writeSync(writer, Buffer.of(byte));
      await setImmediate();
    }
    closeSync(writer);
    return answer;
  });
}

/** Writes the call's input into a pipe and leaves it open. */
async function openPipe(call: Call, context: Context): Promise<Ending> {
  return withPipe(context, async (reader, writer) => {
    const stdio = [reader, "pipe", "pipe"] as const;
    const limits = { limit: AFTER_A_MINUTE, stdio: [...stdio] };
    let ended = false;
    const answer = callWithin(context.subject.path, call, limits).finally(() => {
      ended = true;
    });
    const bytes = Buffer.from(call.stdin);
    for (let at = 0; at < bytes.length && !ended; ) {
      at += writtenNow(writer, bytes.subarray(at, at + 64 * 1024));
      await setImmediate();
    }
    const outcome = await answer;
    closeSync(writer);
    return outcome;
  });
}

async function withPipe<T>(
  context: Context,
  use: (reader: number, writer: number) => Promise<T>,
): Promise<T> {
  const path = join(scratchDirectory(context), "pipe");
  spawnSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  // What the plugin gets is a pipe that blocks, as from a runtime.
  const given = openSync(path, constants.O_RDONLY);
  closeSync(reader);
  try {
    return await use(given, writer);
  } finally {
    closeSync(given);
  }
}

/** How many bytes the pipe took. */
function writtenNow(writer: number, bytes: Buffer): number {
  try {
    return writeSync(writer, bytes);
  } catch {
    return 0;
  }
}

function padded(call: Call): Call {
  const blanks = Buffer.alloc(LARGEST - Buffer.byteLength(call.stdin), " ");
  return { ...call, stdin: Buffer.concat([blanks, Buffer.from(call.stdin)]) };
}

function tooLong(call: Call): Call {
  return { ...call, stdin: Buffer.concat([Buffer.alloc(LARGEST, " "), Buffer.from(call.stdin)]) };
}

function spoil(call: Call): Call {
  const text = String(call.stdin).replace('"net"', '"n\xfft"');
  return { ...call, stdin: Buffer.from(text, "latin1") };
}
