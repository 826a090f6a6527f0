// test: each executable, one if short
/** install: which plugin is kept as the previous one, and how it comes back. */

import { spawnSync } from "node:child_process";
import { readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { test } from "tap";
import { run } from "../../harness/executable.ts";
import { versionCall } from "../../harness/runtime-call.ts";
import {
  answering,
  directoryWithOther,
  emptyDirectory,
  isExecutable,
  isLink,
  OTHER,
  ourVersion,
  skipWithoutCompiler,
  VERSIONS,
} from "./plugin-directory.ts";

test("a link to a program that looks at its name is kept as a link, and comes back by a rollback", {
  skip: skipWithoutCompiler,
}, async (t) => {
  const directory = emptyDirectory(t);
  const { target, previous } = directory;
  directory.putMulticall();

  t.equal(directory.install("--yes")[0], 0);
  t.equal(readlinkSync(previous), "cni");
  t.ok(isExecutable(target));

  t.strictSame(directory.install("--rollback", "--yes"), [
    0,
    `Restored ${target}, which supports CNI 1.0.0. The file it replaced is now ${previous}.\n`,
    "",
  ]);
  t.equal(readlinkSync(target), "cni");
  t.equal(run(target, versionCall()).exitCode, 0);

  t.equal(directory.install("--rollback", "--yes")[0], 0);
  t.ok(isExecutable(target) && !isLink(target));
  t.equal(readlinkSync(previous), "cni");
  t.strictSame(directory.names, [
    "cni",
    "host-local",
    "host-local.installed",
    "host-local.previous",
  ]);
});

test("so is one whose program is not visible here, as that of a snap in a container", async (t) => {
  const directory = emptyDirectory(t);
  const { target, previous } = directory;
  symlinkSync("/snap/gone/host-local", target);

  t.match(directory.install(), [1, `${target}. What is there is kept as ${previous};`]);
  t.equal(directory.install("--yes")[0], 0);
  t.ok(isExecutable(target) && !isLink(target));
  t.equal(readlinkSync(previous), "/snap/gone/host-local");
  t.strictSame(directory.names, ["host-local", "host-local.installed", "host-local.previous"]);
});

test("such links never take the place of the last plugin that is here", async (t) => {
  const directory = directoryWithOther(t);
  const { target, previous, older } = directory;
  directory.install("--yes");
  for (const link of ["gone", "gone-as-well"]) {
    rmSync(target);
    symlinkSync(link, target);

    t.match(directory.install("--yes", "--if-replaced"), [0, `is now ${previous}.\n`, ""]);
    t.ok(isExecutable(target));
    t.equal(readlinkSync(previous), link);
    t.equal(readFileSync(older, "utf8"), OTHER);
  }
});

test("a rollback to a link whose program is not here is refused, and by --force made untested", async (t) => {
  const directory = emptyDirectory(t);
  directory.put("cni", OTHER);
  symlinkSync("cni", directory.target);
  directory.install("--yes");
  rmSync(`${directory.path}/cni`);

  const [exitCode, , stderr] = directory.install("--rollback", "--yes");
  t.equal(exitCode, 2);
  t.match(stderr, / It is a link to cni\. If this is a container, run it on the node; --force /);
  t.ok(isExecutable(directory.target));

  t.match(directory.install("--rollback", "--yes", "--force"), [0, /^Restored [^,]*\. The file/]);
  t.equal(readlinkSync(directory.target), "cni");
});

test("the other plugin stays the previous one while this one is upgraded", async (t) => {
  const directory = directoryWithOther(t);
  const { target, previous } = directory;
  directory.install("--yes");
  for (const version of ["1.0.0", "1.0.1"]) {
    directory.put("host-local", ourVersion(version));
    t.strictSame(directory.install("--yes"), [
      0,
      `Installed ${target}, which supports CNI ${VERSIONS}. ${previous} is unchanged.\n`,
      "",
    ]);
    t.equal(readFileSync(previous, "utf8"), OTHER);
    t.notOk(directory.names.includes("host-local.older"));
  }
});

test("a plugin that another installer brought is the previous one then, and the former one the older", async (t) => {
  const directory = directoryWithOther(t);
  const { target, previous, older } = directory;
  directory.install("--yes");
  directory.put("host-local", answering("1.1.0"));

  t.match(directory.install(), [1, `${target}. What is there is kept as ${previous};`]);
  t.strictSame(directory.install("--yes"), [
    0,
    `Installed ${target}, which supports CNI ${VERSIONS}. The file it replaced is now ${previous}.\n`,
    "",
  ]);
  for (const again of [false, true]) {
    if (again) {
      directory.put("host-local", answering("1.1.0"));
      directory.install("--yes");
    }
    t.ok(isExecutable(target));
    t.equal(readFileSync(previous, "utf8"), answering("1.1.0"));
    t.equal(readFileSync(older, "utf8"), OTHER, "the same one once more displaces none");
  }
});

test("without another plugin, the version before is kept, for a rollback", async (t) => {
  const directory = emptyDirectory(t);
  directory.put("host-local", ourVersion("0.9.0"));

  t.equal(directory.install("--yes")[0], 0);
  t.equal(readFileSync(directory.previous, "utf8"), ourVersion("0.9.0"));
  t.equal(directory.install("--rollback", "--yes")[0], 0);
  t.equal(readFileSync(directory.target, "utf8"), ourVersion("0.9.0"));
});

test("another plugin takes the place of a previous version of this one", async (t) => {
  const directory = directoryWithOther(t);
  directory.put("host-local.previous", ourVersion("0.9.0"));

  t.equal(directory.install("--yes")[0], 0);
  t.equal(readFileSync(directory.previous, "utf8"), OTHER);
  t.notOk(directory.names.includes("host-local.older"));
});

for (const [what, command] of [
  ["FIFO", "mkfifo"],
  ["directory", "mkdir"],
] as const) {
  test(`a ${what} in place of the previous plugin is refused`, async (t) => {
    const directory = directoryWithOther(t);
    spawnSync(command, [directory.previous]);

    const problem = `host-local: install: ${directory.previous} is not a regular file\n`;
    t.strictSame(directory.install("--yes"), [2, "", problem]);
    t.equal(directory.read("host-local"), OTHER);
  });
}
