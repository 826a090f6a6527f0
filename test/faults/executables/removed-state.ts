/** What the executables keep for themselves is removed while they work. */

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ownDirectory } from "../../harness/data-directory.ts";
import type { Random } from "../../harness/random.ts";

/** What is removed again and again. */
export type Removed = "all" | "single files";

/** How often, in milliseconds. */
const EVERY = 15;

/**
 * Removes it beside the calls, as an administrator may.
 *
 * @param directory the data directory
 * @returns the function that ends it, and returns how often something was removed
 */
export function removeBeside(directory: string, what: Removed, random: Random): () => number {
  const own = join(directory, ownDirectory);
  let count = 0;
  const again = setInterval(() => {
    try {
      const paths = readdirSync(own, { recursive: true, encoding: "utf8" });
      if (paths.length === 0) return;
      const path = what === "all" ? own : join(own, random.pick(paths));
      rmSync(path, { recursive: true, force: true });
      count++;
    } catch {
      // A call has made or removed something in it meanwhile.
    }
  }, EVERY);
  return () => {
    clearInterval(again);
    return count;
  };
}
