/** `install --uninstall`. */

import { CommandError, type Context, type Report } from "../command/command.ts";
import { PREVIOUS } from "../node/plugin-directories.ts";
import { changeIfConfirmed, nothingToDo, type Outcome, requireVersions } from "./change.ts";
import { type Installation, linkAt, pluginKindAt } from "./installation.ts";

/**
 * Removes this executable, in whatever version, and puts the plugin back that it replaced.
 *
 * @throws CommandError if that plugin does not work, or another one was put in place of this one meanwhile
 */
export function uninstall(context: Context, installation: Installation): Report {
  const { system } = context;
  const { target, previous } = installation;
  const installed = pluginKindAt(system, target);
  const before = pluginKindAt(system, previous);
  if (installed === "other") {
    if (before !== "ours") {
      return nothingToDo(context, installation, `${target} is another plugin`);
    }
    return removing(context, installation, [previous], `${target} is another plugin and stays.`);
  }
  if (before === "other") return restore(context, installation);
  const ours = [
    ...(before === "ours" || linkAt(system, previous) !== undefined ? [previous] : []),
    ...(installed === "ours" ? [target] : []),
  ];
  if (ours.length === 0) return nothingToDo(context, installation, `There is no ${target}`);
  const remark =
    installed === "ours"
      ? "There is no other plugin to restore: as long as a configuration names host-local, runtimes can neither start nor remove the containers of its network."
      : "";
  return removing(context, installation, ours, remark);
}

/** A single rename, so that there is a plugin at every moment. */
function restore(context: Context, installation: Installation): Report {
  const { target, previous } = installation;
  const plan = `${previous} will be renamed to ${target}, which it replaces.`;
  return changeIfConfirmed(context, installation, { plan, question: "Uninstall?" }, () => {
    const versions = requireVersions(context, installation, PREVIOUS, previous);
    requireNoOther(context, target);
    context.system.rename(previous, target);
    return {
      action: "uninstalled",
      text: `Restored ${target}, which supports CNI ${versions.join(", ")}.`,
      versions,
    };
  });
}

function removing(
  context: Context,
  installation: Installation,
  paths: readonly string[],
  remark: string,
): Report {
  const names = paths.join(" and ");
  const plan = `${names} will be removed. ${remark}`.trim();
  const remove = (): Outcome => {
    for (const path of paths) requireNoOther(context, path);
    for (const path of paths) context.system.unlink(path);
    return { action: "uninstalled", text: `Removed ${names}. ${remark}`.trim() };
  };
  return changeIfConfirmed(context, installation, { plan, question: "Uninstall?" }, remove);
}

/** Another installer may have put its plugin there while the question was at the terminal. */
function requireNoOther({ system }: Context, path: string): void {
  if (pluginKindAt(system, path) !== "other") return;
  throw new CommandError(`install: ${path} is another plugin now; nothing was changed`);
}
