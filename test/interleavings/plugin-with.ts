/** The program with a change to its source, loaded beside the unchanged one. */

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { Programs } from "./calls.ts";

/** A change of one place in a file. */
export interface Change {
  /** Below `src`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const source = new URL("../../src/", import.meta.url).href;

const changes = new Map<string, Change>();

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    const { search } = new URL(context.parentURL ?? source);
    // Errors of system calls are those of the machine, so that one class is theirs.
    const isOwn = found.url.startsWith(source) && !found.url.startsWith(`${source}system/`);
    return isOwn && changes.has(search) ? { ...found, url: `${found.url}${search}` } : found;
  },
  load: (url, context, next) => {
    const change = changes.get(new URL(url).search);
    if (change === undefined) return next(url, context);
    const path = fileURLToPath(url);
    const text = readFileSync(path, "utf8");
    const isChanged = path.endsWith(`/src/${change.file}`);
    const code = isChanged ? changed(text, change) : text;
    return { format: "module-typescript", source: code, shortCircuit: true };
  },
});

/**
 * Loads the plugin and the tool with a change.
 *
 * @throws Error where the text to be changed is not there exactly once
 */
export async function programsWith(change: Change): Promise<Programs> {
  const search = `?change=${changes.size}`;
  changes.set(search, change);
  const { main } = await import(`${source}main.ts${search}`);
  const { operate } = await import(`${source}operate.ts${search}`);
  return { main, operate };
}

/**
 * The source of a file with a change.
 *
 * @throws Error where the text to be changed is not there exactly once
 */
export function sourceWith(change: Change): string {
  return changed(readFileSync(new URL(change.file, source), "utf8"), change);
}

function changed(text: string, { file, from, to }: Change): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${from}`);
  return parts.join(to);
}
