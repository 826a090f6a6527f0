/** Where `gc` gets the live containers from: a list, or the network namespaces. */

import { CommandError, type Context, type Option, UsageError } from "../../cli/command/command.ts";
import type { CompletedProcess, OperatorSystem } from "../../system/operator-system.ts";
import { attempt, isSystemError, type System } from "../../system/system.ts";
import { type LiveList, parseLiveList } from "./live-list.ts";

/** The ids of the live containers, or that their network namespaces are checked. */
export type LiveSource =
  | { readonly kind: "list"; readonly list: LiveList; readonly asOf: number }
  | { readonly kind: "namespaces"; readonly asOf: number };

/** The options for a source; exactly one must be given. */
export const sourceOptions: readonly Option[] = [
  {
    name: "--live",
    value: "FILE",
    summary: "file with the ids of live containers, one per line; - is standard input",
  },
  {
    name: "--live-command",
    value: "COMMAND",
    summary:
      "shell command that prints these ids, such as 'crictl pods -q'; with pipefail where there is one",
  },
  {
    name: "--by-netns",
    summary: "check the network namespaces in libcni's cache instead of a list",
  },
];

/** The largest list, in bytes. */
const LARGEST_LIST = 64 * 1024 * 1024;

/** The timeout for a list from a pipe, in milliseconds. */
const PIPE_TIMEOUT = 10 * 60 * 1000;

/**
 * Checks that at most one source is given, before anything is read.
 *
 * @returns a function to call after the reservations were read, with the time at which reading began; it makes a source
 *   whose `asOf`, in milliseconds since the epoch, is not later. `undefined` if no source is given
 * @throws CommandError if several are given
 */
export function liveSourceOf(context: Context): ((readAt: number) => LiveSource) | undefined {
  const { system, option, has } = context;
  const file = option("--live");
  const command = option("--live-command");
  const given = [file !== undefined, command !== undefined, has("--by-netns")];
  if (given.filter((one) => one).length > 1) {
    throw new UsageError("gc: expected one of --live, --live-command and --by-netns");
  }
  if (has("--by-netns")) return (asOf) => ({ kind: "namespaces", asOf });
  if (command !== undefined) return (asOf) => fromList(runCommand(context, command), asOf);
  if (file === undefined) return undefined;
  if (file === "-") {
    return (asOf) => fromList(readStandardInput(system), timeOfStandardInput(system, asOf));
  }
  return (asOf) => fromFile(system, file, asOf);
}

function fromList(list: LiveList, asOf: number): LiveSource {
  return { kind: "list", list, asOf };
}

/** A file lists what was alive when it was written. */
function fromFile(system: OperatorSystem, path: string, readAt: number): LiveSource {
  const { kind, modified } = system.status(path);
  if (kind === "directory") throw new CommandError(`${path} is a directory`);
  if (kind === "other") {
    const ids = system.readPipe(path, LARGEST_LIST, PIPE_TIMEOUT);
    return fromList(parseLiveList(ids, path), readAt);
  }
  const list = parseLiveList(system.readFile(path, LARGEST_LIST), path);
  return fromList(list, Math.min(readAt, Number(modified / 1_000_000n)));
}

/** Standard input that is redirected from a file has the time of that file. */
function timeOfStandardInput(system: System, readAt: number): number {
  const status = attempt(() => system.status("/dev/stdin"), undefined);
  return status?.kind === "file" ? Math.min(readAt, Number(status.modified / 1_000_000n)) : readAt;
}

function readStandardInput(system: System): LiveList {
  return parseLiveList(system.readStandardInput(LARGEST_LIST, PIPE_TIMEOUT), "standard input");
}

/**
 * Runs a command with `pipefail`, so that a pipeline fails with any of its parts: where /bin/sh does not have it, as
 * dash, by bash.
 */
const WITH_PIPEFAIL = `if (set -o pipefail) 2>/dev/null; then set -o pipefail; eval "$1"
elif command -v bash >/dev/null; then exec bash --posix -o pipefail -c "$1"
else eval "$1"; fi`;

/** @throws CommandError if the command fails, or prints too much: its output may be incomplete */
function runCommand({ system }: Context, command: string): LiveList {
  const { exitCode, stdout } = inShell(system, command);
  if (exitCode !== 0) {
    throw new CommandError(`${command} failed with exit code ${exitCode}; nothing was released`);
  }
  return parseLiveList(stdout, command);
}

function inShell(system: OperatorSystem, command: string): CompletedProcess {
  try {
    return system.run(["/bin/sh", "-c", WITH_PIPEFAIL, "sh", command], LARGEST_LIST);
  } catch (error) {
    if (!isSystemError(error, "EFBIG")) throw error;
    const size = `${LARGEST_LIST / 1024 / 1024} MiB`;
    throw new CommandError(`${command} printed more than ${size}; nothing was released`);
  }
}
