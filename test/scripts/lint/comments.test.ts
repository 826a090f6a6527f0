/** A doc comment names what it documents, and a comment knows neither a man nor a woman. */

import { test } from "tap";
import { commentProblems } from "../../../scripts/lint/comments.ts";

/** The problems of a file of this text. */
function problemsOf(text: string): readonly string[] {
  return commentProblems([{ path: "src/planted.ts", text, imports: [] }]);
}

const nounless = [
  "Those that it had, tried first.",
  "The same from here.",
  "That of its container.",
  "Those for the pod.",
  "These.",
  "It signs tokens.",
  "They are sorted.",
  "One for each podCIDR.",
  "Each with each.",
  "All, in order.",
  "The one at a path.",
  "None without a cluster CIDR.",
  "As it was given.",
  "In milliseconds.",
  "For the pod.",
  "Of the last run.",
];

const named = [
  "Those addresses that it had, tried first.",
  "Each network namespace of the node.",
  "One interface of one container.",
  "All records, in order.",
  "The first address of a range.",
  "This executable, even if it was renamed.",
  "Whether it is there.",
  "Its inode.",
];

test("a doc comment must not begin without its noun", async (t) => {
  for (const words of nounless) {
    const expected = [`src/planted.ts:3: a doc comment names what it documents, found: ${words}`];
    t.same(problemsOf(`const a = 1;\n\n/** ${words} */\nconst b = 2;\n`), expected);
    t.same(problemsOf(`const a = 1;\n\n/**\n * ${words}\n */\nconst b = 2;\n`), expected);
  }
});

test("a doc comment may begin with its noun, and another comment as it likes", async (t) => {
  for (const words of named) t.same(problemsOf(`/** ${words} */`), [], words);
  t.same(problemsOf("// Those that it had.\n/* It is. */\n"), []);
  t.same(problemsOf('const glob = "src/**/*.ts";\n/** A glob. */\n'), []);
});

test("a test may begin with the case that it is about", async (t) => {
  const text = "/** With a current journal, nothing is read. */";
  t.same(commentProblems([{ path: "test/planted.test.ts", text, imports: [] }]), []);
});

test("an owner or a reader is neither him nor her", async (t) => {
  for (const word of ["him", "his", "himself", "her"]) {
    const problem = `expected a word for anybody, found: ${word}`;
    t.same(problemsOf(`/** The key of the owner, or ${word} */`), [`src/planted.ts:1: ${problem}`]);
    t.same(problemsOf(`const a = 1;\nrun(a); // ${word}\n`), [`src/planted.ts:2: ${problem}`]);
    t.same(problemsOf(`const text = "${word}";\n// The history, there.\n`), []);
  }
});
