/** Puts back the plugin that was there before this program, or removes this program. */

import {
  CommandError,
  type Context,
  type Option,
  RefusedError,
} from "../../cli/command/command.ts";
import { removeFailedCalls } from "../../store/failed-calls/failed-calls-file.ts";
import { attempt } from "../../system/system.ts";
import { isMarker } from "../configured/plugin-directories.ts";
import { type AskedPlugin, askPlugin } from "./ask.ts";
import { needsOf } from "./going-back.ts";
import type { Confirm, Outcome } from "./installing.ts";
import { fileAt, type PluginPlace, requireUnpackaged } from "./place.ts";

/** The option that goes back nevertheless. */
export const forceOption: Option = {
  name: "--force",
  summary:
    "go back to a plugin that does not understand the configurations of this node or does not answer here, or to none",
};

/** The step for what is there now: `former` if there is a previous plugin, `none` if there is none. */
const steps = {
  ours: { former: "restore", none: "remove" },
  nothing: { former: "restore", none: "leave" },
  // Another installer may have been cut short.
  broken: { former: "restore", none: "leave" },
  // Another installer has taken the place.
  other: { former: "leave", none: "leave" },
} as const satisfies Readonly<Record<AskedPlugin["kind"], object>>;

/**
 * Puts back what was there before this program; only with `--force` where that does not answer, or does not understand a
 * configuration of this node, or where one would have no plugin.
 *
 * @throws CommandError if the file is a package's, there is no directory, or the file was replaced before it was confirmed
 * @throws SystemError
 */
export function putBack(context: Context, place: PluginPlace, confirm: Confirm): Outcome {
  const { system, has } = context;
  const { name, target, previous, marker } = place;
  requireUnpackaged(system, place);
  const isInstalled = isMarker(system, marker, name);
  const file = fileAt(system, target);
  // The previous plugin is asked first: if another removal renames it meanwhile, the second answer is that plugin.
  const before = askPlugin(system, previous, name);
  const now = askPlugin(system, target, name);
  const kind = now.kind === "broken" && !isInstalled ? "other" : now.kind;
  const step = steps[kind][before.kind === "nothing" ? "none" : "former"];
  const there = kind === "nothing" ? `There is no ${target}` : `${target} is another plugin`;
  if (step === "leave" && !isInstalled) {
    return { action: "none", lines: [`${there}; nothing to do.`] };
  }
  const left = { restore: before.kind, remove: "nothing", leave: kind }[step];
  const isUntested = step === "restore" && before.versions.length === 0;
  const reasons = [
    ...(isUntested
      ? [`${previous} ${before.problem}. If this is a container, run it on the node`]
      : []),
    ...(left === "ours" ? [] : needsOf(context, name, left === "nothing" ? left : "Go plugin")),
  ];
  if (reasons.length > 0 && !has(forceOption.name)) {
    const refusal = `install: nothing was changed. Change what is named here, or add ${forceOption.name}:`;
    const details = reasons.map((reason) => `  ${reason}`);
    return { action: "refused", lines: [], refusal: new RefusedError(refusal, details) };
  }
  const { plan, done } = {
    restore: { plan: `${previous} will be renamed to ${target}.`, done: `Restored ${target}.` },
    remove: { plan: `${target} will be removed.`, done: `Removed ${target}.` },
    leave: { plan: `${there}. ${marker} will be removed.`, done: `${there}. Removed ${marker}.` },
  }[step];
  const refused = confirm([...reasons, plan]);
  if (refused !== undefined) return refused;
  if (fileAt(system, target) !== file) {
    throw new CommandError(
      `install: ${target} was replaced meanwhile, and is left as it is; see what would be done now`,
    );
  }
  if (isInstalled) attempt(() => system.unlink(marker), undefined, "ENOENT");
  if (step === "restore") system.rename(previous, target);
  if (step === "remove") system.unlink(target);
  removeFailedCalls(system);
  const lines = [done, ...reasons];
  return { action: "uninstalled", lines, versions: step === "restore" ? before.versions : [] };
}
