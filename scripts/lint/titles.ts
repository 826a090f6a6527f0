/** How long the titles of tests are. */

import type { SourceFile } from "./source.ts";

/** The longest title, in characters: a report shows it in one line. */
const LONGEST_TITLE = 90;

/** The title of a test, as it stands in the source. */
const TITLE = /\btest\(\s*(?:"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;

/** Finds titles that are too long; a line for each. */
export function titleProblems(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => path.endsWith(".test.ts"))
    .flatMap(({ path, text }) =>
      [...text.matchAll(TITLE)].flatMap(([, plain, template = ""]) => {
        const title = plain ?? template;
        if (title.length <= LONGEST_TITLE) return [];
        return [`${path}: a title has at most ${LONGEST_TITLE} characters, found: ${title}`];
      }),
    );
}
