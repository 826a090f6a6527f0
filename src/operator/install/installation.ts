/** Replaces executables atomically: runtimes may start them at any moment. */

import { join } from "../../store/location.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { type FileKind, isSystemError } from "../../system/system.ts";
import { listOf, member } from "../node/json-values.ts";

/** The paths of an installation. */
export interface Installation {
  /** The plugin directory. */
  readonly directory: string;
  /** The installed executable. */
  readonly target: string;
  /** The executable that it replaced. */
  readonly previous: string;
}

/** The longest answer to VERSION, in bytes. */
const MAX_ANSWER = 64 * 1024;

/** Temporary files of killed installations are removed when they are this old, in milliseconds. */
const ABANDONED_AFTER = 600_000;

/** The kind of file at a path, symbolic links followed. */
export function kindAt(system: OperatorSystem, path: string): FileKind | "nothing" {
  try {
    return system.status(path).kind;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return "nothing";
    throw error;
  }
}

/**
 * Asks an executable for the CNI versions that it supports.
 *
 * @returns `undefined` if it does not answer as a CNI plugin
 */
export function supportedVersions(
  system: OperatorSystem,
  path: string,
): readonly string[] | undefined {
  // A bare name would be searched for in PATH.
  const program = path.includes("/") ? path : `./${path}`;
  try {
    const { exitCode, stdout } = system.run([program], MAX_ANSWER, { CNI_COMMAND: "VERSION" });
    if (exitCode !== 0) return undefined;
    const versions = listOf(member(JSON.parse(stdout), "supportedVersions"));
    const strings = versions.filter((version) => typeof version === "string");
    return strings.length > 0 ? strings : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isSystemError(error)) return undefined;
    throw error;
  }
}

/**
 * Copies an executable to a temporary name and lets `publish` rename it. The temporary name is always removed.
 *
 * @throws SystemError
 */
export function withCopy<T>(
  system: OperatorSystem,
  source: string,
  directory: string,
  publish: (copy: string) => T,
): T {
  removeAbandoned(system, directory);
  const copy = join(directory, temporaryName(`${system.processId()}`));
  try {
    system.copyFile(source, copy, 0o755);
    return publish(copy);
  } finally {
    unlinkQuietly(system, copy);
  }
}

/**
 * Links the file at `path` as `kept`, replacing a file of that name.
 *
 * @throws SystemError
 */
export function keepAs(
  system: OperatorSystem,
  { directory }: Installation,
  path: string,
  kept: string,
): void {
  const temporary = linkTemporarily(system, directory, path);
  try {
    system.rename(temporary, kept);
  } finally {
    // rename(2) keeps both names if they already were links to the same file.
    unlinkQuietly(system, temporary);
  }
}

/**
 * Exchanges the target and the previous file; the target exists all the time.
 *
 * @throws SystemError
 */
export function exchange(
  system: OperatorSystem,
  { directory, target, previous }: Installation,
): void {
  if (kindAt(system, target) === "nothing") {
    system.rename(previous, target);
    return;
  }
  const temporary = linkTemporarily(system, directory, target);
  try {
    system.rename(previous, target);
    system.rename(temporary, previous);
  } finally {
    unlinkQuietly(system, temporary);
  }
}

/** Links a file under a temporary name; copies it if the file system has no hard links. */
function linkTemporarily(system: OperatorSystem, directory: string, path: string): string {
  const temporary = join(directory, temporaryName(`${system.processId()}.kept`));
  unlinkQuietly(system, temporary);
  try {
    system.link(path, temporary);
  } catch (error) {
    if (!isSystemError(error, "EPERM", "EOPNOTSUPP", "ENOSYS", "EMLINK")) throw error;
    system.copyFile(path, temporary, 0o755);
  }
  return temporary;
}

function temporaryName(suffix: string): string {
  return `.host-local.${suffix}`;
}

function removeAbandoned(system: OperatorSystem, directory: string): void {
  const oldest = BigInt(system.now() - ABANDONED_AFTER) * 1_000_000n;
  for (const name of system.list(directory)) {
    if (!/^\.host-local\.[0-9]+(?:\.kept)?$/.test(name)) continue;
    const path = join(directory, name);
    // A link to a plugin has the plugin's mtime, but its ctime is that of the link.
    if (system.linkStatus(path).changed < oldest) unlinkQuietly(system, path);
  }
}

/** A file that stays is removed by a later installation. */
function unlinkQuietly(system: OperatorSystem, path: string): void {
  try {
    system.unlink(path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
