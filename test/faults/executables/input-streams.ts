/** Faults of standard input. */

import { closeSync, constants, openSync, readdirSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { scratchDirectory } from "../../harness/data-directory.ts";
import type { Call } from "../../harness/executable.ts";
import { attachmentCall, configuration } from "../../harness/runtime-call.ts";
import { requireFailure, requireSuccess } from "./answers.ts";
import { openPipe, throughShell } from "./pipes.ts";
import { callWithin, type Ending } from "./running-call.ts";
import { type Case, type Context, eachOf, type Scenario, type Trial } from "./scenario.ts";
import type { Subject } from "./subject.ts";

/** A call with some input, and how it is started. */
interface Input extends Case {
  readonly start: (call: Call, trial: Trial) => Promise<Ending>;
}

const MEBIBYTE = 1024 * 1024;

/** The largest configuration that is read. */
const LARGEST = 64 * MEBIBYTE;

/** For calls that should end at once, on a machine that is busy. */
const SOON = 60_000;

/** For an input that never ends: a minute, and what a busy machine adds. */
const AFTER_A_MINUTE = 90_000;

const noConfiguration: readonly Input[] = [
  { what: "closed", start: (call, { subject }) => throughShell('exec "$0" <&-', call, subject) },
  { what: "empty", start: (call, { subject }) => throughPipes({ ...call, stdin: "" }, subject) },
  { what: "/dev/null", start: (call, { subject }) => fromFile("/dev/null", call, subject) },
  { what: "a directory", start: (call, { subject }) => fromFile("/", call, subject) },
  {
    what: "cut off",
    start: (call, { subject }) =>
      throughPipes({ ...call, stdin: call.stdin.slice(0, -3) }, subject),
  },
  {
    what: "a name that is not UTF-8",
    start: (call, { subject }) => throughPipes(spoil(call), subject),
  },
];

const strangeWays: readonly Input[] = [
  { what: "byte by byte", start: byteByByte },
  {
    what: "in a file",
    start: (call, { subject }) => throughShell('cat >input; exec "$0" <input', call, subject),
  },
  {
    what: "in a file whose beginning somebody else read",
    start: (call, { subject }) =>
      throughShell(
        '{ printf "not for you"; cat; } >input; { dd bs=11 count=1 of=/dev/null; exec "$0"; } <input 2>/dev/null',
        call,
        subject,
      ),
  },
  {
    what: "with bytes that are no UTF-8 in a member that nobody reads",
    start: (call, { subject }) => {
      const text = String(call.stdin).replace("{", '{"note":"\xff\xfe\x80",');
      return throughPipes({ ...call, stdin: Buffer.from(text, "latin1") }, subject);
    },
  },
  {
    what: "64 MiB of blanks before it",
    start: (call, { subject }) => throughPipes(padded(call), subject),
  },
];

function endless({ extent }: Context): readonly Input[] {
  const tooMuch = {
    what: "more than 64 MiB and no end",
    start: (call: Call, trial: Trial) => leftOpen(tooLong(call), trial),
  };
  if (extent !== "exhaustive") return [tooMuch];
  return [
    tooMuch,
    {
      what: "nothing is written",
      start: (call, trial) => leftOpen({ ...call, stdin: "" }, trial),
    },
    { what: "the whole configuration and no end", start: leftOpen },
  ];
}

/** An ADD with this input. */
async function attempt(
  trial: Trial,
  { start }: Input,
  decide: (ending: Ending) => void,
  reserved: readonly string[],
): Promise<void> {
  const directory = scratchDirectory(trial);
  const { cniVersion } = trial.subject;
  const document = configuration("data", { subnet: "10.0.0.0/29" }, { cniVersion });
  const call = attachmentCall("ADD", { containerId: "c1" }, document);
  decide(await start({ ...call, workingDirectory: directory }, trial));
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const found = files.filter((path) => /^data\/net\/\d+\./.test(path));
  const isRight = found.join() === reserved.join();
  const kind = reserved.length === 0 ? "kept" : "refused";
  trial.verifier.require(isRight, kind, `reserved: ${found}`);
}

function refused(trial: Trial, input: Input): Promise<void> {
  return attempt(trial, input, (ending) => requireFailure(trial.verifier, ending, "ADD"), []);
}

function served(trial: Trial, input: Input): Promise<void> {
  const decide = (ending: Ending): void => requireSuccess(trial.verifier, ending, "ADD");
  return attempt(trial, input, decide, ["data/net/10.0.0.2"]);
}

function throughPipes(call: Call, { path }: Subject): Promise<Ending> {
  return callWithin(path, call, { limit: SOON });
}

async function fromFile(file: string, call: Call, { path }: Subject): Promise<Ending> {
  const opened = openSync(file, constants.O_RDONLY);
  try {
    return await callWithin(path, call, { limit: SOON, stdio: [opened, "pipe", "pipe"] });
  } finally {
    closeSync(opened);
  }
}

async function byteByByte(call: Call, trial: Trial): Promise<Ending> {
  const { reader, writer } = openPipe(trial);
  const stdio = [reader, "pipe" as const, "pipe" as const];
  const answer = callWithin(trial.subject.path, call, { limit: SOON, stdio });
  for (const byte of Buffer.from(call.stdin)) {
    writeSync(writer, Buffer.of(byte));
    await setImmediate();
  }
  closeSync(writer);
  closeSync(reader);
  return answer;
}

/** Writes the call's input into a pipe and leaves it open. */
async function leftOpen(call: Call, trial: Trial): Promise<Ending> {
  const { reader, writer } = openPipe(trial);
  const socket = new Socket({ fd: writer, readable: false });
  socket.write(call.stdin);
  const ending = await callWithin(trial.subject.path, call, {
    limit: AFTER_A_MINUTE,
    stdio: [reader, "pipe", "pipe"],
  });
  socket.destroy();
  closeSync(reader);
  return ending;
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

export const inputScenarios: readonly Scenario[] = [
  {
    fault: "Standard input is closed, empty, a directory, cut off, or not UTF-8 where it matters",
    promise: "one error JSON, exit 1, nothing reserved",
    attempt: eachOf(noConfiguration, refused),
  },
  {
    fault:
      "The configuration comes byte by byte, in a file, with bytes that are not UTF-8, or has 64 MiB",
    promise: "the call is served",
    attempt: eachOf(strangeWays, served),
  },
  {
    fault: "Standard input never ends",
    promise: "one error JSON within a minute or after 64 MiB, exit 1, nothing reserved",
    attempt: eachOf(endless, refused),
  },
];
