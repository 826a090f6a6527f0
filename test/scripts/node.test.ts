// test: own process
/** Every script runs on the Node.js that npm ci installs, started by its own path. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { inRepository } from "../harness/repository.ts";

test("no script of package.json starts the node of PATH", async (t) => {
  const { scripts } = JSON.parse(readFileSync(inRepository("package.json"), "utf8"));
  t.match(scripts.build, /^sh scripts\/node\.sh /);
  t.strictSame(
    Object.entries<string>(scripts).filter(([, line]) => /(?:^|&& )(?:npx |node )/.test(line)),
    [],
  );
});

test("it is the one of the lock file", async (t) => {
  const { status, stdout } = start(inRepository("."), "--version");
  t.strictSame([status, stdout], [0, `${process.version}\n`]);
});

test("where it is not installed, the error says what installs it", async (t) => {
  const { status, stdout, stderr } = start(scratchDirectory(t), "--version");
  t.strictSame([status, stdout], [1, ""]);
  t.match(
    stderr,
    /^node_modules\/node-linux-(?:x64|arm64)\/bin\/node is not there: npm ci installs it\.\n$/,
  );
});

function start(directory: string, ...words: readonly string[]) {
  const script = inRepository("scripts/node.sh");
  return spawnSync("sh", [script, ...words], { cwd: directory, encoding: "utf8" });
}
