/** Findings on cursors, leftovers and foreign files. */

import { isIdentifier } from "../../cni/attachment.ts";
import type { NetworkName } from "../../cni/call.ts";
import { formatAddress, parseAddress } from "../../ipam/address.ts";
import { formatRangeSet, rangeOf } from "../../ipam/range-set.ts";
import {
  type NetworkFiles,
  openNetwork,
  TEMPORARY_PREFIX,
} from "../../store/files/network-files.ts";
import { join } from "../../store/files/paths.ts";
import { isTemporaryName } from "../../store/files/temporary.ts";
import { cursorIndex, cursorPath, readCursorText } from "../../store/reservations/cursor.ts";
import { exists, isSystemError, type System } from "../../system/system.ts";
import { seenDeadPath } from "../gc/seen-dead.ts";
import { hasKnownRanges, type NetworkDirectory, rangeSetsAt } from "../node/network-directories.ts";
import type { Code, Finding } from "./finding.ts";

const SECOND = 1_000_000_000n;

/** The Go plugin truncates a cursor before it writes it: a younger one may be incomplete. */
const MIN_CURSOR_AGE = 10n * SECOND;

/** Without a record for a week, `gc` no longer runs. */
const MAX_GC_AGE = 7n * 24n * 3600n * SECOND;

/** Checks the cursors, leftovers and foreign files of a network. */
export function storeFindings(system: System, directory: NetworkDirectory): readonly Finding[] {
  const { location } = directory;
  const names = listed(system, location.directory);
  return [
    ...names.flatMap((name) => {
      const index = cursorIndex(name);
      return index === undefined ? [] : cursorFindings(system, directory, index);
    }),
    ...leftoverFindings(system, location),
    ...names
      .filter((name) => isForeign(name))
      .map((name) =>
        found(
          location,
          "foreign-file",
          join(location.directory, name),
          `${name} is not a file of host-local`,
        ),
      ),
  ];
}

/** Checks for files kept for networks that no longer have a directory. */
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
      location: isIdentifier(name) ? openNetwork(system, dataDir, name as NetworkName) : undefined,
      path: join(own, name),
      message: `the network's directory ${join(dataDir, name)} does not exist`,
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
    text = readCursorText(location, index);
    if (isYoungerThan(MIN_CURSOR_AGE, system, path)) return [];
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    if (isSystemError(error)) return [found(location, "malformed-cursor", path, error.message)];
    throw error;
  }
  const repair = { kind: "cursor", index, text } as const;
  const address = parseAddress(text);
  if (address === undefined) {
    const content = text.length > 60 ? `${text.slice(0, 60)}...` : text;
    const message = `expected an address, found ${JSON.stringify(content)}`;
    return [{ ...found(location, "malformed-cursor", path, message), repair }];
  }
  const sets = rangeSetsAt(directory, index);
  if (!hasKnownRanges(directory) || sets.some((set) => rangeOf(set, address) !== undefined))
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

function leftoverFindings(system: System, location: NetworkFiles): readonly Finding[] {
  const files = location.abandonedFiles().map((path) => ({
    ...found(location, "leftover-file", path, "left by a killed call"),
    repair: { kind: "leftover" } as const,
  }));
  const state = seenDeadPath(location);
  try {
    if (isYoungerThan(MAX_GC_AGE, system, state)) return files;
  } catch (error) {
    if (isSystemError(error)) return files;
    throw error;
  }
  const message = "records of host-local gc, which has not run for a week";
  const repair = { kind: "gc-state" } as const;
  return [...files, { ...found(location, "leftover-gc-state", state, message), repair }];
}

function isForeign(name: string): boolean {
  return (
    name !== "lock" &&
    parseAddress(name) === undefined &&
    cursorIndex(name) === undefined &&
    !isTemporaryName(name, TEMPORARY_PREFIX)
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

function found(location: NetworkFiles, code: Code, path: string, message: string): Finding {
  return { code, location, path, message };
}
