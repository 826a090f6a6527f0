/** Executables in a directory from which others start them at any moment: a name always leads to a whole file. */

import { join } from "../../store/location.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { type FileKind, isSystemError } from "../../system/system.ts";
import { listOf, member } from "../node/json-values.ts";

/** What one calls and the other keeps of a plugin directory. */
export interface NetworkDirectory {
  readonly directory: string;
  readonly target: string;
  readonly previous: string;
}

/** No answer to VERSION is longer, in bytes. */
const LONGEST_ANSWER = 64 * 1024;

/** Half-made files of killed installations are removed once they are this old, in milliseconds. */
const ABANDONED_AFTER = 600_000;

/** What a path leads to. */
export function standsAt(system: OperatorSystem, path: string): FileKind | "nothing" {
  try {
    return system.status(path).kind;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return "nothing";
    throw error;
  }
}

/**
 * Asks an executable which versions of the specification it speaks.
 *
 * @returns `undefined` where it does not answer as a CNI plugin
 */
export function spokenVersions(
  system: OperatorSystem,
  path: string,
): readonly string[] | undefined {
  // A bare name would be looked for in PATH.
  const program = path.includes("/") ? path : `./${path}`;
  try {
    const { exitCode, stdout } = system.run([program], LONGEST_ANSWER, { CNI_COMMAND: "VERSION" });
    if (exitCode !== 0) return undefined;
    const versions = listOf(member(JSON.parse(stdout), "supportedVersions"));
    const texts = versions.filter((version) => typeof version === "string");
    return texts.length > 0 ? texts : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isSystemError(error)) return undefined;
    throw error;
  }
}

/**
 * Copies an executable and lets `place` give the copy its real name. Whatever happens, nothing of it is left beside
 * that.
 *
 * @throws SystemError
 */
export function withCopy<T>(
  system: OperatorSystem,
  source: string,
  directory: string,
  place: (copy: string) => T,
): T {
  removeAbandoned(system, directory);
  const copy = join(directory, halfMade(`${system.processId()}`));
  try {
    system.copyFile(source, copy, 0o755);
    return place(copy);
  } finally {
    unlinkQuietly(system, copy);
  }
}

/**
 * Gives the file at `path` the further name `kept`, which another file may have had.
 *
 * @throws SystemError
 */
export function keepAs(
  system: OperatorSystem,
  { directory }: NetworkDirectory,
  path: string,
  kept: string,
): void {
  const spare = spareFor(system, directory, path);
  try {
    system.rename(spare, kept);
  } finally {
    // Where both were names of one file already, rename(2) leaves both.
    unlinkQuietly(system, spare);
  }
}

/**
 * Exchanges target and previous file; the target is there all the time.
 *
 * @throws SystemError
 */
export function exchange(
  system: OperatorSystem,
  { directory, target, previous }: NetworkDirectory,
): void {
  if (standsAt(system, target) === "nothing") {
    system.rename(previous, target);
    return;
  }
  const spare = spareFor(system, directory, target);
  try {
    system.rename(previous, target);
    system.rename(spare, previous);
  } finally {
    unlinkQuietly(system, spare);
  }
}

/** A further name for a file or, where the file system has no hard links, a copy. */
function spareFor(system: OperatorSystem, directory: string, path: string): string {
  const spare = join(directory, halfMade(`${system.processId()}.kept`));
  unlinkQuietly(system, spare);
  try {
    system.link(path, spare);
  } catch (error) {
    if (!isSystemError(error, "EPERM", "EOPNOTSUPP", "ENOSYS", "EMLINK")) throw error;
    system.copyFile(path, spare, 0o755);
  }
  return spare;
}

function halfMade(mark: string): string {
  return `.host-local.${mark}`;
}

function removeAbandoned(system: OperatorSystem, directory: string): void {
  const oldest = BigInt(system.now() - ABANDONED_AFTER) * 1_000_000n;
  for (const name of system.list(directory)) {
    if (!/^\.host-local\.[0-9]+(?:\.kept)?$/.test(name)) continue;
    const path = join(directory, name);
    // A further name of a plugin is as old as the plugin, but its last change is not.
    if (system.linkStatus(path).changed < oldest) unlinkQuietly(system, path);
  }
}

/** What stays is removed by a later installation. */
function unlinkQuietly(system: OperatorSystem, path: string): void {
  try {
    system.unlink(path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
