/** What an operator is to run for a finding: data, which the report writes as a line for a shell. */

import { shellWord } from "../../cli/output/shell-word.ts";
import type { NetworkFiles } from "../../store/files/network-files.ts";
import { parentOf } from "../../store/files/paths.ts";
import type { CachedAttachment } from "../alive/cache/cached-attachment.ts";
import type { Requested } from "../configured/configuration-directories.ts";
import type { NodeReservation } from "../held/network-directory.ts";
import { commandText, shellCommand } from "../next-command.ts";

export type RemedyCommand =
  /** A command of this program on a network, with its operands and options. */
  | { readonly files: NetworkFiles; readonly words: readonly [string, ...string[]] }
  /** Other programs with their operands, each if the one before it has succeeded. */
  | { readonly run: readonly (readonly string[])[] }
  /** The missing reservation of an attachment is written. */
  | {
      readonly owner: Pick<CachedAttachment, "containerId" | "interfaceName">;
      readonly path: string;
    };

/** The release of a reservation, for one whose container is not alive: otherwise it refuses. */
export function releaseCommand({ network: { files }, text }: NodeReservation): RemedyCommand {
  return { files, words: ["release", text, "--network", files.network] };
}

/** The line for a shell, with the options that the command needs to find what this one has found. */
export function formatRemedyCommand(context: Requested, command: RemedyCommand): string {
  if ("words" in command) return commandText(context, command.files, command.words);
  if ("run" in command) return command.run.map(shellCommand).join(" && ");
  return writing(command);
}

function writing({
  owner: { containerId, interfaceName },
  path,
}: Extract<RemedyCommand, { owner: object }>): string {
  const making = shellCommand(["mkdir", "-p", parentOf(path)]);
  const content = shellCommand(["printf", "%s\\r\\n%s", containerId, interfaceName]);
  // With noclobber the shell creates the file exclusively.
  return `(umask 022; ${making}) && (umask 077; set -C; ${content} > ${shellWord(path)})`;
}
