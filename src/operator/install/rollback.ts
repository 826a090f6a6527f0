/** `install --rollback`. */

import { CommandError, type Context, type Report } from "../../cli/command/command.ts";
import { changeIfConfirmed, nothingToDo, requireVersions, sentences } from "./confirmed-change.ts";
import { exchange, type Installation, kindAt, linkAt, pluginKindAt } from "./installation.ts";
import { requireGoingBack } from "./new-keys.ts";
import { planToRemove, removeStatic, returnStatic, staticBeside } from "./static-copy.ts";

/**
 * Exchanges the installed plugin and the previous one.
 *
 * @throws CommandError if there is no previous one, if it does not work, or if it would break a network and `--force` is not
 *   given
 */
export function rollBack(context: Context, installation: Installation): Report {
  const { system } = context;
  const { target, previous } = installation;
  if (kindAt(system, previous) !== "file") {
    const text = linkAt(system, previous);
    throw new CommandError(
      text === undefined
        ? `install: there is no ${previous} to roll back to`
        : `install: ${previous} is a link to ${text}, which does not exist`,
    );
  }
  const exists = kindAt(system, target) === "file";
  if (exists && system.sameContent(previous, target)) {
    return nothingToDo(context, installation, `${target} and ${previous} are the same`);
  }
  const link = staticBeside(installation);
  const isReturn = pluginKindAt(system, previous) === "ours";
  const plan = sentences(
    isReturn ? "" : requireGoingBack(context, installation.name),
    exists
      ? `${previous} and ${target} will be exchanged.`
      : `${previous} will be renamed to ${target}.`,
    isReturn ? "" : planToRemove(system, link),
  );
  return changeIfConfirmed(context, installation, { plan, question: "Roll back?" }, () => {
    const versions = requireVersions(context, installation, previous);
    const before = isReturn ? "" : removeStatic(context, link, "keep copy");
    exchange(system, installation);
    const after = isReturn ? returnStatic(system, link) : before;
    const kept = exists ? `The file it replaced is now ${previous}.` : "";
    const restored = `Restored ${target}, which supports CNI ${versions.join(", ")}.`;
    return {
      action: "rolledBack",
      text: sentences(restored, kept, after),
      kept: exists ? previous : undefined,
      versions,
    };
  });
}
