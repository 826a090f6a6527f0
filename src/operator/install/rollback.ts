/** `install --rollback`. */

import { CommandError, type Context, type Report } from "../../cli/command/command.ts";
import { changeIfConfirmed, type Step, sentences, supporting } from "./confirmed-change.ts";
import {
  type Installation,
  isPresent,
  mark,
  pluginKindAt,
  staticBeside,
  unmark,
} from "./installation.ts";
import { requireGoingBack } from "./new-keys.ts";
import { publish, see, testedFormer } from "./publish.ts";

/**
 * Exchanges the installed plugin and the previous one.
 *
 * @throws CommandError if there is no previous one, or, without `--force`, if it does not work or would break a network
 */
export function rollBack(context: Context, installation: Installation): Report {
  const { system } = context;
  const { name, previous } = installation;
  if (!isPresent(system, previous)) {
    throw new CommandError(`install: there is no ${previous} to roll back to`);
  }
  const isReturn = pluginKindAt(system, previous) === "ours";
  const own = exchanging(context, installation);
  const beside = staticBeside(installation).flatMap((one) =>
    exchangingStatic(context, one, isReturn),
  );
  return changeIfConfirmed(context, installation, {
    action: "rolledBack",
    question: "Roll back?",
    note: isReturn ? "" : requireGoingBack(context, name),
    // `static` beside another `host-local` is what it was before; so it is at every moment.
    steps: isReturn ? [own, ...beside] : [...beside, own],
  });
}

function exchanging(context: Context, installation: Installation): Step {
  const { system } = context;
  const { name, target, previous } = installation;
  const former = testedFormer(context, installation, [previous]);
  const isThere = isPresent(system, target);
  return {
    name,
    plan: isThere
      ? `${previous} and ${target} will be exchanged.`
      : `${previous} will be renamed to ${target}.`,
    make: () => {
      unmark(system, installation);
      publish(system, former, installation, "exchange");
      if (pluginKindAt(system, target) === "ours") mark(system, installation);
      return {
        text: sentences(
          `Restored ${target}${supporting(former.versions)}.`,
          isThere ? `The file it replaced is now ${previous}.` : "",
        ),
        kept: isThere ? previous : undefined,
        versions: former.versions,
      };
    },
  };
}

/** @param isReturn whether `host-local` becomes this executable again */
function exchangingStatic(
  context: Context,
  beside: Installation,
  isReturn: boolean,
): readonly Step[] {
  const { system } = context;
  const { name, target, previous } = beside;
  const seen = see(system, target, previous);
  const [now, before] = [target, previous].map((path) => pluginKindAt(system, path));
  if ((isReturn ? before : now) !== "ours") return [];
  if (isReturn || before === "other" || before === "elsewhere") {
    return [exchanging(context, beside)];
  }
  return [
    {
      name,
      plan: `${target} will be renamed to ${previous}.`,
      seen,
      make: () => {
        unmark(system, beside);
        system.rename(target, previous);
        return { text: `Removed ${target}.` };
      },
    },
  ];
}
