/** The test files, and what the first line of each says about how it runs. */

import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { root } from "../build/bundle.ts";

/** What tests need of the machine that not every one gives; each is asked for by test/harness/needs.ts, and skipped with the reason. */
const needs = [
  /** Knows by the product's own view of the node which containers are alive. */
  "sees the node",
  /** Makes network namespaces and interfaces, mounts and enters them. */
  "makes namespaces",
  /** Mounts file systems. */
  "mounts",
  /** Runs something as another user, or gives a file to one. */
  "acts as others",
] as const;

/** Something that tests need of the machine. */
export type Need = (typeof needs)[number];

/**
 * The words after `// test: ` in the first line of a test file, with commas between them. A file without such a line has
 * unit tests: they use nothing but memory and share a process with those of other files.
 */
const words = [
  /** Works on an executable from outside: runs with each of the two; if short, in a process with others of its directory. */
  "each executable",
  /** Only with one of them in the short extent: they cannot differ in it but by their engines, which other tests compare. */
  "one if short",
  /** The portable executable, whose calls take twenty times as long, runs it in short also where all is in full. */
  "portable in short",
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
  ...needs,
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

/**
 * The words of a test file.
 *
 * @param path relative to the top of the repository, or absolute
 * @throws where the first line has an unknown word
 */
export function wordsOf(path: string): ReadonlySet<Word> {
  const [first = ""] = readFileSync(resolve(root, path), "utf8").split("\n", 1);
  const [, list] = /^\/\/ test: (.*)$/.exec(first) ?? [];
  return new Set(
    (list?.split(", ") ?? []).map((word) => {
      const known = words.find((candidate) => candidate === word);
      if (known !== undefined) return known;
      throw new Error(
        `${path}: expected in the first line one of ${words.join(", ")}; found ${word}`,
      );
    }),
  );
}

/** Whether a file works on an executable from outside. */
export function usesExecutable({ words }: Pick<TestFile, "words">): boolean {
  return words.has("each executable") || words.has("native executable");
}

/** Whether a file works on an executable, and on nothing of the node's networks. */
export function needsNoAddresses({ words }: Pick<TestFile, "words">): boolean {
  const isOfNode = words.has("sees the node") || words.has("makes namespaces");
  return usesExecutable({ words }) && !isOfNode && !words.has("release");
}

/** Whether a file has tests that need something of the machine that not every one gives. */
export function needsSomething({ words }: TestFile): boolean {
  return needs.some((need) => words.has(need));
}
