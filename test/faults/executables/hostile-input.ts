/** Malicious callers: names that lead out of the data directory, and oversized configurations. */

import type { Call } from "../../harness/executable.ts";
import { attachmentCall } from "../../harness/runtime-call.ts";
import { requireAnswer, requireFailure } from "./answers.ts";
import { ambiguous, bombs, deepJson, type HostileText, written } from "./hostile-values.ts";
import { throughShell } from "./pipes.ts";
import { callWithin, type Ending } from "./running-call.ts";
import { Sandbox } from "./sandbox.ts";
import { type Case, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** In milliseconds, on a busy machine: a mebibyte takes a fraction of a second, tens of them some seconds. */
const longest = { short: 60_000, full: 60_000, exhaustive: 180_000 };

const commands = ["ADD", "DEL", "CHECK"] as const;

const leadingElsewhere = [
  "..",
  ".",
  "../net",
  "../../sentinel",
  "net/../../elsewhere/net",
  "/tmp",
  ".host-local",
  "..%2fnet",
  "net\\..\\..",
  "net\n",
  "ＮＥＴ",
  "\u202etxt",
];

/** An environment variable with an oversized value. */
interface HostileVariable extends Case {
  readonly environment: Readonly<Record<string, string>>;
}

const LONG = 100 * 1024;

const longVariables: readonly HostileVariable[] = [
  { what: "a container id of 100 KiB", environment: { CNI_CONTAINERID: "a".repeat(LONG) } },
  { what: "a container id of 300 letters", environment: { CNI_CONTAINERID: "a".repeat(300) } },
  { what: "an interface of 100 KiB", environment: { CNI_IFNAME: "a".repeat(LONG) } },
  { what: "100 KiB as one argument", environment: { CNI_ARGS: "a".repeat(LONG) } },
  { what: "100 KiB of arguments", environment: { CNI_ARGS: "a=b;".repeat(LONG / 4) } },
  {
    what: "100 KiB of ignored arguments",
    environment: { CNI_ARGS: `IgnoreUnknown=1;${"a=b;".repeat(LONG / 4 - 10)}a=b` },
  },
  { what: "100 KiB as address", environment: { CNI_ARGS: `IP=${":".repeat(LONG)}` } },
  { what: "100 KiB as network namespace", environment: { CNI_NETNS: "/n".repeat(LONG / 2) } },
];

interface HostileCall extends Case {
  readonly call: () => Call;
}

function add({ what, text }: HostileText): HostileCall {
  return { what, call: () => ({ ...attach("ADD"), stdin: text() }) };
}

function withVariables({ what, environment }: HostileVariable): HostileCall {
  const call = attach("ADD");
  return {
    what,
    call: () => ({ ...call, environment: { ...call.environment, ...environment } }),
  };
}

/** Each name in each place, for each verb that takes it. */
function escapes(): readonly HostileCall[] {
  return commands.flatMap((command) =>
    leadingElsewhere.flatMap((name) => {
      const good = attach(command);
      const changed = (variable: string): HostileCall => ({
        what: `${command}, ${variable} ${JSON.stringify(name)}`,
        call: () => ({ ...good, environment: { ...good.environment, [variable]: name } }),
      });
      const named: HostileCall = {
        what: `${command}, name ${JSON.stringify(name)}`,
        call: () => ({ ...good, stdin: written({}, { name }) }),
      };
      const isInterface = !/[/\s]|^\.\.?$/.test(name) && Buffer.byteLength(name) < 16;
      return [named, changed("CNI_CONTAINERID"), ...(isInterface ? [] : [changed("CNI_IFNAME")])];
    }),
  );
}

function attach(command: (typeof commands)[number]): Call {
  return { ...attachmentCall(command, { containerId: "c9" }, {}), stdin: written({}) };
}

/** In a sandbox, which it must not leave. */
async function attempt(
  trial: Trial,
  { what, call }: HostileCall,
  stackKibibytes?: number,
): Promise<Ending> {
  const { verifier, subject, extent } = trial;
  const sandbox = new Sandbox(trial);
  const limit = longest[extent];
  const made = { ...call(), workingDirectory: sandbox.directory };
  const ending = await (stackKibibytes === undefined
    ? callWithin(subject.path, made, { limit })
    : throughShell(`ulimit -s ${stackKibibytes}; exec "$0"`, made, subject, limit));
  requireAnswer(verifier, ending, what);
  sandbox.mustBeKept(verifier);
  return ending;
}

async function refuse(trial: Trial, call: HostileCall): Promise<void> {
  requireFailure(trial.verifier, await attempt(trial, call), call.what);
}

const atOnce = { atOnce: 2 };

export const hostileInputScenarios: readonly Scenario[] = [
  {
    fault: "Network name, container id or interface that try to leave the data directory",
    promise: "one error JSON, exit 1, nothing outside the data directory is touched",
    attempt: eachOf(escapes(), refuse, atOnce),
  },
  {
    fault: "JSON 100000 deep, a million ranges, strings of 10 MiB",
    promise: "one JSON document, in a time proportionate to the size",
    attempt: eachOf(({ extent }) => bombs(extent).map(add), attempt, atOnce),
  },
  {
    fault: "Deep JSON and a small stack: 256 KiB, portable 1 MiB, which Node.js needs",
    promise: "one JSON document, no crash",
    attempt: eachOf(
      deepJson.map(add),
      (trial, call) => attempt(trial, call, trial.subject.name === "portable" ? 1024 : 256),
      atOnce,
    ),
  },
  {
    fault:
      "__proto__, repeated keys, lone surrogates, numbers beyond 2^53, ranges of 2^32 and 2^128",
    promise: "one JSON document, nothing outside the data directory is touched",
    attempt: eachOf(ambiguous.map(add), attempt, atOnce),
  },
  {
    fault: "Container id, interface, CNI_ARGS and CNI_NETNS of 100 KiB",
    promise: "one JSON document, no crash",
    attempt: eachOf(longVariables.map(withVariables), attempt, atOnce),
  },
];
