/** What a shell can offer for a value or an operand, by what the definitions call it. */

import type { Command, Option } from "../command/command.ts";
import { commonOptions } from "../command/common-options.ts";

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

/** What to offer as an option's value; `undefined` where nothing is known. */
export function valueKind({ value }: Option): Kind | undefined {
  return value === undefined ? undefined : kinds[value];
}

/** What to offer as an operand. */
export function operandKinds({ operands }: Command): readonly Kind[] {
  return (operands.match(/[A-Z]+/g) ?? []).flatMap((name) => kinds[name] ?? []);
}

/** The words that an operand can be, such as `bash` and `zsh`. */
export function operandWords({ operands }: Command): readonly string[] {
  return operands.match(/(?<![A-Za-z])[a-z]+/g) ?? [];
}

/** A text in a shell's single quotes. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
