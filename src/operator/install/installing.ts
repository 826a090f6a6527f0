/** Puts this executable in place as a plugin, and keeps the other one that was there. */

import {
  CommandError,
  type Context,
  type Option,
  type RefusedError,
} from "../../cli/command/command.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { NO_HARD_LINK, recover } from "../../system/system.ts";
import { isMarker, markerText, PLUGIN, STATIC } from "../configured/plugin-directories.ts";
import { commandText } from "../next-command.ts";
import { replaceByFile, withTemporaryPath } from "../temporary-files.ts";
import { askPlugin, isOurs } from "./ask.ts";
import { fileAt, type PluginPlace, requireUnpackaged } from "./place.ts";

/** The option that names the plugin. */
export const asOption: Option = {
  name: "--as",
  value: "NAME",
  summary: `install it as DIR/NAME, for configurations with that type (default: ${PLUGIN})`,
};

/** The option that repairs an installation. */
export const ifReplacedOption: Option = {
  name: "--if-replaced",
  summary: "only if this program was installed there, and another one is there now, or none",
};

/** What was done with a place. */
export interface Outcome {
  readonly action: "installed" | "uninstalled" | "none" | "refused";
  /** Lines for people. */
  readonly lines: readonly string[];
  /** The CNI versions that the plugin reported. */
  readonly versions?: readonly string[];
  /** Why only `--force` does it. */
  readonly refusal?: RefusedError;
}

/** Asks for a confirmation of what is about to be done, in lines for people: the outcome where there is none. */
export type Confirm = (plan: readonly string[]) => Outcome | undefined;

/** This executable, even if it was renamed or deleted. */
const SELF = "/proc/self/exe";

/** Whether this program was installed, but another one, or nothing, is there now; the program there is asked. */
function isReplaced(system: OperatorSystem, { name, target, marker }: PluginPlace): boolean {
  return isMarker(system, marker, name) && !isOurs(system, target, name);
}

/**
 * Puts this executable in place.
 *
 * @throws CommandError if the name is another plugin's, the file a package's, there is no directory, or the copy does not answer
 * @throws SystemError
 */
export function putInPlace(context: Context, place: PluginPlace, confirm: Confirm): Outcome {
  const { system, has } = context;
  const { name, directory, target, previous, marker } = place;
  if (has(ifReplacedOption.name) && !isReplaced(system, place)) {
    return { action: "none", lines: [] };
  }
  requireUnpackaged(system, place);
  const isThere = fileAt(system, target) !== undefined;
  const isFree = !isThere || isMarker(system, marker, name) || [PLUGIN, STATIC].includes(name);
  if (!isFree && !isOurs(system, target, name)) {
    throw new CommandError(
      `install: ${target} is another plugin; nothing was changed. Choose another name with ${asOption.name}`,
    );
  }
  const kept = `What is there is kept as ${previous}, unless it is a version of this executable.`;
  const plan = [`This executable will be installed as ${target}.`, ...(isThere ? [kept] : [])];
  const refused = confirm(plan);
  if (refused !== undefined) return refused;
  // Each step leaves a plugin that works, and the way back.
  return withTemporaryPath(system, directory, (copy) => {
    system.copyFile(SELF, copy, 0o755);
    const { versions, problem } = askPlugin(system, copy, name);
    if (versions.length === 0)
      throw new CommandError(`install: nothing was changed: the copy ${problem}`);
    keep(system, place);
    system.rename(copy, target);
    replaceByFile(system, marker, markerText(name));
    const back =
      fileAt(system, previous) === undefined ? [] : [`--uninstall puts ${previous} back.`];
    const networks = commandText(context, undefined, ["networks"]);
    const next = name === STATIC ? [] : [`Whether the runtime uses it: ${networks}`];
    const text = `Installed ${target}, which supports CNI ${versions.join(", ")}.`;
    return { action: "installed", lines: [text, ...back, ...next], versions };
  });
}

/**
 * Keeps the plugin that is about to be replaced as the previous one, unless it is a version of this program, or does not answer
 * where the previous one does. Another installer may replace it at any moment, so a further name of the file is examined and
 * kept; whatever has come meanwhile, such as the previous one, is kept in its turn.
 *
 * @throws SystemError
 */
function keep(system: OperatorSystem, place: PluginPlace): void {
  const { name, directory, target, previous } = place;
  const file = fileAt(system, target);
  if (file === undefined) return;
  withTemporaryPath(system, directory, (path) => {
    recover(
      // A symbolic link is linked itself: its target may depend on being called by this name.
      () => system.link(target, path),
      () => system.copyFile(target, path, 0o755),
      ...NO_HARD_LINK,
    );
    const { kind, versions } = askPlugin(system, path, name);
    const isWorse = versions.length === 0 && askPlugin(system, previous, name).versions.length > 0;
    if (kind !== "ours" && !isWorse) system.rename(path, previous);
  });
  if (fileAt(system, target) !== file) keep(system, place);
}
