/** Where the packages have the tool, and what of theirs runs it. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { installedFiles, UNITS } from "../../scripts/release/package.ts";
import type { ReleaseFile } from "../../scripts/release/release.ts";
import { readExample } from "../e2e/example.ts";
import { inRepository } from "../harness/repository.ts";

const names = [
  "README.md",
  "operator/host-local-gc.service",
  "operator/node-problem-detector.json",
];

/** The files of a package with these examples. */
function packaged(): readonly ReleaseFile[] {
  const examples = names.map((name) => `conf-examples/${name}`);
  const files = examples.map(
    (name): ReleaseFile => ({ name, mode: 0o644, from: inRepository(name) }),
  );
  return installedFiles(files, { executables: ["usr/sbin"], zshCompletions: "usr/share/zsh" });
}

function textOf(file: ReleaseFile): string {
  if ("linkTo" in file) return "";
  return "text" in file ? String(file.text) : readFileSync(file.from, "utf8");
}

test("what runs the tool in a package runs that of the package", async (t) => {
  const running = packaged().filter(
    ({ name }) => name.startsWith(UNITS) || /examples\//.test(name),
  );
  t.equal(running.length, names.length + 1);
  for (const file of running) {
    const text = textOf(file);
    t.match(text, "/usr/sbin/host-local", file.name);
    t.notMatch(text, "/usr/local/", file.name);
  }
});

test("what runs the tool in the repository runs that of the README", async (t) => {
  for (const name of names) t.match(readExample(name), "/usr/local/sbin/host-local", name);
});
