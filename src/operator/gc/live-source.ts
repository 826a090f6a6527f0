/** Where `gc` gets the live containers from. */

import { parentOf } from "../../store/location.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError, type System } from "../../system/system.ts";
import { CommandError, type Context, type Option } from "../command/command.ts";
import { containerOf, interfaceOf, type NodeReservation } from "../node/node-reservations.ts";
import { type CachedAttachment, cacheDirOf, readResultsCache } from "../node/results-cache.ts";
import { type LiveList, parseLiveList } from "./live-list.ts";

/** Whether the container of a reservation is alive. `unknown` ones are kept. */
export type Liveness = "alive" | "dead" | "unknown";

/** A source of liveness. */
export interface LiveSource {
  /** The time of its data, in milliseconds since the epoch; not after the reservations were read. */
  readonly asOf: number;
  /** Whether nothing at all is alive, which is more likely a failure. */
  readonly isEmpty: boolean;
  readonly livenessOf: (reservation: NodeReservation) => Liveness;
}

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
    summary: "shell command that prints these ids, such as 'crictl pods -q'",
  },
  {
    name: "--by-netns",
    summary: "check the network namespaces in libcni's cache instead of a list",
  },
];

/** The largest list, in bytes. */
const LARGEST_LIST = 64 * 1024 * 1024;

/** The timeout for a list on standard input, in milliseconds. */
const STDIN_TIMEOUT = 10 * 60 * 1000;

/**
 * Checks that exactly one source is given, before anything is read.
 *
 * @returns a function to call after the reservations were read, with the time at which reading began
 * @throws CommandError if none or several are given
 */
export function liveSourceOf(context: Context): (readAt: number) => LiveSource {
  const { system, option, has } = context;
  const file = option("--live");
  const command = option("--live-command");
  const given = [file !== undefined, command !== undefined, has("--by-netns")];
  if (given.filter((one) => one).length !== 1) {
    throw new CommandError("gc: expected one of --live, --live-command and --by-netns");
  }
  if (has("--by-netns")) return (asOf) => fromNamespaces(system, cacheDirOf(context), asOf);
  if (command !== undefined) return (asOf) => fromList(runCommand(context, command), asOf);
  if (file === "-")
    return (asOf) => fromList(readStandardInput(system), timeOfStandardInput(system, asOf));
  return (asOf) => fromFile(system, file ?? "", asOf);
}

/** A file lists what was alive when it was written. */
function fromFile(system: System, path: string, readAt: number): LiveSource {
  const { kind, modified } = system.status(path);
  if (kind !== "file")
    throw new CommandError(`${path} is not a regular file; use --live - for a pipe`);
  const list = parseLiveList(system.readFile(path, LARGEST_LIST), path);
  return fromList(list, Math.min(readAt, Number(modified / 1_000_000n)));
}

/** Standard input that is redirected from a file has the time of that file. */
function timeOfStandardInput(system: System, readAt: number): number {
  try {
    const { kind, modified } = system.status("/dev/stdin");
    return kind === "file" ? Math.min(readAt, Number(modified / 1_000_000n)) : readAt;
  } catch (error) {
    if (isSystemError(error)) return readAt;
    throw error;
  }
}

function readStandardInput(system: System): LiveList {
  return parseLiveList(system.readStandardInput(LARGEST_LIST, STDIN_TIMEOUT), "standard input");
}

/** @throws CommandError if the command fails: its output may be incomplete */
function runCommand({ system }: Context, command: string): LiveList {
  const { exitCode, stdout } = system.run(["/bin/sh", "-c", command], LARGEST_LIST);
  if (exitCode !== 0) {
    throw new CommandError(`${command} failed with exit code ${exitCode}; nothing was released`);
  }
  return parseLiveList(stdout, command);
}

function fromList(list: LiveList, asOf: number): LiveSource {
  return {
    asOf,
    isEmpty: list.size === 0,
    livenessOf: ({ owner }) => (list.has(containerOf(owner)) ? "alive" : "dead"),
  };
}

/** A reservation that is not in the cache may belong to another runtime, and is `unknown`. */
function fromNamespaces(system: OperatorSystem, cacheDir: string, asOf: number): LiveSource {
  const attachments = new Map<string, CachedAttachment[]>();
  for (const attachment of readResultsCache(system, cacheDir)) {
    const key = keyOf(attachment.network, attachment.containerId);
    attachments.set(key, [...(attachments.get(key) ?? []), attachment]);
  }
  return {
    asOf,
    isEmpty: false,
    livenessOf: (reservation) => {
      const key = keyOf(reservation.network.location.network, containerOf(reservation.owner));
      const own = (attachments.get(key) ?? []).filter(
        ({ interfaceName }) =>
          reservation.owner.kind === "legacy" || interfaceName === interfaceOf(reservation.owner),
      );
      if (own.length === 0) return "unknown";
      const livenesses = own.map(({ networkNamespace }) =>
        livenessOfNamespace(system, networkNamespace),
      );
      if (livenesses.includes("alive")) return "alive";
      return livenesses.includes("unknown") ? "unknown" : "dead";
    },
  };
}

/**
 * A network namespace is alive while it is mounted at its path, or belongs to a process. A file without a mount proves
 * nothing: in a container, later mounts of the host look the same.
 */
function livenessOfNamespace(system: System, path: string): Liveness {
  if (!path.startsWith("/")) return "unknown";
  try {
    return isNamespace(system, path) ? "alive" : "unknown";
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return livenessOfMissing(system, path);
    if (isSystemError(error)) return "unknown";
    throw error;
  }
}

/** A namespace file is on a different device than its directory. */
function isNamespace(system: System, path: string): boolean {
  return system.status(path).device !== system.status(parentOf(path)).device;
}

/** The kernel's fixed name of the host's PID namespace. */
const HOST_PID_NAMESPACE = "pid:[4026531836]";

/**
 * A missing namespace is dead only if others are visible: in the host's PID namespace, or in a directory where other
 * namespaces are mounted. Otherwise we may run in a container that sees none.
 */
function livenessOfMissing(system: System, path: string): Liveness {
  try {
    if (/^\/proc\/[0-9]+\//.test(path)) {
      return system.readLink("/proc/self/ns/pid") === HOST_PID_NAMESPACE ? "dead" : "unknown";
    }
    const directory = parentOf(path);
    const others = system.list(directory).map((name) => `${directory}/${name}`);
    return others.some((other) => isNamespace(system, other)) ? "dead" : "unknown";
  } catch (error) {
    if (isSystemError(error)) return "unknown";
    throw error;
  }
}

function keyOf(network: string, containerId: string): string {
  return `${network}/${containerId}`;
}
