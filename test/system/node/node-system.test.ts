// test: own process
/** The real machine: the same file calls as in memory, and what only a real one has. */

import { execFileSync } from "node:child_process";
import { statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { test } from "tap";
import { createNodeSystem } from "../../../src/system/node/node-system.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { fileSystemCases, outcomeOf } from "../file-system-cases.ts";
import { putFiles } from "../real-files.ts";

for (const fileCase of fileSystemCases) {
  test(`on Node.js, ${fileCase.name}`, async (t) => {
    const root = scratchDirectory(t);
    putFiles(root, fileCase);
    t.same(outcomeOf(fileCase, createNodeSystem(), root), fileCase.expected);
  });
}

/** The permission bits of a file. */
function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

test("files, directories and the lock file get their modes under any umask", async (t) => {
  const root = t.testdir();
  const before = process.umask(0o077);
  t.teardown(() => process.umask(before));
  const system = createNodeSystem();

  system.createFile(`${root}/file`, "", 0o600);
  system.makeDirectories(`${root}/a/b`);
  system.lock({ file: `${root}/lock`, directory: `${root}/own`, timeout: 0 }).release();

  t.equal(modeOf(`${root}/file`), 0o600);
  t.equal(modeOf(`${root}/a/b`), 0o755);
  t.equal(modeOf(`${root}/lock`), 0o600);
});

test("status follows a link", async (t) => {
  const root = t.testdir({ file: "content" });
  symlinkSync(`${root}/file`, `${root}/a`);

  t.equal(createNodeSystem().status(`${root}/a`).kind, "file");
});

test("reading a FIFO does not wait for its writer", async (t) => {
  const root = t.testdir();
  execFileSync("mkfifo", [`${root}/fifo`]);
  const system = createNodeSystem();

  t.equal(system.readFile(`${root}/fifo`, 100), "");
  t.equal(system.status(`${root}/fifo`).kind, "other");
});

test("a file larger than the first buffer is read whole", async (t) => {
  const root = t.testdir();
  const content = "0123456789".repeat(1000);
  writeFileSync(`${root}/a`, content);

  t.equal(createNodeSystem().readFile(`${root}/a`, 10_000), content);
});

test("a file of a TiB is overwritten like any other", async (t) => {
  const root = t.testdir({ a: "" });
  truncateSync(`${root}/a`, 2 ** 40);
  const system = createNodeSystem();

  system.overwriteFile(`${root}/a`, "text");

  t.equal(system.readFile(`${root}/a`, 100), "text");
});

test("a path with a NUL is EINVAL, not a defect", async (t) => {
  t.throws(() => createNodeSystem().readFile("/a\0b", 100), { code: "EINVAL" });
});
