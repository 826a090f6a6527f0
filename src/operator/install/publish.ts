/** Replaces executables atomically: runtimes may start them at any moment. */

import { CommandError, type Context } from "../../cli/command/command.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt, isSystemError, NO_HARD_LINK, type System } from "../../system/system.ts";
import { withTemporaryPath } from "../node/temporary-files.ts";
import { askVersions } from "./ask-versions.ts";
import {
  type Installation,
  isLinkToHostLocal,
  isPresent,
  linkAt,
  pluginKindAt,
} from "./installation.ts";
import { forceOption } from "./new-keys.ts";

/** This executable, even if it was renamed or deleted. */
export const SELF = "/proc/self/exe";

/** What has a name at some time: a file, a link to one, or nothing. */
export interface Seen {
  readonly path: string;
  /** By which it is the same later. */
  readonly identity: string;
}

/** A file that may become the plugin: it has answered VERSION, or somebody insists on it. */
export interface Tested extends Seen {
  /** The CNI versions that it reported; none if it was not heard. */
  readonly versions: readonly string[];
}

/**
 * Copies this executable, and asks the copy for its CNI versions.
 *
 * @param use may publish the copy, which is removed otherwise
 * @throws CommandError if it does not answer
 * @throws SystemError
 */
export function withTestedCopy<T>(
  system: OperatorSystem,
  { name, directory }: Installation,
  use: (copy: Tested) => T,
): T {
  return withTemporaryPath(system, directory, (path) => {
    system.copyFile(SELF, path, 0o755);
    const identity = identityOf(system, path);
    const answer = askVersions(system, path, name);
    if ("problem" in answer) throw noAnswer("the copy", answer.problem);
    return use({ path, versions: answer.versions, identity });
  });
}

/**
 * The first of some former plugins that answers; with `--force`, the first of them if none does.
 *
 * @param paths one at least
 * @throws CommandError if none answers
 */
export function testedFormer(
  context: Context,
  { name }: Installation,
  paths: readonly [string, ...string[]],
): Tested {
  const { system, has } = context;
  const problems: string[] = [];
  for (const path of paths) {
    const identity = identityOf(system, path);
    const answer = askVersions(system, path, name);
    if ("versions" in answer) return { path, versions: answer.versions, identity };
    const link = linkAt(system, path);
    const elsewhere = answer.mayStartElsewhere
      ? `If this is a container, run it on the node; ${forceOption.name} takes it untested`
      : "";
    problems.push(
      [answer.problem, link === undefined ? "" : `It is a link to ${link}`, elsewhere]
        .filter((part) => part !== "")
        .join(". "),
    );
  }
  const [path] = paths;
  if (has(forceOption.name)) return { path, versions: [], identity: identityOf(system, path) };
  throw noAnswer(path, problems[0] ?? "");
}

function noAnswer(what: string, problem: string): CommandError {
  return new CommandError(
    `install: ${what} does not answer CNI_COMMAND=VERSION as a CNI plugin; nothing was changed. ${problem}`,
  );
}

/**
 * Gives a tested file the name of the plugin.
 *
 * @param what whether the file that had the name gets that of the tested one
 * @throws CommandError if it is not the file that was tested any more
 * @throws SystemError
 */
export function publish(
  system: OperatorSystem,
  { path, identity }: Tested,
  { directory, target }: Installation,
  what: "replace" | "exchange" = "replace",
): void {
  requireSame(system, { path, identity });
  if (what === "exchange" && isPresent(system, target)) exchange(system, directory, path, target);
  else system.rename(path, target);
}

/** What has some names now. It is to be seen before it is examined. */
export function see(system: System, ...paths: readonly string[]): readonly Seen[] {
  return paths.map((path) => ({ path, identity: identityOf(system, path) }));
}

/** @throws CommandError if what was seen is not there any more */
export function requireSame(system: System, ...seen: readonly Seen[]): void {
  for (const { path, identity } of seen) {
    if (identityOf(system, path) === identity) continue;
    throw new CommandError(`install: ${path} was replaced meanwhile, and is left as it is`);
  }
}

/** Not its ctime, which a further link to it changes. */
function identityOf(system: System, path: string): string {
  return [() => system.linkStatus(path), () => system.status(path)]
    .map((look) => attempt(look, undefined, "ENOENT", "ENOTDIR"))
    .map((status) => `${status?.device} ${status?.inode} ${status?.size} ${status?.modified}`)
    .join();
}

/**
 * In one step, so that whoever is killed has either both in their old places or both in their new ones. Where the file system
 * cannot, the plugin is there at every moment, but a kill between two steps leaves the other file under a temporary name.
 */
function exchange(system: OperatorSystem, directory: string, path: string, target: string): void {
  try {
    system.exchange(path, target);
  } catch (error) {
    if (!isSystemError(error, "ENOSYS", "EINVAL", "EPERM")) throw error;
    withLink(system, directory, target, (link) => {
      system.rename(path, target);
      system.rename(link, path);
    });
  }
}

/**
 * Keeps the plugin that is about to be replaced: the last other one is the previous one, and the one before the older one. A
 * concurrent installation may replace it at any moment, so it is a link to it that is examined and kept.
 *
 * @returns where it is kept; `undefined` if it is not, as a version of this executable beside another plugin, or a link to it
 * @throws SystemError
 */
export function keepTarget(system: OperatorSystem, installation: Installation): string | undefined {
  const { directory, target, previous, older } = installation;
  if (!isPresent(system, target)) return undefined;
  return withLink(system, directory, target, (link) => {
    if (isLinkToHostLocal(system, installation, link)) return undefined;
    const isOurs = pluginKindAt(system, link) === "ours";
    const before = pluginKindAt(system, previous);
    if (isOurs && before !== "nothing" && before !== "ours") return undefined;
    if (before === "other" && !isSame(system, link, previous)) {
      withLink(system, directory, previous, (further) => system.rename(further, older));
    }
    system.rename(link, previous);
    return previous;
  });
}

function isSame(system: OperatorSystem, path: string, other: string): boolean {
  const [link, otherLink] = [linkAt(system, path), linkAt(system, other)];
  if (link !== undefined || otherLink !== undefined) return link === otherLink;
  return system.sameContent(path, other);
}

/**
 * Links a file under a temporary name; copies it if the file system has no hard links. A symbolic link is made anew with
 * the same text: what it leads to may depend on being called by this name.
 */
function withLink<T>(
  system: OperatorSystem,
  directory: string,
  path: string,
  use: (link: string) => T,
): T {
  return withTemporaryPath(system, directory, (link) => {
    const text = linkAt(system, path);
    if (text !== undefined) {
      system.symlink(text, link);
      return use(link);
    }
    try {
      system.link(path, link);
    } catch (error) {
      if (!isSystemError(error, ...NO_HARD_LINK)) throw error;
      system.copyFile(path, link, 0o755);
    }
    return use(link);
  });
}
