/** What installation, rollback and removal have in common. */

import { CommandError, type Context, type Report } from "../../cli/command/command.ts";
import { isConfirmed, yesOption } from "../../cli/command/confirm.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { join } from "../../store/files/paths.ts";
import { STATIC } from "../node/plugin-directories.ts";
import { askVersions } from "./ask-versions.ts";
import { type Installation, pluginKindAt, updateMarker } from "./installation.ts";
import { removeAbandoned } from "./temporary-files.ts";

/** The outcome of `install`, as in its document. */
export interface Outcome {
  readonly action: "installed" | "rolledBack" | "uninstalled" | "none" | "refused";
  /** The sentences for people. */
  readonly text: string;
  /** Where the file that was replaced is now; `undefined` if it was not kept. */
  readonly kept?: string | undefined;
  /** The CNI versions that the plugin reported. */
  readonly versions?: readonly string[];
}

/** Reports an outcome. */
function report(
  { system }: Context,
  { directory, target, previous }: Installation,
  outcome: Outcome,
  lines: readonly string[] = [outcome.text],
): Report {
  const { action, kept = null, versions = [] } = outcome;
  const copy = join(directory, STATIC);
  return {
    exitCode: action === "refused" ? 1 : 0,
    document: {
      action,
      target,
      previous,
      kept,
      versions,
      static: pluginKindAt(system, copy) === "ours" ? copy : null,
    },
    text: lines.map((line) => `${inOneLine(line)}\n`).join(""),
  };
}

/** Joins the sentences that are not empty. */
export function sentences(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

/**
 * Reports that there is nothing to do, but for the temporary files of killed installations and the marker.
 *
 * @param reason empty for a timer, which has nothing to say then
 */
export function nothingToDo(context: Context, installation: Installation, reason: string): Report {
  if (context.has(yesOption.name)) {
    removeAbandoned(context.system, installation.directory);
    updateMarker(context.system, installation);
  }
  const text = reason === "" ? "" : `${reason}; nothing to do.`;
  return report(context, installation, { action: "none", text }, text === "" ? [] : [text]);
}

/**
 * Makes a change if it is confirmed.
 *
 * @param plan what will be done, one or more sentences
 * @param question without the `[y/N]`
 */
export function changeIfConfirmed(
  context: Context,
  installation: Installation,
  { plan, question }: { readonly plan: string; readonly question: string },
  change: () => Outcome,
): Report {
  if (!isConfirmed(context, `${inOneLine(plan)}\n`, question)) {
    const text = "Nothing was changed: use --yes, or answer y at a terminal.";
    return report(context, installation, { action: "refused", text }, [plan, text]);
  }
  removeAbandoned(context.system, installation.directory);
  const outcome = change();
  updateMarker(context.system, installation);
  return report(context, installation, outcome);
}

/**
 * The CNI versions that an executable reports.
 *
 * @param path the executable, in the plugin directory
 * @param what what the error calls it
 * @throws CommandError if it does not answer VERSION
 */
export function requireVersions(
  { system }: Context,
  { directory, name }: Installation,
  path: string,
  what = path,
): readonly string[] {
  const answer = askVersions(system, directory, path.slice(path.lastIndexOf("/") + 1), name);
  if ("versions" in answer) return answer.versions;
  throw new CommandError(
    `install: ${what} does not answer CNI_COMMAND=VERSION as a CNI plugin; nothing was changed. ${answer.problem}`,
  );
}
