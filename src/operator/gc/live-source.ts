/** The lists of live containers that `gc` is given. */

import { type Context, type Option, OptionError } from "../../cli/command/command.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, type System } from "../../system/system.ts";
import { joined, type LiveList, parseLiveList } from "./live-list.ts";

/** The ids of the live containers, if there is a list, and of when what is known of the containers is. */
export interface LiveSource {
  readonly list: LiveList | undefined;
  /** The time of the list, in milliseconds since the epoch. */
  readonly asOf: number;
}

/** The options for a list. */
export const sourceOptions: readonly Option[] = [
  {
    name: "--live-command",
    value: "COMMAND",
    isRepeatable: true,
    summary: "command that prints the ids of live containers; give one for each runtime",
  },
  {
    name: "--live",
    value: "FILE",
    summary: "file with these ids, one per line; - is standard input",
  },
];

/** The largest list, in bytes. */
const LARGEST_LIST = 64 * 1024 * 1024;

/** The timeout for a list from a pipe, in milliseconds. */
const PIPE_TIMEOUT = 10 * 60 * 1000;

/**
 * Reads the lists that were given, after the reservations.
 *
 * @param readAt when reading began: the source is not later
 */
export function readLiveSource(context: Context, readAt: number): LiveSource {
  const { system, option, values } = context;
  const file = option("--live");
  const commands = values("--live-command");
  if (file === "-") return fromStandardInput(system, readAt);
  if (file !== undefined) return fromFile(system, file, readAt);
  if (commands.length === 0) return { list: undefined, asOf: readAt };
  return { list: joined(commands.map((one) => runCommand(context, one))), asOf: readAt };
}

/** A file lists what was alive when it was written. */
function fromFile(system: OperatorSystem, path: string, readAt: number): LiveSource {
  const { kind, modified } = system.status(path);
  if (kind === "directory") throw new OptionError(`--live: ${path} is a directory`);
  if (kind === "other") {
    const ids = system.readPipe(path, LARGEST_LIST, PIPE_TIMEOUT);
    return { list: parseLiveList(ids, path), asOf: readAt };
  }
  const list = parseLiveList(system.readFile(path, LARGEST_LIST), path);
  return { list, asOf: Math.min(readAt, Number(modified / 1_000_000n)) };
}

/** Standard input that is redirected from a file has the time of that file. */
function fromStandardInput(system: System, readAt: number): LiveSource {
  const ids = system.readStandardInput(LARGEST_LIST, PIPE_TIMEOUT);
  const status = attempt(() => system.status("/dev/stdin"), undefined);
  const written = status?.kind === "file" ? Number(status.modified / 1_000_000n) : readAt;
  return { list: parseLiveList(ids, "standard input"), asOf: Math.min(readAt, written) };
}

/**
 * Runs a command with `pipefail`, so that a pipeline fails with any of its parts: where /bin/sh does not have it, as
 * dash, by bash.
 */
const WITH_PIPEFAIL = `if (set -o pipefail) 2>/dev/null; then set -o pipefail; eval "$1"
elif command -v bash >/dev/null; then exec bash --posix -o pipefail -c "$1"
else eval "$1"; fi`;

/** @throws OptionError if the command fails, or prints too much: its output may be incomplete */
function runCommand({ system }: Context, command: string): LiveList {
  const completed = attempt(
    () => system.run(["/bin/sh", "-c", WITH_PIPEFAIL, "sh", command], LARGEST_LIST),
    undefined,
    "EFBIG",
  );
  if (completed === undefined) {
    const size = `${LARGEST_LIST / 1024 / 1024} MiB`;
    throw new OptionError(
      `--live-command: ${command} printed more than ${size}; nothing was released`,
    );
  }
  const { exitCode, stdout } = completed;
  if (exitCode !== 0) {
    throw new OptionError(
      `--live-command: ${command} failed with exit code ${exitCode}; nothing was released`,
    );
  }
  return parseLiveList(stdout, command);
}
