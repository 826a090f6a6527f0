/** Titles of tests have at most 90 characters. */

import { test } from "tap";
import { titleProblems } from "../../../scripts/lint/titles.ts";

for (const quote of ['"', "`"]) {
  test(`a title in ${quote} that is too long is named`, async (t) => {
    const problemsOf = (length: number, path = "test/a.test.ts") => {
      const title = "a".repeat(length);
      const text = `test(\n  ${quote}${title}${quote}, async () => {});\n`;
      return titleProblems([{ path, text, imports: [] }]);
    };

    t.same(problemsOf(90), []);
    t.match(problemsOf(91), [/^test\/a\.test\.ts: a title has at most 90 characters, found: a+$/]);
    t.same(problemsOf(91, "src/a.ts"), []);
  });
}
