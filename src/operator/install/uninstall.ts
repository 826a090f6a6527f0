/** `install --uninstall`. */

import type { Context, Report } from "../../cli/command/command.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { exists } from "../../system/system.ts";
import { STATIC } from "../node/plugin-directories.ts";
import { askVersions } from "./ask-versions.ts";
import { changeIfConfirmed, type Step, sentences, supporting } from "./confirmed-change.ts";
import { type Installation, kindAt, pluginKindAt, staticBeside, unmark } from "./installation.ts";
import { requireGoingBack, requireLeaving } from "./new-keys.ts";
import { requireNoPackage } from "./package-of.ts";
import { publish, requireSame, type Seen, see, type Tested, testedFormer } from "./publish.ts";

/**
 * Removes this executable, in whatever version, and puts the newest other plugin back that answers.
 *
 * @throws CommandError if a package has installed it, if another plugin was put in its place meanwhile, or, without
 *   `--force`, if there is none that answers, or one that would break a network
 */
export function uninstall(context: Context, installation: Installation): Report {
  const { system } = context;
  const { target } = installation;
  requireNoPackage(system, target);
  const beside = staticBeside(installation);
  return changeIfConfirmed(context, installation, {
    action: "uninstalled",
    question: "Uninstall?",
    // `static` first, so that it never is beside another `host-local`.
    steps: [
      beside === undefined ? undefined : removing(context, beside),
      removing(context, installation),
    ],
    // Where nothing is to be done, it is not this one.
    reason:
      kindAt(system, target) === "nothing"
        ? `There is no ${target}`
        : `${target} is another plugin`,
  });
}

function removing(context: Context, installation: Installation): Step | undefined {
  const { system } = context;
  const { name, target, previous, older, marker } = installation;
  const seen = see(system, target, previous, older);
  // Each once: to learn it, a program may have to be run.
  const kinds = new Map(
    [target, previous, older].map((path) => [path, pluginKindAt(system, installation, path)]),
  );
  const own = [previous, target].filter((path) => kinds.get(path) === "ours");
  const isOther = kinds.get(target) === "other" && isWhole(system, installation);
  const [newest, ...others] = isOther
    ? []
    : [previous, older].filter((path) => ["other", "elsewhere"].includes(kinds.get(path) ?? ""));
  if (newest !== undefined) {
    const restored = testedFormer(context, installation, [newest, ...others]);
    const left = own.filter((path) => path !== target);
    return stepOf(system, installation, {
      seen,
      note: name === STATIC ? "" : requireGoingBack(context, name),
      restored,
      removed: restored.path === newest ? [...left, ...others] : left,
    });
  }
  if (own.length === 0 && !exists(system, marker)) return undefined;
  return stepOf(system, installation, {
    seen,
    removed: own,
    remark: isOther ? `${target} is another plugin and stays.` : requireLeaving(context, name),
  });
}

/** Whether another plugin that is there is one, and not what is left of this one, or of a copy of another, that was cut short. */
function isWhole(system: OperatorSystem, { name, target, marker }: Installation): boolean {
  if (!exists(system, marker)) return true;
  const answer = askVersions(system, target, name);
  return "versions" in answer || answer.mayStartElsewhere;
}

interface Removal {
  /** What it was planned for: another removal may be under way. */
  readonly seen: readonly Seen[];
  /** What is said before it. */
  readonly note?: string;
  /** The former plugin, which comes back. */
  readonly restored?: Tested;
  /** The files that are removed. */
  readonly removed: readonly string[];
  /** What is said before and after it. */
  readonly remark?: string;
}

function stepOf(
  system: OperatorSystem,
  installation: Installation,
  { seen, note = "", restored, removed, remark = "" }: Removal,
): Step {
  const { name, target } = installation;
  const verify = (): void => requireSame(system, ...seen);
  const names = removed.join(" and ");
  return {
    name,
    plan: sentences(
      note,
      restored === undefined ? "" : `${restored.path} will be renamed to ${target}.`,
      names === "" ? "" : `${names} will be removed.`,
      remark,
    ),
    verify,
    make: () => {
      verify();
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
  };
}
