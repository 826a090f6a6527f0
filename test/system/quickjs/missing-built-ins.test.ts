// test: own process
/** What the engine of the native executable lacks does not pass `npm run types` or `npm run lint`. */

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { inRepository } from "../../harness/repository.ts";

/** Runs a program of node_modules in a directory, and returns what it prints. */
function check(directory: string, program: string, ...words: readonly string[]): string {
  const path = inRepository(`node_modules/.bin/${program}`);
  return String(spawnSync(path, words, { cwd: directory }).stdout);
}

const missing: Readonly<Record<string, string>> = {
  "iterator helpers": "export const value = new Set([1]).values().take(1);",
  "methods of sets": "export const value = new Set([1]).union(new Set([2]));",
  "RegExp.escape": 'export const value = RegExp.escape("a");',
  localeCompare: 'export const value = ["b", "a"].sort((a, b) => a.localeCompare(b));',
  normalize: 'export const value = "a".normalize("NFC").length;',
  "flag v": "export const value = /[a--b]/v;",
  "Math.sin": "export const value = 2 * Math.sin(1);",
  "Math.sumPrecise": "export const value = Math.sumPrecise([1]);",
  "setTimeout, of the host": "setTimeout(() => {}, 1);",
};

test("a method or syntax that the engine lacks is a type error", async (t) => {
  const directory = t.testdir();
  const fileOf = (at: number) => `feature-${at}.ts`;
  const programs = Object.entries(missing);
  for (const [at, [, program]] of programs.entries()) {
    writeFileSync(join(directory, fileOf(at)), program);
  }
  const present = 'export const value = Object.groupBy(["a"], (text) => text.toWellFormed());';
  writeFileSync(join(directory, "present.ts"), present);
  const configuration = {
    extends: inRepository("tsconfig.engine.json"),
    include: ["*.ts", inRepository("src/system/quickjs/missing-built-ins.d.ts")],
    exclude: [],
  };
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(configuration));

  const errors = check(directory, "tsc", "--noEmit", "--pretty", "false");

  for (const [at, [feature]] of programs.entries()) {
    t.ok(errors.includes(`${fileOf(at)}(1,`), feature);
  }
  t.notOk(errors.includes("present.ts"), "what it has passes");
});

test("a global that the engine lacks is an error of lint", async (t) => {
  const globals = ["Proxy", "Promise", "WeakRef", "FinalizationRegistry", "Float64Array", "Intl"];
  const program = globals.map((name) => `export const of${name} = ${name};\n`).join("");
  const configuration = JSON.parse(readFileSync(inRepository("biome.json"), "utf8"));
  const directory = t.testdir({
    "biome.json": JSON.stringify({ ...configuration, vcs: undefined }),
    src: { ipam: { "feature.ts": program } },
  });

  const errors = check(directory, "biome", "lint", "--reporter=json");

  for (const name of globals) t.match(errors, `Do not use the global variable ${name}.`);
});
