/** What a shell completes an option's value or an operand with, by its placeholder. */

import type { Command, Option } from "../command/command.ts";

/** What `completion` itself lists. */
export const listKinds = ["networks", "addresses", "pods", "namespaces"] as const;

export type ListKind = (typeof listKinds)[number];

/** What to complete with. */
export type Kind = "directories" | "files" | ListKind;

const kinds: Readonly<Record<string, Kind>> = {
  DIR: "directories",
  FILE: "files",
  NETWORK: "networks",
  ADDRESS: "addresses",
  POD: "pods",
  NAMESPACE: "namespaces",
};

/** The shells that there is a script for. */
export const shells = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof shells)[number];

/** The options whose values `completion` needs, too, when it lists something. */
export const directoryOptions = ["--conf-dir", "--data-dir", "--cache-dir"];

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
