/** The documentation agrees with the source, and its links are valid. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "tap";
import { differencesPage } from "../scripts/pages/differences.ts";

test("docs/differences.md is what scripts/pages/differences.ts writes", (t) => {
  t.equal(readFileSync("docs/differences.md", "utf8"), differencesPage());
  t.end();
});

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): readonly string[] {
  const headings = readFileSync(page, "utf8").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

const pages = [
  ...[
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "conf-examples/README.md",
  ],
  ...readdirSync("docs", { recursive: true, encoding: "utf8" }).map((name) => join("docs", name)),
].filter((name) => name.endsWith(".md"));

for (const page of pages) {
  test(`the links in ${page} lead to files and headings that exist`, (t) => {
    const links = readFileSync(page, "utf8").matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g);
    for (const [, file = "", anchor = ""] of links) {
      const target = file === "" ? page : join(dirname(page), file);
      t.ok(existsSync(target), target);
      if (anchor !== "") t.ok(anchorsOf(target).includes(anchor), `${target}#${anchor}`);
    }
    t.end();
  });
}
