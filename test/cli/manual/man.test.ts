// test: each executable, one if short
/** man: the manual page, made from the definitions of the commands. */

import { spawnSync } from "node:child_process";
import { test } from "tap";
import type { Command } from "../../../src/cli/command/command.ts";
import { manualPage } from "../../../src/cli/manual/manual.ts";
import { commands } from "../../../src/commands.ts";
import { tool } from "../../harness/tool.ts";

/** The reason to skip what needs a program. */
function skipWithout(program: string, ...words: string[]): string | false {
  return spawnSync(program, words).error === undefined ? false : `There is no ${program} here.`;
}

/** The page as a reader sees it, on a wide sheet, so that nothing is hyphenated. */
function rendered(page: string): { text: string; warnings: string } {
  const { stdout, stderr } = spawnSync(
    "groff",
    ["-ww", "-man", "-Tutf8", "-P-cbou", "-rLL=200n", "-rHY=0"],
    { input: page, encoding: "utf8" },
  );
  return { text: stdout.replace(/[ \n]+/g, " ").replaceAll("‐ ", "-"), warnings: stderr };
}

test("the page names every command, option and example", {
  skip: skipWithout("groff", "--version"),
}, async (t) => {
  const { exitCode, stdout, stderr } = tool(["man"]);

  t.strictSame([exitCode, stderr], [0, ""]);
  t.match(stdout, /^\.TH HOST\\-LOCAL 8 "" "host\\-local v[0-9.]+"/);
  const { text, warnings } = rendered(stdout);
  t.equal(warnings, "");
  for (const { name, description, options, examples } of commands) {
    t.match(text, ` host-local ${name} `);
    for (const paragraph of description) t.ok(text.includes(paragraph.slice(0, 60)), paragraph);
    for (const option of options)
      t.ok(text.includes(` ${option.name} ${option.value ?? ""}`.trimEnd()), option.name);
    for (const { line } of examples) t.ok(text.includes(line.replace(/ +/g, " ")), line);
  }
});

test("mandoc finds nothing wrong", { skip: skipWithout("mandoc", "-h") }, async (t) => {
  const { stdout } = spawnSync("mandoc", ["-Tlint", "-Wwarning"], {
    input: tool(["man"]).stdout,
    encoding: "utf8",
  });
  // A page without a date comes out the same from every build.
  t.strictSame(
    stdout.split("\n").filter((line) => line !== "" && !/date/.test(line)),
    [],
  );
});

test("characters that are special to troff are escaped", {
  skip: skipWithout("groff", "--version"),
}, async (t) => {
  const odd: Command = {
    name: "odd",
    operands: "",
    summary: "back\\slash, 'quotes' and `ticks`",
    description: [".leading dot. 'leading quote, ~ ^ and --double-hyphens"],
    options: [],
    examples: [{ line: ".sh 'a\\nb'", effect: "a strange line" }],
    run: () => ({ exitCode: 0, document: () => ({}), text: () => "" }),
  };
  const { text, warnings } = rendered(manualPage([odd], "v1"));
  t.equal(warnings, "");
  t.match(text, "Back\\slash, 'quotes' and `ticks`.");
  t.match(text, ".leading dot. 'leading quote, ~ ^ and --double-hyphens");
  t.match(text, ".sh 'a\\nb'");
});
