/** Runs executables, as the user of this process, to learn whether they are CNI plugins, and whose. */

import { exactMember, listOf } from "../../cli/command/json-values.ts";
import type { CompletedProcess, OperatorSystem } from "../../system/operator-system.ts";
import { attempt, exists, isSystemError, type SystemError } from "../../system/system.ts";
import { PLUGIN } from "../configured/plugin-directories.ts";
import { kindAt, linkAt, type Place } from "./place.ts";

/** The answer of an executable to VERSION: the CNI versions that it supports, or a sentence why there are none. */
export type VersionAnswer =
  | { readonly versions: readonly string[] }
  | {
      readonly problem: string;
      /** Whether it may be sound, and start where its loader and libraries are: on the node, outside of a container. */
      readonly mayStartElsewhere: boolean;
    };

/** This executable, even if it was renamed or deleted. */
export const SELF = "/proc/self/exe";

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
 * Asks an executable for the CNI versions that it supports.
 *
 * @param name the name of the plugin, by which it is called: a program that is several plugins in one looks at it (k3s links
 *   `host-local` to such a program)
 */
export function askVersions(system: OperatorSystem, path: string, name: string): VersionAnswer {
  try {
    return answerOf(run(system, path, name, "VERSION"));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { problem: problemOf(error), mayStartElsewhere: false };
  }
}

/** What a path leads to: nothing, a program that is not here, some version of this program, or another one. */
export type PluginKind = "nothing" | "elsewhere" | "ours" | "other";

/**
 * Asks what a path leads to whose it is. A symbolic link whose program is not here may lead to one on the node, if this is a
 * container: the links of a snap lead to `/snap`.
 */
export function askKind(system: OperatorSystem, path: string): PluginKind {
  const kind = kindAt(system, path);
  if (kind === "nothing") return linkAt(system, path) === undefined ? "nothing" : "elsewhere";
  // A device may have no end.
  return kind === "file" && saysItIsOurs(system, path) ? "ours" : "other";
}

/** Whether this program was installed, and what is there now, which is asked, is another one, or nothing. */
export function askIfReplaced(system: OperatorSystem, { target, marker }: Place): boolean {
  return exists(system, marker) && askKind(system, target) !== "ours";
}

/**
 * Whether an executable is a version of this one: it describes itself as no other plugin does. A file without that text is
 * not run, since it may hang. Where it has the text and cannot be started, as the portable one in a container without
 * glibc, the text is enough. One that crashes is damaged, and not taken for this one.
 */
function saysItIsOurs(system: OperatorSystem, path: string): boolean {
  return attempt(() => {
    if (!system.hasText(path, DESCRIPTION)) return false;
    const { exitCode, stderr } = run(system, path, PLUGIN, "");
    return (
      exitCode === NOT_STARTED || stderr.split("\n").some((line) => line.startsWith(DESCRIPTION))
    );
  }, false);
}

/** How a `host-local` of the CNI project describes itself where it is called without a command; this one does, too. */
const HOST_LOCAL = "CNI host-local plugin ";

/** Whether an executable says that it is `host-local`, this one or another; one that cannot be started does not. */
export function saysItIsHostLocal(system: OperatorSystem, path: string): boolean {
  return attempt(() => {
    const { stdout, stderr } = run(system, path, PLUGIN, "");
    return `${stdout}\n${stderr}`.split("\n").some((line) => line.startsWith(HOST_LOCAL));
  }, false);
}

function run(
  system: OperatorSystem,
  path: string,
  name: string,
  command: string,
): CompletedProcess {
  // A bare name would be searched for in PATH.
  const program = path.includes("/") ? path : `./${path}`;
  return system.run([program], MAX_ANSWER, {
    name,
    command,
    timeout: TIMEOUT,
  });
}

function answerOf({ exitCode, stdout, stderr }: CompletedProcess): VersionAnswer {
  const versions = exitCode === 0 ? versionsIn(stdout) : [];
  if (versions.length > 0) return { versions };
  const message = (stderr.trim() || stdout.trim()).slice(0, LONGEST_QUOTE);
  // As the dynamic loader of glibc says it.
  if (/error while loading shared libraries|version `[^']*' not found/.test(message)) {
    return {
      problem: `It needs a library that is missing here: ${message}. The portable executable needs glibc 2.28 or later, libstdc++, libgcc_s and libatomic; the native one needs none`,
      mayStartElsewhere: true,
    };
  }
  if (exitCode === NOT_STARTED && message === "") {
    return {
      problem:
        "It could not be started: check that it is executable, that the file system is not mounted noexec, and that the loader which it names (glibc's, for the portable executable) exists",
      mayStartElsewhere: true,
    };
  }
  const printed = message === "" ? "printed nothing" : `printed: ${message}`;
  return {
    problem: `It exited with code ${exitCode} and ${printed}`,
    mayStartElsewhere: false,
  };
}

function versionsIn(text: string): readonly string[] {
  try {
    const versions = listOf(exactMember(JSON.parse(text), "supportedVersions"));
    return versions.filter((version) => typeof version === "string");
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function problemOf({ code, reason }: SystemError): string {
  if (code === "ETIMEDOUT") return `It did not answer within ${TIMEOUT / 1000} seconds`;
  if (code === "EFBIG") return `It printed more than ${MAX_ANSWER} bytes`;
  if (code === "ENOEXEC") return "It is not a program for this machine: check its architecture";
  return `It could not be started: ${reason}`;
}
