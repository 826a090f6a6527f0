/** The commit that is released. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build/bundle.ts";
import { command } from "./command.ts";
import type { Source } from "./release.ts";

/**
 * Reads which commit this is, and when it was made: then, or as SOURCE_DATE_EPOCH says.
 *
 * @throws where this is not a clone of the repository, or files differ from the commit and that is not allowed
 */
export function readSource(allowChanges: boolean): Source {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const commit = command(["git", "rev-parse", "HEAD"]).trim();
  const changes = command(["git", "status", "--porcelain"]).trimEnd();
  if (changes !== "" && !allowChanges) {
    throw new Error(
      `a release is made of a commit, and these files differ from it (--allow-changes makes one all the same):\n${changes}`,
    );
  }
  const { SOURCE_DATE_EPOCH = command(["git", "show", "--no-patch", "--format=%ct", "HEAD"]) } =
    process.env;
  const time = Number(SOURCE_DATE_EPOCH);
  if (!Number.isSafeInteger(time) || time < 0) {
    throw new Error(`SOURCE_DATE_EPOCH: expected seconds since 1970, found ${SOURCE_DATE_EPOCH}`);
  }
  return { version, commit, time, modified: changes !== "" };
}
