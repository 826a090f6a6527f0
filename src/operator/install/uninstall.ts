/** `install --uninstall`. */

import type { Context, Report } from "../../cli/command/command.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { exists } from "../../system/system.ts";
import { STATIC } from "../node/plugin-directories.ts";
import { askVersions } from "./ask-versions.ts";
import { changeIfConfirmed, type Step, sentences, supporting } from "./confirmed-change.ts";
import { type Installation, kindAt, pluginKindAt, staticBeside, unmark } from "./installation.ts";
import { requireGoingBack, requireLeaving } from "./new-keys.ts";
import { publish, see, testedFormer } from "./publish.ts";

/**
 * Removes this executable, in whatever version, and puts the newest other plugin back that answers.
 *
 * @throws CommandError if another plugin was put in its place meanwhile, or, without `--force`, if there is none that answers,
 *   or one that would break a network
 */
export function uninstall(context: Context, installation: Installation): Report {
  const { system } = context;
  const { target } = installation;
  return changeIfConfirmed(context, installation, {
    action: "uninstalled",
    question: "Uninstall?",
    // `static` first, so that it never is beside another `host-local`.
    steps: [...staticBeside(installation), installation].flatMap((one) => removing(context, one)),
    // Where nothing is to be done, it is not this one.
    reason:
      kindAt(system, target) === "nothing"
        ? `There is no ${target}`
        : `${target} is another plugin`,
  });
}

function removing(context: Context, installation: Installation): readonly Step[] {
  const { system } = context;
  const { name, target, previous, older, marker } = installation;
  // What it is planned for: another removal may be under way.
  const seen = see(system, target, previous, older);
  // Each once: to learn it, a program may have to be run.
  const kinds = new Map(
    [target, previous, older].map((path) => [path, pluginKindAt(system, path)]),
  );
  const own = [previous, target].filter((path) => kinds.get(path) === "ours");
  const isOther = kinds.get(target) === "other" && isWhole(system, installation);
  const [newest, ...others] = isOther
    ? []
    : [previous, older].filter((path) => ["other", "elsewhere"].includes(kinds.get(path) ?? ""));
  if (newest === undefined && own.length === 0 && !exists(system, marker)) return [];
  const restored =
    newest === undefined ? undefined : testedFormer(context, installation, [newest, ...others]);
  const left = restored === undefined ? own : own.filter((path) => path !== target);
  const removed = restored !== undefined && restored.path === newest ? [...left, ...others] : left;
  const note = restored === undefined || name === STATIC ? "" : requireGoingBack(context, name);
  const remark = restored === undefined ? remarkOn(context, installation, isOther) : "";
  const names = removed.join(" and ");
  return [
    {
      name,
      plan: sentences(
        note,
        restored === undefined ? "" : `${restored.path} will be renamed to ${target}.`,
        names === "" ? "" : `${names} will be removed.`,
        remark,
      ),
      seen,
      make: () => {
        unmark(system, installation);
        if (restored !== undefined) publish(system, restored, installation);
        for (const path of removed) system.unlink(path);
        const text = sentences(
          restored === undefined ? "" : `Restored ${target}${supporting(restored.versions)}.`,
          names === "" ? "" : `Removed ${names}.`,
          remark,
        );
        return { text, versions: restored?.versions ?? [] };
      },
    },
  ];
}

/** What is said before and after a removal that restores nothing. */
function remarkOn(context: Context, { name, target }: Installation, isOther: boolean): string {
  return isOther ? `${target} is another plugin and stays.` : requireLeaving(context, name);
}

/** Whether another plugin that is there is one, and not what is left of this one, or of a copy of another, that was cut short. */
function isWhole(system: OperatorSystem, { name, target, marker }: Installation): boolean {
  if (!exists(system, marker)) return true;
  const answer = askVersions(system, target, name);
  return "versions" in answer || answer.mayStartElsewhere;
}
