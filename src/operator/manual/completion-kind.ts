/** What a shell completes an option's value or an operand with, by its placeholder. */

import type { Command, Option } from "../command/command.ts";
import { commonOptions } from "../command/common-options.ts";

/** What to complete with. */
export type Kind = "directories" | "files" | "networks";

const kinds: Readonly<Record<string, Kind>> = {
  DIR: "directories",
  FILE: "files",
  NETWORK: "networks",
};

/** All options of a command. */
export function allOptions(command: Command): readonly Option[] {
  return [...command.options, ...commonOptions];
}

/** What to complete an option's value with; `undefined` if nothing is known. */
export function valueKind({ value }: Option): Kind | undefined {
  return value === undefined ? undefined : kinds[value];
}

/** What to complete an operand with. */
export function operandKinds({ operands }: Command): readonly Kind[] {
  return (operands.match(/[A-Z]+/g) ?? []).flatMap((name) => kinds[name] ?? []);
}

/** The literal words among the operands, such as `bash` and `zsh`. */
export function operandWords({ operands }: Command): readonly string[] {
  return operands.match(/(?<![A-Za-z])[a-z]+/g) ?? [];
}
