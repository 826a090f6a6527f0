/** What is done with the place of a plugin, by what is there and what was there before. */

import { CommandError, type Context, type Option } from "../../cli/command/command.ts";
import { yesOption } from "../../cli/command/confirm.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { exists } from "../../system/system.ts";
import { PLUGIN, STATIC } from "../configured/plugin-directories.ts";
import {
  askIfReplaced,
  askKind,
  askVersions,
  type PluginKind,
  SELF,
  saysItIsHostLocal,
} from "./ask.ts";
import {
  forgettingNothing,
  installing,
  leavingOther,
  type Move,
  removing,
  restoring,
} from "./moves.ts";
import { isPresent, kindAt, linkAt, mark, type Place, requireNoPackage } from "./place.ts";

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

/**
 * Decides to put this executable in place, unless it is there already.
 *
 * @returns the move; a text that says why there is nothing to do, empty where nothing is said
 * @throws CommandError if the name is another plugin's, or the file a package's
 */
export function decideToInstall(context: Context, place: Place): Move | string {
  const { system, has } = context;
  const isRepair = has(ifReplacedOption.name);
  if (isRepair && !askIfReplaced(system, place)) return "";
  requireNoPackage(system, place);
  if (isRepair) return installing(context, place);
  requireFreeName(system, place);
  if (!isThisProgram(system, place.target)) return installing(context, place);
  // A killed installation may have ended before its mark.
  if (has(yesOption.name)) mark(system, place);
  return `${place.target} already is this executable`;
}

/** A case of the table: what is there now and what was there before, of all if it is not said, and the move then. */
interface Case {
  readonly now?: readonly PluginKind[];
  readonly before?: readonly PluginKind[];
  /** Whether this program was installed, and not removed since. */
  readonly isMarked?: boolean;
  /** What else must be; asked last, since it runs the plugin. */
  readonly and?: (system: OperatorSystem, place: Place) => boolean;
  readonly move: (context: Context, place: Place, before: PluginKind) => Move | string;
}

const SOMETHING: readonly PluginKind[] = ["ours", "other", "elsewhere"];

/** The cases of an uninstall: the first that applies; where none does, another plugin has taken the place, and stays. */
const casesOfUninstall: readonly Case[] = [
  { now: ["ours", "nothing"], before: SOMETHING, move: restoring },
  { now: ["ours"], move: removing },
  { now: ["nothing"], isMarked: true, move: forgettingNothing },
  { now: ["nothing"], move: (_, { target }) => `There is no ${target}` },
  { isMarked: false, move: (_, { target }) => `${target} is another plugin` },
  // Another installer has replaced this executable, and may have been cut short.
  { before: SOMETHING, and: isBroken, move: restoring },
];

/**
 * Decides to put back what was there before this executable.
 *
 * @returns as `decideToInstall`
 * @throws RefusedError if a network needs this plugin, or the former one does not answer, without `--force`
 * @throws CommandError if the file is a package's
 */
export function decideToUninstall(context: Context, place: Place): Move | string {
  const { system } = context;
  requireNoPackage(system, place);
  // The previous one first: where another removal renames it meanwhile, what is found then is that plugin.
  const before = askKind(system, place.previous);
  const now = askKind(system, place.target);
  const isMarked = exists(system, place.marker);
  const isThis = (one: Case): boolean =>
    (one.now?.includes(now) ?? true) &&
    (one.before?.includes(before) ?? true) &&
    (one.isMarked ?? isMarked) === isMarked &&
    (one.and?.(system, place) ?? true);
  const { move } = casesOfUninstall.find(isThis) ?? { move: leavingOther };
  return move(context, place, before);
}

/**
 * Where this program was installed before, the name is its own, whatever is there now.
 *
 * @throws CommandError where a file of the name is another plugin than `host-local`
 */
function requireFreeName(system: OperatorSystem, { name, target, marker }: Place): void {
  if ([PLUGIN, STATIC].includes(name) || exists(system, marker)) return;
  if (!isPresent(system, target) || saysItIsHostLocal(system, target)) return;
  throw new CommandError(
    `install: ${target} does not say that it is host-local; nothing was changed. Choose another name with ${asOption.name}`,
  );
}

/** Whether it is a copy of this program that can be started. A link to it would become what another installer makes of that. */
function isThisProgram(system: OperatorSystem, path: string): boolean {
  const isFile = kindAt(system, path) === "file" && linkAt(system, path) === undefined;
  return isFile && (system.openFile(path, 0).mode & 0o111) !== 0 && system.sameContent(SELF, path);
}

/** Whether a plugin does not answer, and would not elsewhere. */
function isBroken(system: OperatorSystem, { name, target }: Place): boolean {
  const answer = askVersions(system, target, name);
  return "problem" in answer && !answer.mayStartElsewhere;
}
