/** What can be done with the place of a plugin: each move says what it will do, and does it. */

import { CommandError, type Context, RefusedError } from "../../cli/command/command.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, isSystemError, NO_HARD_LINK } from "../../system/system.ts";
import { STATIC } from "../configured/plugin-directories.ts";
import { withTemporaryPath } from "../temporary-files.ts";
import { askKind, askVersions, type PluginKind, SELF } from "./ask.ts";
import { forceOption, requireGoingBack, requireLeaving } from "./going-back.ts";
import { isPresent, linkAt, mark, type Place, unmark } from "./place.ts";

/** What is about to be done with a place. */
export interface Move {
  /** What will be done, in sentences for people. */
  readonly plan: string;
  /** Does it. */
  readonly make: () => Done;
}

/** What a move has done. */
export interface Done {
  readonly action: "installed" | "uninstalled";
  /** The sentences for people. */
  readonly text: string;
  /** Where the file that was replaced is now; `undefined` if it was not kept. */
  readonly kept?: string | undefined;
  /** The CNI versions that the plugin reported. */
  readonly versions?: readonly string[];
}

/** Joins the sentences that are not empty. */
function sentences(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

/** A clause such as `, which supports CNI 1.0.0`; empty where it was not tested. */
function supporting(versions: readonly string[]): string {
  return versions.length === 0 ? "" : `, which supports CNI ${versions.join(", ")}`;
}

/** This executable becomes the plugin, and the other one that is there the previous one. */
export function installing({ system }: Context, place: Place): Move {
  const { target, previous } = place;
  return {
    plan: sentences(
      `This executable will be installed as ${target}.`,
      isPresent(system, target)
        ? `What is there is kept as ${previous}, unless it is a version of this executable.`
        : "",
    ),
    make: () => {
      const wasThere = isPresent(system, target);
      const { kept, versions } = withTestedCopy(system, place, (copy, supported) => {
        const keptAs = keep(system, place);
        system.rename(copy, target);
        return { kept: keptAs, versions: supported };
      });
      mark(system, place);
      const text = sentences(
        `Installed ${target}${supporting(versions)}.`,
        kept === undefined ? "" : `The file it replaced is now ${kept}.`,
        wasThere && kept === undefined && isPresent(system, previous)
          ? `${previous} is unchanged.`
          : "",
      );
      return { action: "installed", text, kept, versions };
    },
  };
}

/**
 * Copies this executable, and asks the copy for its CNI versions.
 *
 * @param use may rename the copy, which is removed otherwise
 * @throws CommandError if it does not answer
 * @throws SystemError
 */
function withTestedCopy<T>(
  system: OperatorSystem,
  { name, directory }: Place,
  use: (copy: string, versions: readonly string[]) => T,
): T {
  return withTemporaryPath(system, directory, (copy) => {
    system.copyFile(SELF, copy, 0o755);
    const answer = askVersions(system, copy, name);
    if ("problem" in answer) throw new CommandError(noAnswer("the copy", answer.problem));
    return use(copy, answer.versions);
  });
}

function noAnswer(what: string, problem: string): string {
  return `install: ${what} does not answer CNI_COMMAND=VERSION as a CNI plugin; nothing was changed. ${problem}`;
}

/**
 * Keeps the plugin that is about to be replaced as the previous one, unless it is a version of this program, or does not
 * answer where the previous one does. Another installer may replace it at any moment, so it is a further name of the file that is
 * examined and kept; and what has come meanwhile, such as the previous one, is kept in its turn.
 *
 * @returns where it is kept; `undefined` if it is not
 * @throws SystemError
 */
function keep(system: OperatorSystem, place: Place): string | undefined {
  const { name, directory, target, previous } = place;
  const inode = inodeAt(system, target);
  if (!isPresent(system, target)) return undefined;
  const kept = withTemporaryPath(system, directory, (path) => {
    try {
      // Of a symbolic link, too: what it leads to may depend on being called by this name.
      system.link(target, path);
    } catch (error) {
      if (!isSystemError(error, ...NO_HARD_LINK) || linkAt(system, target) !== undefined)
        throw error;
      system.copyFile(target, path, 0o755);
    }
    if (askKind(system, path) === "ours") return undefined;
    const answers = (one: string): boolean => "versions" in askVersions(system, one, name);
    if (isPresent(system, previous) && !answers(path) && answers(previous)) return undefined;
    system.rename(path, previous);
    return previous;
  });
  return inodeAt(system, target) === inode ? kept : keep(system, place);
}

/** `undefined` where nothing is. */
function inodeAt(system: OperatorSystem, path: string): bigint | undefined {
  return attempt(() => system.linkStatus(path).inode, undefined, "ENOENT");
}

/**
 * What the networks of this node lose without this plugin, in sentences for people.
 *
 * @throws RefusedError if they need it, without `--force`
 */
function noteOn(context: Context, { name }: Place): string {
  return name === STATIC ? "" : requireGoingBack(context, name);
}

/**
 * The previous plugin gets the name back, and what is there goes.
 *
 * @throws RefusedError without `--force`: if the previous plugin does not answer, or would break a network
 */
export function restoring(context: Context, place: Place, before: PluginKind): Move {
  const { system } = context;
  const { target, previous } = place;
  const versions = versionsOfPrevious(context, place);
  const note = before === "ours" ? "" : noteOn(context, place);
  return {
    plan: sentences(note, `${previous} will be renamed to ${target}.`),
    make: () => {
      unmark(system, place);
      system.rename(previous, target);
      return {
        action: "uninstalled",
        text: `Restored ${target}${supporting(versions)}.`,
        versions,
      };
    },
  };
}

/**
 * The CNI versions of the previous plugin; none with `--force`, where it does not answer.
 *
 * @throws RefusedError
 */
function versionsOfPrevious(
  { system, has }: Context,
  { name, previous }: Place,
): readonly string[] {
  const answer = askVersions(system, previous, name);
  if ("versions" in answer) return answer.versions;
  if (has(forceOption.name)) return [];
  const link = linkAt(system, previous);
  const elsewhere = answer.mayStartElsewhere
    ? `If this is a container, run it on the node; ${forceOption.name} takes it untested`
    : "";
  const problems = [answer.problem, link === undefined ? "" : `It is a link to ${link}`, elsewhere];
  throw new RefusedError(noAnswer(previous, problems.filter((part) => part !== "").join(". ")));
}

/**
 * This executable goes, and nothing takes its place.
 *
 * @throws RefusedError if a network would have no plugin, without `--force`
 */
export function removing(context: Context, place: Place): Move {
  const { system } = context;
  const { name, target } = place;
  const remark = requireLeaving(context, name);
  return {
    plan: `${target} will be removed. ${remark}`,
    make: () => {
      unmark(system, place);
      attempt(() => system.unlink(target), undefined, "ENOENT");
      return { action: "uninstalled", text: `Removed ${target}. ${remark}` };
    },
  };
}

/** What is there stays, and nothing puts this executable there again. */
function forgetting(system: OperatorSystem, place: Place, text: string): Move {
  return {
    plan: text,
    make: () => {
      unmark(system, place);
      return { action: "uninstalled", text };
    },
  };
}

/** There is nothing, and nothing puts this executable there again. */
export function forgettingNothing({ system }: Context, place: Place): Move {
  return forgetting(system, place, `There is no ${place.target}.`);
}

/**
 * Another plugin has taken the place, and stays.
 *
 * @throws RefusedError as `restoring`, of the networks
 */
export function leavingOther(context: Context, place: Place): Move {
  const text = sentences(noteOn(context, place), `${place.target} is another plugin and stays.`);
  return forgetting(context.system, place, text);
}
