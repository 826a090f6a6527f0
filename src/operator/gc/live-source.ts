/** The lists of live containers that `gc` is given. */

import { type Context, type Option, OptionError } from "../../cli/command/command.ts";
import { timeText } from "../../cli/output/time.ts";
import { isAhead } from "../../store/reservations/age.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, type System } from "../../system/system.ts";
import { type LiveList, parseLiveLists } from "./live-list.ts";

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
  const path = context.option("--live");
  if (path !== undefined) return readFile(context.system, path, readAt);
  const commands = context.values("--live-command");
  if (commands.length === 0) return { list: undefined, asOf: readAt };
  const printed = commands.map((source) => ({ source, text: outputOf(context, source) }));
  return { list: parseLiveLists(...printed), asOf: readAt };
}

/** A file lists what was alive when it was written, also as standard input. */
function readFile(system: OperatorSystem, path: string, readAt: number): LiveSource {
  const isInput = path === "-";
  const source = isInput ? "standard input" : path;
  const status = isInput
    ? attempt(() => system.status("/dev/stdin"), undefined)
    : system.status(path);
  if (status?.kind === "directory") throw new OptionError(`--live: ${source} is a directory`);
  const isFile = status?.kind === "file";
  const written = isFile ? dateOf(system, source, status.modified) : readAt;
  const text = isInput
    ? system.readStandardInput(LARGEST_LIST, PIPE_TIMEOUT)
    : isFile
      ? system.readFile(path, LARGEST_LIST)
      : system.readPipe(path, LARGEST_LIST, PIPE_TIMEOUT);
  return { list: parseLiveLists({ source, text }), asOf: Math.min(readAt, written) };
}

/**
 * When a file was written, in milliseconds since the epoch.
 *
 * @param modified in nanoseconds since the epoch
 * @throws OptionError if the clock was ahead then: what was made since would count as dead
 */
function dateOf(system: System, name: string, modified: bigint): number {
  const written = Number(modified / 1_000_000n);
  if (!isAhead(written, system.now())) return written;
  throw new OptionError(
    `--live: ${name} is dated ahead of the clock, ${timeText(written)}, so it is not known how old it is; nothing was released. Write it again`,
  );
}

/**
 * Runs a command with `pipefail`, so that a pipeline fails with any of its parts; bash runs it where /bin/sh (dash) lacks that.
 */
const WITH_PIPEFAIL = `if (set -o pipefail) 2>/dev/null; then set -o pipefail; eval "$1"
elif command -v bash >/dev/null; then exec bash --posix -o pipefail -c "$1"
else eval "$1"; fi`;

/** @throws OptionError if the command fails, or prints too much: its output may be incomplete */
function outputOf({ system }: Context, command: string): string {
  const completed = attempt(
    () => system.run(["/bin/sh", "-c", WITH_PIPEFAIL, "sh", command], LARGEST_LIST),
    undefined,
    "EFBIG",
  );
  if (completed?.exitCode === 0) return completed.stdout;
  const failure =
    completed === undefined
      ? `printed more than ${LARGEST_LIST / 1024 / 1024} MiB`
      : `failed with exit code ${completed.exitCode}`;
  throw new OptionError(`--live-command: ${command} ${failure}; nothing was released`);
}
