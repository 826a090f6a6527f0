/** What installation, rollback and removal have in common. */

import type { Context, Report } from "../../cli/command/command.ts";
import { isConfirmed, yesOption } from "../../cli/command/confirm.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { removeAbandoned } from "../node/temporary-files.ts";
import { type Installation, pluginKindAt, staticBeside } from "./installation.ts";
import { requireSame, type Seen } from "./publish.ts";

/** What is done with one plugin of the directory: `host-local`, or `static` beside it. */
export interface Step {
  /** The name of the plugin. */
  readonly name: string;
  /** What will be done, in sentences for people. */
  readonly plan: string;
  /** What the plan is for: it is not carried out once another change has come between. */
  readonly seen?: readonly Seen[];
  /** Does it. */
  readonly make: () => Done;
}

/** What a step has done. */
export interface Done {
  /** The sentences for people. */
  readonly text: string;
  /** Where the file that was replaced is now; `undefined` if it was not kept. */
  readonly kept?: string | undefined;
  /** The CNI versions that the plugin reported. */
  readonly versions?: readonly string[];
}

/** The steps of a change. */
export interface Change {
  readonly action: "installed" | "rolledBack" | "uninstalled";
  /** Without the `[y/N]`. */
  readonly question: string;
  /** What is to be said before; empty for nothing. */
  readonly note?: string;
  /** In their order. */
  readonly steps: readonly Step[];
  /** Why there may be none; nothing for a timer, which has nothing to say then. */
  readonly reason?: string;
}

/** Joins the sentences that are not empty. */
export function sentences(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

/** Such as `, which supports CNI 1.0.0`; empty where it was not tested. */
export function supporting(versions: readonly string[]): string {
  return versions.length === 0 ? "" : `, which supports CNI ${versions.join(", ")}`;
}

/** Makes a change if it is confirmed. */
export function changeIfConfirmed(
  context: Context,
  installation: Installation,
  { action, question, note = "", steps, reason = "" }: Change,
): Report {
  const { system, has } = context;
  if (steps.length === 0) {
    if (has(yesOption.name)) removeAbandoned(system, installation.directory);
    const text = reason === "" ? "" : `${reason}; nothing to do.`;
    return report(context, installation, "none", [text]);
  }
  const plan = sentences(note, ...steps.map((step) => step.plan));
  if (!isConfirmed(context, `${inOneLine(plan)}\n`, question)) {
    const refusal = "Nothing was changed: use --yes, or answer y at a terminal.";
    return report(context, installation, "refused", [plan, refusal]);
  }
  removeAbandoned(system, installation.directory);
  requireSame(system, ...steps.flatMap(({ seen = [] }) => seen));
  const done = steps.map(({ name, seen = [], make }) => {
    requireSame(system, ...seen);
    return { name, ...make() };
  });
  const own = done.find(({ name }) => name === installation.name);
  return report(context, installation, action, [sentences(...done.map(({ text }) => text))], own);
}

function report(
  { system }: Context,
  installation: Installation,
  action: Change["action"] | "none" | "refused",
  lines: readonly string[],
  { kept, versions = [] }: Partial<Done> = {},
): Report {
  const { target, previous } = installation;
  return {
    exitCode: action === "refused" ? 1 : 0,
    document: () => {
      const beside = staticBeside(installation).map((one) => one.target);
      const copy = beside.find((path) => pluginKindAt(system, path) === "ours");
      return { action, target, previous, kept: kept ?? null, versions, static: copy ?? null };
    },
    text: () =>
      lines
        .filter((line) => line !== "")
        .map((line) => `${inOneLine(line)}\n`)
        .join(""),
  };
}
