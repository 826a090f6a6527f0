/** The executable under the name of the `static` plugin. */

import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable } from "../../harness/executable.ts";

/**
 * Links the executable under the name `static`.
 *
 * @param t the test, after which the link is gone
 * @returns the path of the link
 */
export function staticLink(t: Pick<Test, "teardown">): string {
  const path = join(scratchDirectory(t), "static");
  symlinkSync(executable, path);
  return path;
}
