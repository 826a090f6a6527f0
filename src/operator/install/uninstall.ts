/** `install --uninstall`. */

import { CommandError, type Context, type Report } from "../../cli/command/command.ts";
import {
  changeIfConfirmed,
  nothingToDo,
  type Outcome,
  requireVersions,
  sentences,
} from "./confirmed-change.ts";
import { danglingLinkAt, type Installation, pluginKindAt } from "./installation.ts";
import { requireGoingBack } from "./new-keys.ts";
import { planToRemove, removeStatic, staticBeside } from "./static-copy.ts";

/**
 * Removes this executable, in whatever version, and puts the plugin back that it replaced.
 *
 * @throws CommandError if that plugin does not work or would break a network, or another one was put in place of this one meanwhile
 */
export function uninstall(context: Context, installation: Installation): Report {
  const { system } = context;
  const { target, previous } = installation;
  const installed = pluginKindAt(system, target);
  const before = pluginKindAt(system, previous);
  if (installed === "other") {
    if (before !== "ours") {
      return onlyStatic(context, installation, `${target} is another plugin`);
    }
    return removing(context, installation, [previous], `${target} is another plugin and stays.`);
  }
  if (before === "other" || danglingLinkAt(system, previous) !== undefined) {
    return restore(context, installation);
  }
  const ours = [
    ...(before === "ours" ? [previous] : []),
    ...(installed === "ours" ? [target] : []),
  ];
  if (ours.length === 0) return onlyStatic(context, installation, `There is no ${target}`);
  const remark =
    installed === "ours"
      ? `There is no other plugin to restore: as long as a configuration names ${installation.name}, runtimes can neither start nor remove the containers of its network.`
      : "";
  return removing(context, installation, ours, remark);
}

/** Where `host-local` stays as it is, the copy `static` may still be there. */
function onlyStatic(context: Context, installation: Installation, text: string): Report {
  const link = staticBeside(installation);
  const further = planToRemove(context.system, link);
  if (further === "") return nothingToDo(context, installation, text);
  const plan = `${text}. ${further}`;
  return changeIfConfirmed(context, installation, { plan, question: "Uninstall?" }, () => ({
    action: "uninstalled",
    text: removeStatic(context, link, "remove copy"),
  }));
}

/** A single rename, so that there is a plugin at every moment. A link to what is not visible here cannot be tested. */
function restore(context: Context, installation: Installation): Report {
  const { target, previous } = installation;
  const link = staticBeside(installation);
  const plan = sentences(
    requireGoingBack(context, installation.name),
    `${previous} will be renamed to ${target}, which it replaces.`,
    planToRemove(context.system, link),
  );
  return changeIfConfirmed(context, installation, { plan, question: "Uninstall?" }, () => {
    const dangling = danglingLinkAt(context.system, previous);
    const versions = dangling === undefined ? requireVersions(context, installation, previous) : [];
    requireNoOther(context, target);
    const further = removeStatic(context, link, "remove copy");
    context.system.rename(previous, target);
    const what =
      dangling === undefined
        ? `which supports CNI ${versions.join(", ")}`
        : `a link to ${dangling}, which does not exist here`;
    return {
      action: "uninstalled",
      text: sentences(`Restored ${target}, ${what}.`, further),
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
  const link = staticBeside(installation);
  const plan = sentences(`${names} will be removed.`, planToRemove(context.system, link), remark);
  const remove = (): Outcome => {
    for (const path of paths) requireNoOther(context, path);
    const further = removeStatic(context, link, "remove copy");
    for (const path of paths) context.system.unlink(path);
    return { action: "uninstalled", text: sentences(`Removed ${names}.`, further, remark) };
  };
  return changeIfConfirmed(context, installation, { plan, question: "Uninstall?" }, remove);
}

/** Another installer may have put its plugin there while the question was at the terminal. */
function requireNoOther({ system }: Context, path: string): void {
  if (pluginKindAt(system, path) !== "other") return;
  throw new CommandError(`install: ${path} is another plugin now; nothing was changed`);
}
