/** Where `gc` learns which containers are alive. */

import { parentOf } from "../../store/location.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError, type System } from "../../system/system.ts";
import { CommandError, type Context, type Option } from "../command/command.ts";
import { containerOf, interfaceOf, type NodeReservation } from "../node/node-reservations.ts";
import { type CachedAttachment, cacheDirOf, readResultsCache } from "../node/results-cache.ts";
import { type LiveList, parseLiveList } from "./live-list.ts";

/** `unknown`: this source cannot tell, and the reservation is kept. */
export type Liveness = "alive" | "dead" | "unknown";

/** What a source says. */
export interface LiveSource {
  /** When it was true, in milliseconds since the epoch; no later than the reservations were read. */
  readonly asOf: number;
  /** Nothing is alive at all: more likely a failure than the truth. */
  readonly isEmpty: boolean;
  readonly livenessOf: (reservation: NodeReservation) => Liveness;
}

/** The options that name a source; exactly one is given. */
export const sourceOptions: readonly Option[] = [
  { name: "--live", value: "FILE", summary: "ids of the living, one a line; - is standard input" },
  {
    name: "--live-command",
    value: "COMMAND",
    summary: "a shell command that prints them, such as 'crictl pods -q'",
  },
  {
    name: "--by-netns",
    summary: "ask the network namespaces that libcni's cache names, instead of a list",
  },
];

const LARGEST_LIST = 64 * 1024 * 1024;

/** Whoever lists live ids on standard input is waited for so long, in milliseconds. */
const LONGEST_LISTING = 10 * 60 * 1000;

/**
 * Checks that one source is named, before anything is read.
 *
 * @returns to be called once the reservations have been read, with the time at which that began
 * @throws CannotLook where none or several are named
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
  if (file === "-") return (asOf) => fromList(readStandardInput(system), ageOfInput(system, asOf));
  return (asOf) => fromFile(system, file ?? "", asOf);
}

/** A file tells what was alive when it was written, not now. */
function fromFile(system: System, path: string, readAt: number): LiveSource {
  const { kind, modified } = system.status(path);
  if (kind !== "file") throw new CommandError(`${path} is no file; use --live - with a pipe`);
  const list = parseLiveList(system.readFile(path, LARGEST_LIST), path);
  return fromList(list, Math.min(readAt, Number(modified / 1_000_000n)));
}

/** A file as standard input is as old as any other file. */
function ageOfInput(system: System, readAt: number): number {
  try {
    const { kind, modified } = system.status("/dev/stdin");
    return kind === "file" ? Math.min(readAt, Number(modified / 1_000_000n)) : readAt;
  } catch (error) {
    if (isSystemError(error)) return readAt;
    throw error;
  }
}

function readStandardInput(system: System): LiveList {
  return parseLiveList(system.readStandardInput(LARGEST_LIST, LONGEST_LISTING), "standard input");
}

/** @throws CannotLook where the command fails: what it printed before is not to be trusted */
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

/** A reservation whose attachment the cache does not know may be anybody's. */
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
 * A network namespace lives while something is mounted at its path, or while it is the one of a process. A file with
 * nothing mounted on it tells nothing: from within a container, what was mounted on the host later looks just so.
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

/** Such a file is on another device than its directory. */
function isNamespace(system: System, path: string): boolean {
  return system.status(path).device !== system.status(parentOf(path)).device;
}

/** The kernel's own number for the process ids of the host. */
const HOST_PROCESSES = "pid:[4026531836]";

/**
 * What is missing is dead only where the others are seen: among the processes of the host, or in a directory in which
 * other namespaces are mounted. Else we may be in a container that does not see any.
 */
function livenessOfMissing(system: System, path: string): Liveness {
  try {
    if (/^\/proc\/[0-9]+\//.test(path)) {
      return system.readLink("/proc/self/ns/pid") === HOST_PROCESSES ? "dead" : "unknown";
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
