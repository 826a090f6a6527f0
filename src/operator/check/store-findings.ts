/** What is wrong in the directory of a network beside its reservations, and with what we keep for it. */

import { formatAddress, parseAddress } from "../../ipam/address.ts";
import { formatRangeSet, rangeOf } from "../../ipam/range-set.ts";
import { cursorIndex, cursorPath, readCursorText } from "../../store/cursor.ts";
import { indexState } from "../../store/index-state.ts";
import { join, type Location } from "../../store/location.ts";
import { namesIn } from "../../store/reservations.ts";
import { seenDeadPath } from "../../store/seen-dead.ts";
import { abandonedFiles, isTemporaryName } from "../../store/temporary.ts";
import { exists, isSystemError, type System } from "../../system/system.ts";
import { knowsItsRanges, type NetworkDirectory, setsAt } from "../node/network-directories.ts";
import type { Code, Finding } from "./finding.ts";

const SECOND = 1_000_000_000n;

/** The Go plugin empties a cursor before it writes it: what is younger may be at work. */
const WRITTEN = 10n * SECOND;

/** Nobody collects any more where nothing was noted for a week. */
const ABANDONED = 7n * 24n * 3600n * SECOND;

/** Looks at cursors, leftovers, foreign files and the index of a place. */
export function storeFindings(system: System, directory: NetworkDirectory): readonly Finding[] {
  const { location } = directory;
  const names = [...namesIn(system, location)].sort();
  return [
    ...names.flatMap((name) => {
      const index = cursorIndex(name);
      return index === undefined ? [] : cursorFindings(system, directory, index);
    }),
    ...indexFindings(system, location),
    ...leftoverFindings(system, location),
    ...names
      .filter((name) => isForeign(name))
      .map((name) =>
        found(location, "foreign-file", join(location.directory, name), `${name} is none of ours`),
      ),
  ];
}

/** What we keep for networks that have no directory any more. */
export function orphanFindings(
  system: System,
  dataDir: string,
  directories: readonly NetworkDirectory[],
): readonly Finding[] {
  const own = join(dataDir, ".host-local");
  const known = new Set(
    directories
      .filter(({ location }) => exists(system, location.directory))
      .map(({ location }) => location.stateDirectory),
  );
  return listed(system, own)
    .filter((name) => !known.has(join(own, name)))
    .map((name) => ({
      code: "leftover-directory" as const,
      network: name,
      path: join(own, name),
      message: `there is no ${join(dataDir, name)} to which it belongs`,
    }));
}

function cursorFindings(
  system: System,
  directory: NetworkDirectory,
  index: number,
): readonly Finding[] {
  const { location } = directory;
  const path = cursorPath(location, index);
  let text: string;
  try {
    text = readCursorText(system, location, index);
    if (isYoungerThan(WRITTEN, system, path)) return [];
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    if (isSystemError(error)) return [found(location, "malformed-cursor", path, error.message)];
    throw error;
  }
  const repair = { kind: "cursor", index, text } as const;
  const address = parseAddress(text);
  if (address === undefined) {
    const content = text.length > 60 ? `${text.slice(0, 60)}...` : text;
    const message = `it holds ${JSON.stringify(content)}, no address`;
    return [{ ...found(location, "malformed-cursor", path, message), repair }];
  }
  const sets = setsAt(directory, index);
  if (!knowsItsRanges(directory) || sets.some((set) => rangeOf(set, address) !== undefined))
    return [];
  if (sets.length === 0) {
    return [
      {
        ...found(location, "spare-cursor", path, `no configuration has a range set ${index}`),
        repair,
      },
    ];
  }
  const message = `${formatAddress(address)} is not in ${sets.map(formatRangeSet).join(" or ")}`;
  return [{ ...found(location, "cursor-outside-range", path, message), repair }];
}

function indexFindings(system: System, location: Location): readonly Finding[] {
  const state = indexState(system, location);
  const repair = { kind: "index" } as const;
  if (state.kind === "stale") {
    const message = "somebody else wrote to the network's directory";
    return [{ ...found(location, "stale-index", location.owners, message), repair }];
  }
  if (state.kind !== "wrong") return [];
  const names = state.missing.map(({ name }) => name);
  const shown = names.length > 3 ? `${names.slice(0, 3).join(", ")} ...` : names.join(", ");
  const message = `${names.length} reservations are not listed for their owners: ${shown}`;
  return [{ ...found(location, "wrong-index", location.owners, message), repair }];
}

function leftoverFindings(system: System, location: Location): readonly Finding[] {
  const files = abandonedFiles(system, location).map((path) => ({
    ...found(location, "leftover-file", path, "a call that was killed left it"),
    repair: { kind: "leftover" } as const,
  }));
  const state = seenDeadPath(location);
  try {
    if (isYoungerThan(ABANDONED, system, state)) return files;
  } catch (error) {
    if (isSystemError(error)) return files;
    throw error;
  }
  const message = "host-local gc noted dead reservations in it, and has not run for a week";
  const repair = { kind: "gc-state" } as const;
  return [...files, { ...found(location, "leftover-gc-state", state, message), repair }];
}

function isForeign(name: string): boolean {
  return (
    name !== "lock" &&
    parseAddress(name) === undefined &&
    cursorIndex(name) === undefined &&
    !isTemporaryName(name)
  );
}

function isYoungerThan(age: bigint, system: System, path: string): boolean {
  return system.linkStatus(path).modified > BigInt(system.now()) * 1_000_000n - age;
}

function listed(system: System, path: string): readonly string[] {
  try {
    return [...system.list(path)].sort();
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

function found({ network }: Location, code: Code, path: string, message: string): Finding {
  return { code, network, path, message };
}
