/** Imports and folders: what src/ may import, and that test/ mirrors it. */

import { dirname } from "node:path";
import { isAllowed, rowOf } from "./arrows.ts";
import type { SourceFile } from "./source.ts";

const SOURCE = "src/";

/** Finds imports of src/ against the arrows, and files that no row is for; a line for each. */
export function importProblems(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith(SOURCE))
    .flatMap(({ path, imports }) => {
      const from = rowOf(path.slice(SOURCE.length));
      if (from === undefined) return [`${path}: scripts/lint/arrows.ts has no row for it`];
      return imports.flatMap((target) => {
        const to = target.startsWith(SOURCE) ? rowOf(target.slice(SOURCE.length)) : undefined;
        if (to !== undefined && isAllowed(from, to)) return [];
        return [`${path}: scripts/lint/arrows.ts has no arrow from ${from} to ${to ?? target}`];
      });
    });
}

/** Finds folders of test/ below one that src/ has, too, which src/ does not have; a line for each. */
export function mirrorProblems(files: readonly SourceFile[]): readonly string[] {
  const folders = new Set(files.flatMap(({ path }) => ancestorsOf(path)));
  const stray = [...folders].filter((folder) => {
    const [top = "", first = "", second] = folder.split("/");
    if (top !== "test" || second === undefined || !folders.has(`${SOURCE}${first}`)) return false;
    return !folders.has(folder.replace(/^test\//, SOURCE));
  });
  return stray.map(
    (folder) => `${folder}: src/ has no such folder, which it would be the tests of`,
  );
}

/** The folders that a file is in, the innermost first. */
function ancestorsOf(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === "." ? [] : [folder, ...ancestorsOf(folder)];
}
