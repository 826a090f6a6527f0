/** Asks executables whether they are CNI plugins, and whose: it runs them, as the user of this process. */

import { exactMember, listOf } from "../../cli/command/json-values.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, recover } from "../../system/system.ts";
import { fileAt } from "./place.ts";

/** What a path leads to. */
export interface AskedPlugin {
  /**
   * What is there. `ours`: a version of this program. `other`: another one, also where it cannot be started here. `broken`: one
   * that is started and does not answer.
   */
  readonly kind: "nothing" | "ours" | "other" | "broken";
  /** The CNI versions that it supports; none where it does not answer. */
  readonly versions: readonly string[];
  /** Why it does not answer, as what follows its name in a sentence; empty where it does, and where nothing is. */
  readonly problem: string;
}

/** The longest answer, in bytes. */
const MAX_ANSWER = 64 * 1024;

/** How long to wait for an answer, in milliseconds. */
const TIMEOUT = 10_000;

/** What a program needs. */
const NEEDS =
  ". To start, it has to be executable, on a file system that is not mounted noexec, with its loader and its libraries: the portable executable needs glibc 2.28 or later, libstdc++, libgcc_s and libatomic, the native one none";

/** The exit code of a program that lacks something of these, as of a script whose command is not there. */
const LACKING = 127;

/** What glibc says of a program whose libraries are not here. */
const NO_LIBRARY = /error while loading shared libraries|version `[^']*' not found/;

/** The text that every version of this program has in its file, see `src/verbs/host-local.ts`. */
const DESCRIPTION = "With arguments it is a tool for operators: host-local";

/** Why a program that ran into this error has not answered. */
const unanswered: Readonly<Record<string, string>> = {
  ETIMEDOUT: `not within ${TIMEOUT / 1000} seconds`,
  EFBIG: `it printed more than ${MAX_ANSWER} bytes`,
  ENOEXEC: "it is not a program for this machine: check its architecture",
};

/**
 * Asks what a path leads to for the CNI versions that it supports. What cannot be started, such as a link to nothing, may be
 * sound on the node, if this is a container: the links of a snap lead to `/snap`.
 *
 * @param name the name of the plugin, by which it is called: a program that is several plugins in one looks at it (k3s links
 *   `host-local` to such a program)
 */
export function askPlugin(system: OperatorSystem, path: string, name: string): AskedPlugin {
  if (fileAt(system, path) === undefined) return { kind: "nothing", versions: [], problem: "" };
  const { versions, why, isLacking } = recover(
    () => answerOf(system, path, name),
    ({ code, reason }): Answer => {
      const isLacking = code === "ENOENT" || code === "EACCES";
      return { versions: [], why: unanswered[code] ?? reason, isLacking };
    },
  );
  const kind = describesThis(system, path) ? "ours" : "other";
  if (versions.length > 0) return { kind, versions, problem: "" };
  const problem = `does not answer CNI_COMMAND=VERSION as a CNI plugin: ${why}`;
  return isLacking
    ? { kind, versions, problem: `${problem}${NEEDS}` }
    : { kind: "broken", versions, problem };
}

/** Whether a path leads to a version of this program. A file without this program's description is not run: it may hang. */
export function isOurs(system: OperatorSystem, path: string, name: string): boolean {
  return describesThis(system, path) && askPlugin(system, path, name).kind === "ours";
}

/** Whether the file at a path has this program's description of itself; it is not started. */
export function describesThis(system: OperatorSystem, path: string): boolean {
  // A device may have no end.
  const isFile = () => system.status(path).kind === "file";
  return attempt(() => isFile() && system.hasText(path, DESCRIPTION), false);
}

/** What a program has answered; `why` and `isLacking` are of one that has not: it may lack what it needs to start. */
interface Answer extends Pick<AskedPlugin, "versions"> {
  readonly why: string;
  readonly isLacking: boolean;
}

function answerOf(system: OperatorSystem, path: string, name: string): Answer {
  // A bare name would be searched for in PATH.
  const program = path.includes("/") ? path : `./${path}`;
  const call = { name, command: "VERSION", timeout: TIMEOUT };
  const { exitCode, stdout, stderr } = system.run([program], MAX_ANSWER, call);
  // It is repeated, and may be long.
  const message = (stderr.trim() || stdout.trim()).slice(0, 300);
  const printed = message === "" ? "printed nothing" : `printed: ${message}`;
  return {
    versions: exitCode === 0 ? versionsIn(stdout) : [],
    why: `it exited with code ${exitCode} and ${printed}`,
    isLacking: exitCode === LACKING || NO_LIBRARY.test(message),
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
