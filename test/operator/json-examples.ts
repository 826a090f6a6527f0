/** The examples of JSON documents in docs/data/operator-json.json. */

import { readFileSync } from "node:fs";
import { inRepository } from "../harness/repository.ts";

const examples: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(inRepository("docs/data/operator-json.json"), "utf8"),
);

/** The example of a command line. */
export function exampleOf(words: string): unknown {
  return examples[words] ?? null;
}

/** The examples of a command, with its options. */
export function examplesOf(command: string): readonly unknown[] {
  const words = Object.keys(examples).filter((line) => line.split(" ")[0] === command);
  return words.map(exampleOf);
}

/** A document with its values replaced by their kinds, and of each list only the first element. */
export function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(formOf);
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, formOf(inner)]));
}
