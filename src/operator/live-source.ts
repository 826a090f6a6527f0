/** Where `gc` learns which containers are alive. */

import { parentOf } from "../store/location.ts";
import type { OperatorSystem } from "../system/operator-system.ts";
import { isSystemError, type System } from "../system/system.ts";
import { CannotLook, type Context, type Option } from "./command.ts";
import { containerOf, type Item, interfaceOf } from "./inventory.ts";
import { type LiveList, parseLiveList } from "./live-list.ts";
import { type CachedAttachment, cacheDirOf, readResultsCache } from "./results-cache.ts";

/** `unknown`: this source cannot tell, and the reservation is kept. */
export type Life = "alive" | "dead" | "unknown";

/** What a source says. */
export interface LiveSource {
  /** When it was true, in milliseconds since the epoch; no later than the reservations were read. */
  readonly asOf: number;
  /** Nothing is alive at all: more likely a failure than the truth. */
  readonly isEmpty: boolean;
  readonly lifeOf: (item: Item) => Life;
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
    throw new CannotLook("gc: expected one of --live, --live-command and --by-netns");
  }
  if (has("--by-netns")) return (asOf) => fromNamespaces(system, cacheDirOf(context), asOf);
  if (command !== undefined) return (asOf) => fromList(runCommand(context, command), asOf);
  if (file === "-") return (asOf) => fromList(readStandardInput(system), asOf);
  return (asOf) => fromFile(system, file ?? "", asOf);
}

/** A file tells what was alive when it was written, not now. */
function fromFile(system: System, path: string, readAt: number): LiveSource {
  const { kind, modified } = system.status(path);
  if (kind !== "file") throw new CannotLook(`${path} is no file; use --live - with a pipe`);
  const list = parseLiveList(system.readFile(path, LARGEST_LIST), path);
  return fromList(list, Math.min(readAt, Number(modified / 1_000_000n)));
}

function readStandardInput(system: System): LiveList {
  return parseLiveList(system.readStandardInput(LARGEST_LIST, LONGEST_LISTING), "standard input");
}

/** @throws CannotLook where the command fails: what it printed before is not to be trusted */
function runCommand({ system }: Context, command: string): LiveList {
  const { exitCode, stdout } = system.run(["/bin/sh", "-c", command], LARGEST_LIST);
  if (exitCode !== 0) {
    throw new CannotLook(`${command} failed with exit code ${exitCode}; nothing was released`);
  }
  return parseLiveList(stdout, command);
}

function fromList(list: LiveList, asOf: number): LiveSource {
  return {
    asOf,
    isEmpty: list.size === 0,
    lifeOf: ({ owner }) => (list.has(containerOf(owner)) ? "alive" : "dead"),
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
    lifeOf: (item) => {
      const key = keyOf(item.network.location.network, containerOf(item.owner));
      const own = (attachments.get(key) ?? []).filter(
        ({ interfaceName }) =>
          item.owner.kind === "legacy" || interfaceName === interfaceOf(item.owner),
      );
      if (own.length === 0) return "unknown";
      const lives = own.map(({ networkNamespace }) => lifeOfNamespace(system, networkNamespace));
      if (lives.includes("alive")) return "alive";
      return lives.includes("unknown") ? "unknown" : "dead";
    },
  };
}

/**
 * A network namespace lives while something is mounted at its path, or while it is the one of a process: then the file
 * is on another device than its directory. What is left after a reboot or an unmount is an empty file, or nothing.
 */
function lifeOfNamespace(system: System, path: string): Life {
  if (!path.startsWith("/")) return "unknown";
  try {
    const { device } = system.status(path);
    return device === system.status(parentOf(path)).device ? "dead" : "alive";
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return lifeOfMissing(system, path);
    if (isSystemError(error)) return "unknown";
    throw error;
  }
}

/** Without the directory of all namespaces we may well be in a container that does not see them. */
function lifeOfMissing(system: System, path: string): Life {
  if (/^\/proc\/[0-9]+\//.test(path)) return "dead";
  try {
    return system.status(parentOf(path)).kind === "directory" ? "dead" : "unknown";
  } catch (error) {
    if (isSystemError(error)) return "unknown";
    throw error;
  }
}

function keyOf(network: string, containerId: string): string {
  return `${network}/${containerId}`;
}
