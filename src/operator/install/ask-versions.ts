/** Runs an executable to learn whether it is a CNI plugin, and whether it is this one. */

import { listOf, member } from "../../cli/command/json-values.ts";
import { join } from "../../store/files/paths.ts";
import type { CompletedProcess, OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError, type SystemError } from "../../system/system.ts";
import { unlinkQuietly, withTemporaryDirectory } from "./temporary-files.ts";

/** The answer of an executable to VERSION: the CNI versions that it supports, or a sentence why there are none. */
type VersionAnswer = { readonly versions: readonly string[] } | { readonly problem: string };

/** The longest answer, in bytes. */
const MAX_ANSWER = 64 * 1024;

/** How long to wait for an answer, in milliseconds. */
const TIMEOUT = 10_000;

/** The exit code for a program that could not be started. */
const NOT_STARTED = 127;

/** How every version of this executable describes itself on standard error; see `src/verbs/host-local.ts`. */
const DESCRIPTION = "With arguments it is a tool for operators: host-local";

/** The longest part of an error message of the executable that is repeated. */
const LONGEST_QUOTE = 300;

/**
 * Asks an executable of a directory for the CNI versions that it supports. It is run by a link with the name of the
 * plugin, because a program that is several plugins in one looks at the name it is called by (k3s links `host-local` to
 * such a program).
 *
 * @param name its name in the directory
 * @param plugin the name of the plugin
 * @throws SystemError if the link cannot be made
 */
export function askVersions(
  system: OperatorSystem,
  directory: string,
  name: string,
  plugin: string,
): VersionAnswer {
  return withTemporaryDirectory(system, directory, (links) => {
    const link = join(links, plugin);
    system.symlink(`../${name}`, link);
    try {
      return answerOf(run(system, link, "VERSION"));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return { problem: problemOf(error) };
    } finally {
      unlinkQuietly(system, link);
    }
  });
}

/**
 * Whether an executable is a version of this one: it describes itself as no other plugin does. Where it cannot be started,
 * as the portable one in a container without glibc, that description is looked for in the file. One that crashes is
 * damaged, and not taken for this one.
 */
export function isOurs(system: OperatorSystem, path: string): boolean {
  try {
    const { exitCode, stderr } = run(system, path, "");
    // Called by the name `static` it describes itself as that plugin.
    if (exitCode === NOT_STARTED || stderr.startsWith("CNI static plugin ")) {
      return hasDescription(system, path);
    }
    return stderr.split("\n").some((line) => line.startsWith(DESCRIPTION));
  } catch (error) {
    if (isSystemError(error, "ENOENT", "EACCES")) return hasDescription(system, path);
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** How a `host-local` of the CNI project describes itself where it is called without a command; this one does, too. */
const HOST_LOCAL = "CNI host-local plugin ";

/** Whether an executable says that it is `host-local`, this one or another; one that cannot be started does not. */
export function isHostLocal(system: OperatorSystem, path: string): boolean {
  try {
    const { stdout, stderr } = run(system, path, "");
    return `${stdout}\n${stderr}`.split("\n").some((line) => line.startsWith(HOST_LOCAL));
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

function hasDescription(system: OperatorSystem, path: string): boolean {
  try {
    return system.hasText(path, DESCRIPTION);
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

function run(system: OperatorSystem, path: string, command: string): CompletedProcess {
  // A bare name would be searched for in PATH.
  const program = path.includes("/") ? path : `./${path}`;
  return system.run([program], MAX_ANSWER, {
    variables: { CNI_COMMAND: command },
    timeout: TIMEOUT,
    captureStderr: true,
  });
}

function answerOf({ exitCode, stdout, stderr }: CompletedProcess): VersionAnswer {
  const versions = exitCode === 0 ? versionsIn(stdout) : [];
  if (versions.length > 0) return { versions };
  const message = (stderr.trim() || stdout.trim()).slice(0, LONGEST_QUOTE);
  if (isLibraryMissing(message)) {
    return {
      problem: `It needs a library that is missing here: ${message}. The portable executable needs glibc 2.28 or later, libstdc++, libgcc_s and libatomic; the native one needs none`,
    };
  }
  if (exitCode === NOT_STARTED && message === "") {
    return {
      problem:
        "It could not be started: check that it is executable, that the file system is not mounted noexec, and that the loader which it names (glibc's, for the portable executable) exists",
    };
  }
  const printed = message === "" ? "printed nothing" : `printed: ${message}`;
  return { problem: `It exited with code ${exitCode} and ${printed}` };
}

function versionsIn(text: string): readonly string[] {
  try {
    const versions = listOf(member(JSON.parse(text), "supportedVersions"));
    return versions.filter((version) => typeof version === "string");
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** As the dynamic loader of glibc says it. */
function isLibraryMissing(message: string): boolean {
  return /error while loading shared libraries|version `[^']*' not found/.test(message);
}

function problemOf({ code, reason }: SystemError): string {
  if (code === "ETIMEDOUT") return `It did not answer within ${TIMEOUT / 1000} seconds`;
  if (code === "EFBIG") return `It printed more than ${MAX_ANSWER} bytes`;
  if (code === "ENOEXEC") return "It is not a program for this machine: check its architecture";
  return `It could not be started: ${reason}`;
}
