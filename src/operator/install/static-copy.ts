/** The copy named `static`: called by that name, this executable is the `static` plugin. */

import type { Context } from "../../cli/command/command.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { exists } from "../../system/system.ts";
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
  SELF,
  updateMarker,
  withCopy,
} from "./installation.ts";

/** The installation of `static` beside that of `host-local`; `undefined` beside a plugin by another name. */
export function staticBeside({ name, directory }: Installation): Installation | undefined {
  return name === PLUGIN ? installationIn(directory, STATIC) : undefined;
}

/** Whether `static` is this executable, in whatever version. */
function isOwnStatic(system: OperatorSystem, { target }: Installation): boolean {
  return pluginKindAt(system, target) === "ours";
}

/**
 * Whether the copy has to be made: it is asked for and is not there, or it is another version. A link would become what
 * another installer makes of `host-local`.
 *
 * @param installation of `static`
 * @param isWanted whether it is asked for where there is none
 */
export function needsStatic(
  system: OperatorSystem,
  installation: Installation,
  isWanted: boolean,
): boolean {
  const { target } = installation;
  if (!isOwnStatic(system, installation)) return isWanted;
  return linkAt(system, target) !== undefined ? isWanted : !system.sameContent(SELF, target);
}

/**
 * What `copyStatic` will do.
 *
 * @param installation of `static`
 * @returns a sentence for people
 */
export function planForStatic(system: OperatorSystem, installation: Installation): string {
  const { target } = installation;
  const kept = isOther(system, target) ? backupPathFor(system, installation, target) : undefined;
  const further = kept === undefined ? "" : `, and the existing file kept as ${kept}`;
  return `${target} will be a copy of this executable${further}.`;
}

/** Whether there is something that is no version of this executable, or cannot be seen from here. */
function isOther(system: OperatorSystem, path: string): boolean {
  return isPresent(system, path) && pluginKindAt(system, path) !== "ours";
}

/**
 * Makes the copy, and keeps the plugin that was there.
 *
 * @param installation of `static`
 * @returns a sentence for people
 * @throws SystemError
 */
export function copyStatic(system: OperatorSystem, installation: Installation): string {
  const { directory, target } = installation;
  const kept = withCopy(system, SELF, directory, (copy) => {
    const to = isOther(system, target) ? keepTarget(system, installation) : undefined;
    system.rename(copy, target);
    return to;
  });
  updateMarker(system, installation);
  const sentence = kept === undefined ? "" : ` The file it replaced is now ${kept}.`;
  return `Installed ${target}.${sentence}`;
}

/**
 * What `removeStatic` will do.
 *
 * @param installation of `static`
 * @returns a sentence for people; empty if `static` is another plugin
 */
export function planToRemove(
  system: OperatorSystem,
  installation: Installation | undefined,
): string {
  if (installation === undefined || !isOwnStatic(system, installation)) return "";
  const { target, previous } = installation;
  return isRestorable(system, previous)
    ? `${previous} will be renamed to ${target}.`
    : `${target} will be removed.`;
}

/**
 * Puts back the plugin that the copy replaced, or removes the copy if there was none.
 *
 * @param installation of `static`
 * @param keep whether the copy becomes the previous file, for another rollback
 * @returns a sentence for people; empty if `static` is another plugin
 * @throws CommandError if that plugin does not work
 */
export function removeStatic(
  context: Context,
  installation: Installation | undefined,
  keep: "keep copy" | "remove copy",
): string {
  if (installation === undefined) return "";
  const { system } = context;
  const { target, previous } = installation;
  if (!isOwnStatic(system, installation)) {
    if (keep === "remove copy" && isMovedAway(system, installation)) system.unlink(previous);
    return "";
  }
  const restores = isRestorable(system, previous);
  if (pluginKindAt(system, previous) === "other") requireVersions(context, installation, previous);
  if (keep === "keep copy") moveAway(system, installation, restores);
  else if (restores) system.rename(previous, target);
  else system.unlink(target);
  updateMarker(system, installation);
  return restores ? `Restored ${target}.` : `Removed ${target}.`;
}

/** Whether a path is another plugin, or a link to one that is not visible here. */
function isRestorable(system: OperatorSystem, path: string): boolean {
  return pluginKindAt(system, path) === "other" || danglingLinkAt(system, path) !== undefined;
}

function moveAway(system: OperatorSystem, installation: Installation, restores: boolean): void {
  if (restores) exchange(system, installation);
  else system.rename(installation.target, installation.previous);
}

/** Whether a rollback moved the copy away. */
function isMovedAway(system: OperatorSystem, { previous }: Installation): boolean {
  return exists(system, previous) && pluginKindAt(system, previous) === "ours";
}

/**
 * Puts the copy back that a rollback moved away, after `host-local` has become this executable again.
 *
 * @param installation of `static`
 * @returns a sentence for people; empty if there was none
 */
export function returnStatic(
  system: OperatorSystem,
  installation: Installation | undefined,
): string {
  if (installation === undefined || !isMovedAway(system, installation)) return "";
  const { target } = installation;
  exchange(system, installation);
  updateMarker(system, installation);
  return `Restored ${target}.`;
}
