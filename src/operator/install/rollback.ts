/** `install --rollback`. */

import { CommandError, type Context, type Report } from "../command/command.ts";
import { PREVIOUS } from "../node/plugin-directories.ts";
import { changeIfConfirmed, nothingToDo, requireVersions } from "./change.ts";
import { exchange, type Installation, kindAt, linkAt } from "./installation.ts";

/**
 * Exchanges the installed plugin and the previous one.
 *
 * @throws CommandError if there is no previous one, or if it does not work
 */
export function rollBack(context: Context, installation: Installation): Report {
  const { system } = context;
  const { target, previous } = installation;
  if (kindAt(system, previous) !== "file") {
    const link = linkAt(system, previous);
    throw new CommandError(
      link === undefined
        ? `install: there is no ${previous} to roll back to`
        : `install: ${previous} is a link to ${link}, which does not exist`,
    );
  }
  const exists = kindAt(system, target) === "file";
  if (exists && system.sameContent(previous, target)) {
    return nothingToDo(context, installation, `${target} and ${previous} are the same`);
  }
  const plan = exists
    ? `${previous} and ${target} will be exchanged.`
    : `${previous} will be renamed to ${target}.`;
  return changeIfConfirmed(context, installation, { plan, question: "Roll back?" }, () => {
    const versions = requireVersions(context, installation, PREVIOUS, previous);
    exchange(system, installation);
    const kept = exists ? ` The file it replaced is now ${previous}.` : "";
    return {
      action: "rolledBack",
      text: `Restored ${target}, which supports CNI ${versions.join(", ")}.${kept}`,
      kept: exists ? previous : undefined,
      versions,
    };
  });
}
