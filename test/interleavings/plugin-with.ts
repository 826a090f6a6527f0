/** The program with another function in place of one of its own, loaded beside the unchanged one. */

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { Programs } from "./calls.ts";

/** A change of one function of a file. */
export interface Change {
  /** The file, below `src`. */
  readonly file: string;
  /** The name of a function, or of a class; or that of a method, such as `Journal.renew`. */
  readonly place: string;
  /** The new function: an expression in the scope of that file, where `original` is the old one. */
  readonly instead: string;
}

const source = new URL("../../src/", import.meta.url).href;

const changes = new Map<string, Change>();

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    const { search } = new URL(context.parentURL ?? source);
    // The errors of system calls come from the machine, so both programs must share their class.
    const isOwn = found.url.startsWith(source) && !found.url.startsWith(`${source}system/`);
    return isOwn && changes.has(search) ? { ...found, url: `${found.url}${search}` } : found;
  },
  load: (url, context, next) => {
    const change = changes.get(new URL(url).search);
    if (change === undefined) return next(url, context);
    const path = fileURLToPath(url);
    const text = readFileSync(path, "utf8");
    const isChanged = path.endsWith(`/src/${change.file}`);
    const code = isChanged ? `${text}${statementOf(change)}` : text;
    return { format: "module-typescript", source: code, shortCircuit: true };
  },
});

/**
 * Loads the plugin and the tool with a change.
 *
 * @throws Error where the function to be changed is not there
 */
export async function programsWith(change: Change): Promise<Programs> {
  const search = searchOf(change);
  const { main } = await import(`${source}main.ts${search}`);
  const { operate } = await import(`${source}operate.ts${search}`);
  return { main, operate };
}

/**
 * Loads the one file with its change.
 *
 * @throws Error where the function to be changed is not there
 */
export async function requirePlace(change: Change): Promise<void> {
  await import(`${source}${change.file}${searchOf(change)}`);
}

function searchOf(change: Change): string {
  const search = `?change=${changes.size}`;
  changes.set(search, change);
  return search;
}

/** To be appended to the file: the names of its functions and classes are variables, also for those that import them. */
function statementOf({ file, place, instead }: Change): string {
  const [name, method] = place.split(".");
  const at = method === undefined ? name : `${name}.prototype.${method}`;
  return `
{
  const original = ${at};
  if (typeof original !== "function") throw new Error("${file} has no ${place}");
  ${at} = ${instead};
}
`;
}
