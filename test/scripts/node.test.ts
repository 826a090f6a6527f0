// test: own process, mounts
/** Every script runs on the Node.js that npm ci installs, started by its own path. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { lacking } from "../harness/needs.ts";
import { inRepository } from "../harness/repository.ts";

// npm itself starts it: where libatomic is missing, the loader's message would be the only one.
test("no script of package.json starts the node of PATH", async (t) => {
  const { scripts } = JSON.parse(readFileSync(inRepository("package.json"), "utf8"));
  t.match(scripts.build, /^sh scripts\/node\.sh /);
  t.strictSame(
    Object.entries<string>(scripts).filter(([, line]) => /(?:^|&& )(?:npm |npx |node )/.test(line)),
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

/** Of the libraries that it needs, the one that a small Debian has not, and one that each has. */
for (const [library, expected] of [
  [
    "libatomic.so.1",
    /\/node needs what this machine lacks: libatomic\.so\.1\n.*: apt-get install libatomic1\n$/,
  ],
  ["libstdc++.so.6", /\/node needs what this machine lacks: libstdc\+\+\.so\.6\n$/],
] as const) {
  test(`without ${library}, the error names it`, { skip: lacking("mounts") }, async (t) => {
    const { status, stdout, stderr } = startWithout(library);
    t.strictSame([status, stdout], [1, ""]);
    t.match(stderr, expected);
  });
}

test("it takes the place of the shell: exit codes and signals are its own", async (t) => {
  const directory = inRepository(".");
  t.equal(start(directory, "--eval", "process.exit(127)").status, 127);
  t.equal(start(directory, "--eval", 'process.kill(process.pid, "SIGTERM")').signal, "SIGTERM");
});

/** Starts it where the directories of libraries lack one. */
function startWithout(library: string) {
  const script = [
    "set -e",
    "mount -t tmpfs tmpfs /mnt",
    "mkdir /mnt/upper /mnt/work",
    "mount -t overlay overlay /usr -o lowerdir=/usr,upperdir=/mnt/upper,workdir=/mnt/work",
    'rm -f /usr/lib/*/"$1"',
    "exec sh scripts/node.sh --version",
  ];
  const words = ["--mount", "--propagation", "private", "sh", "-c", script.join("\n"), "sh"];
  return spawnSync("unshare", [...words, library], { cwd: inRepository("."), encoding: "utf8" });
}

function start(directory: string, ...words: readonly string[]) {
  const script = inRepository("scripts/node.sh");
  return spawnSync("sh", [script, ...words], { cwd: directory, encoding: "utf8" });
}
