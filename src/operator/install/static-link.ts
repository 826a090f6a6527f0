/** The `static -> host-local` link: called by that name, this executable is the `static` plugin. */

import type { Context } from "../../cli/command/command.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { PLUGIN, STATIC } from "../node/plugin-directories.ts";
import { requireVersions } from "./confirmed-change.ts";
import {
  backupPathFor,
  danglingLinkAt,
  exchange,
  type Installation,
  installationIn,
  isPresent,
  keepTarget,
  linkAt,
  pluginKindAt,
  updateMarker,
} from "./installation.ts";
import { temporaryPath, unlinkQuietly } from "./temporary-files.ts";

/** The installation of `static` beside that of `host-local`; `undefined` beside a plugin by another name. */
export function staticBeside({ name, directory }: Installation): Installation | undefined {
  return name === PLUGIN ? installationIn(directory, STATIC) : undefined;
}

/** Whether `static` is the link. */
export function isLinked(system: OperatorSystem, { target }: Installation): boolean {
  return linkAt(system, target) === PLUGIN;
}

/**
 * What `linkStatic` will do.
 *
 * @param installation of `static`
 * @returns a sentence for people
 */
export function planToLink(system: OperatorSystem, installation: Installation): string {
  const { target } = installation;
  const kept = isPresent(system, target) ? backupPathFor(system, installation, target) : undefined;
  const further = kept === undefined ? "" : `, and the existing file kept as ${kept}`;
  return `${target} will be a link to ${PLUGIN}${further}.`;
}

/**
 * Makes the link, and keeps the plugin that was there.
 *
 * @param installation of `static`
 * @returns a sentence for people
 * @throws SystemError
 */
export function linkStatic(system: OperatorSystem, installation: Installation): string {
  const { directory, target } = installation;
  const kept = isPresent(system, target) ? keepTarget(system, installation) : undefined;
  const link = temporaryPath(system, directory, "new");
  try {
    system.symlink(PLUGIN, link);
    system.rename(link, target);
  } finally {
    unlinkQuietly(system, link);
  }
  updateMarker(system, installation);
  const sentence = kept === undefined ? "" : ` The file it replaced is now ${kept}.`;
  return `Linked ${target} to ${PLUGIN}.${sentence}`;
}

/**
 * What `unlinkStatic` will do.
 *
 * @param installation of `static`
 * @returns a sentence for people; empty if `static` is not the link
 */
export function planToUnlink(
  system: OperatorSystem,
  installation: Installation | undefined,
): string {
  if (installation === undefined || !isLinked(system, installation)) return "";
  const { target, previous } = installation;
  return isRestorable(system, previous)
    ? `${previous} will be renamed to ${target}.`
    : `The link ${target} will be removed.`;
}

/**
 * Puts back the plugin that the link replaced, or removes the link if there was none, before `host-local` becomes another
 * program. To be done first: a link to another program would be no plugin `static`.
 *
 * @param installation of `static`
 * @param keep whether the link becomes the previous file, for another rollback
 * @returns a sentence for people; empty if `static` is not the link
 * @throws CommandError if that plugin does not work
 */
export function unlinkStatic(
  context: Context,
  installation: Installation | undefined,
  keep: "keep link" | "remove link",
): string {
  if (installation === undefined) return "";
  const { system } = context;
  const { target, previous } = installation;
  if (!isLinked(system, installation)) {
    if (keep === "remove link" && isMovedAway(system, installation)) system.unlink(previous);
    return "";
  }
  const restores = isRestorable(system, previous);
  if (pluginKindAt(system, previous) === "other") requireVersions(context, installation, previous);
  if (keep === "keep link") moveAway(system, installation, restores);
  else if (restores) system.rename(previous, target);
  else system.unlink(target);
  updateMarker(system, installation);
  return restores ? `Restored ${target}.` : `Removed the link ${target}.`;
}

/** Whether a path is another plugin, or a link to one that is not visible here. */
function isRestorable(system: OperatorSystem, path: string): boolean {
  return pluginKindAt(system, path) === "other" || danglingLinkAt(system, path) !== undefined;
}

function moveAway(system: OperatorSystem, installation: Installation, restores: boolean): void {
  if (restores) exchange(system, installation);
  else system.rename(installation.target, installation.previous);
}

/** Whether a rollback moved the link away. */
function isMovedAway(system: OperatorSystem, { previous }: Installation): boolean {
  return linkAt(system, previous) === PLUGIN;
}

/**
 * Makes a link again that a rollback moved away, after `host-local` has become this executable again.
 *
 * @param installation of `static`
 * @returns a sentence for people; empty if there was none
 */
export function relinkStatic(
  system: OperatorSystem,
  installation: Installation | undefined,
): string {
  if (installation === undefined || !isMovedAway(system, installation)) return "";
  const { target } = installation;
  exchange(system, installation);
  updateMarker(system, installation);
  return `Linked ${target} to ${PLUGIN}.`;
}
