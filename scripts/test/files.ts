/** The test files, and what the first line of each says about how it runs. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build/bundle.ts";

/**
 * The words after `// test: ` in the first line of a test file, with commas between them. A file without such a line has
 * unit tests: they use nothing but memory and share a process with those of other files.
 */
const words = [
  /** Works on an executable from outside: runs with each of the two; if short, in a process with others of its directory. */
  "each executable",
  /** Only with one of them in the short extent: they cannot differ in it but by their engines, which other tests compare. */
  "one if short",
  /** Is about that one, or would take long with the portable one, which cannot differ in it but by its engine. */
  "native executable",
  /** A unit test that uses more than memory, or takes long. */
  "own process",
  /** Is worth a run with another Go plugin. */
  "Go plugin",
  /** Takes long, so starts early, in a process of its own. */
  "slow",
  /** Is left out of the short extent. */
  "full extent only",
  /** Is run for each architecture of a release, too, in the short extent or in full. */
  "each architecture",
  "each architecture in full",
  /** Is run by `npm run test:release`, or `npm run test:kubernetes`, alone. */
  "release",
  "cluster",
] as const;

/** How a test file runs. */
export type Word = (typeof words)[number];

/** A test file. */
export interface TestFile {
  /** Relative to the top of the repository. */
  readonly path: string;
  readonly words: ReadonlySet<Word>;
}

/**
 * All test files, by path.
 *
 * @throws where the first line of one has an unknown word
 */
export function testFiles(): readonly TestFile[] {
  return globSync("test/**/*.test.ts", { cwd: root })
    .sort()
    .map((path) => ({ path, words: wordsOf(path) }));
}

function wordsOf(path: string): ReadonlySet<Word> {
  const [first = ""] = readFileSync(join(root, path), "utf8").split("\n", 1);
  const [, list] = /^\/\/ test: (.*)$/.exec(first) ?? [];
  return new Set(
    (list?.split(", ") ?? []).map((word) => {
      const known = words.find((one) => one === word);
      if (known !== undefined) return known;
      throw new Error(
        `${path}: expected in the first line one of ${words.join(", ")}; found ${word}`,
      );
    }),
  );
}

/** Whether a file works on an executable from outside. */
export function usesExecutable({ words }: TestFile): boolean {
  return words.has("each executable") || words.has("native executable");
}
