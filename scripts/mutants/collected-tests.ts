/** What a test file imports as `tap` while it runs with mutants: its tests are kept, to be run many times. */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Test } from "tap";

/** A test of a file. */
export interface CollectedTest {
  readonly id: string;
  readonly run: (t: Test) => unknown;
}

const known = new Map<string, readonly CollectedTest[]>();

let collected: CollectedTest[] = [];

let prefix = "";

/** The tests of a file, which is loaded unless it is. */
export async function testsOf(file: string): Promise<readonly CollectedTest[]> {
  const found = known.get(file);
  if (found !== undefined) return found;
  const own: CollectedTest[] = [];
  collected = own;
  prefix = file;
  await import(pathToFileURL(resolve(file)).href);
  known.set(file, own);
  return own;
}

/** All files are to be loaded again. */
export function forget(): void {
  known.clear();
}

/** Collects a test, as tap's `test`; a behaviour is looked at in memory alone. */
export function test(name: string, run: (t: Test) => unknown): void {
  if (prefix.startsWith("test/behaviours/") && !name.endsWith(" (in memory)")) return;
  collected.push({ id: `${prefix} ${collected.length + 1}: ${name}`, run });
}
