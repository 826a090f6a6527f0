/** `install --uninstall`. */

import { CommandError, type Context, type Report } from "../../cli/command/command.ts";
import { exists } from "../../system/system.ts";
import { STATIC } from "../node/plugin-directories.ts";
import { changeIfConfirmed, type Step, sentences, supporting } from "./confirmed-change.ts";
import { type Installation, pluginKindAt, staticBeside, unmark } from "./installation.ts";
import { requireGoingBack, requireLeaving } from "./new-keys.ts";
import { requireNoPackage } from "./package-of.ts";
import { publish, testedFormer } from "./publish.ts";

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
  const isOther = pluginKindAt(system, installation, target) === "other";
  return changeIfConfirmed(context, installation, {
    action: "uninstalled",
    question: "Uninstall?",
    // `static` first, so that it never is beside another `host-local`.
    steps: [
      beside === undefined ? undefined : removing(context, beside),
      removing(context, installation),
    ],
    reason: isOther ? `${target} is another plugin` : `There is no ${target}`,
  });
}

function removing(context: Context, installation: Installation): Step | undefined {
  const { system } = context;
  const { name, target, previous, older, marker } = installation;
  const kindOf = (path: string) => pluginKindAt(system, installation, path);
  const installed = kindOf(target);
  const own = [previous, target].filter((path) => kindOf(path) === "ours");
  const former = [previous, older].filter((path) => ["other", "elsewhere"].includes(kindOf(path)));
  const [newest, ...rest] = installed === "other" ? [] : former;
  if (own.length === 0 && newest === undefined && !exists(system, marker)) return undefined;

  const restored =
    newest === undefined ? undefined : testedFormer(context, installation, [newest, ...rest]);
  const removed = restored === undefined ? own : own.filter((path) => path !== target);
  const isLeft = installed !== "other" && restored === undefined;
  const remark = [
    installed === "other" ? `${target} is another plugin and stays.` : "",
    isLeft ? requireLeaving(context, name) : "",
  ];
  const names = removed.join(" and ");
  return {
    name,
    plan: sentences(
      restored === undefined || name === STATIC ? "" : requireGoingBack(context, name),
      restored === undefined ? "" : `${restored.path} will be renamed to ${target}.`,
      names === "" ? "" : `${names} will be removed.`,
      ...remark,
    ),
    verify: () => {
      if (kindOf(target) === installed) return;
      throw new CommandError(`install: ${target} is another plugin now; nothing was changed`);
    },
    make: () => {
      unmark(system, installation);
      if (restored !== undefined) publish(system, restored, installation);
      for (const path of removed) system.unlink(path);
      return {
        text: sentences(
          restored === undefined ? "" : `Restored ${target}${supporting(restored.versions)}.`,
          names === "" ? "" : `Removed ${names}.`,
          ...remark,
        ),
        ...(restored === undefined ? {} : { versions: restored.versions }),
      };
    },
  };
}
