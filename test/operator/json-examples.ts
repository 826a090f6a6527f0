/** The examples of JSON documents in docs/operator-json.md. */

import { readFileSync } from "node:fs";
import { inRepository } from "../harness/repository.ts";

const page = readFileSync(inRepository("docs/operator-json.md"), "utf8");

/** The example of a command line on the page. */
export function exampleOf(words: string): unknown {
  const [, text] = new RegExp(`<!-- ${words} -->\\n\`\`\`json\\n([^]*?)\`\`\``).exec(page) ?? [];
  return JSON.parse(text ?? "null");
}

/** A document with its values replaced by their kinds, and of each list only the first element. */
export function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(formOf);
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, formOf(inner)]));
}
