// test: each executable
/** install: an executable copies itself, and a rollback brings back what was there. */

import { statSync } from "node:fs";
import { test } from "tap";
import {
  injectionObstacle,
  runInjected,
  systemCallsOf,
} from "../../faults/executables/injection.ts";
import { executable, run } from "../../harness/executable.ts";
import { runtimeEnvironment, versionCall } from "../../harness/runtime-call.ts";
import {
  directoryWithOther,
  emptyDirectory,
  isExecutable,
  OTHER,
  VERSIONS,
} from "./plugin-directory.ts";

test("an empty directory gets the plugin, executable by everybody", async (t) => {
  const directory = emptyDirectory(t);
  const { target } = directory;

  t.strictSame(directory.install("--yes"), [
    0,
    `Installed ${target}, which supports CNI ${VERSIONS}.\n`,
    "",
  ]);
  t.strictSame(directory.names, ["host-local", "host-local.installed"]);
  t.ok(isExecutable(target));
  t.equal(statSync(target).mode & 0o7777, 0o755);
  t.equal(run(target, versionCall()).exitCode, 0);
});

test("the replaced file is kept; a rollback exchanges both, and so does a second one", async (t) => {
  const directory = directoryWithOther(t);
  const { target, previous } = directory;
  const { ino } = statSync(target);

  t.strictSame(directory.install("--yes"), [
    0,
    `Installed ${target}, which supports CNI ${VERSIONS}. The file it replaced is now ${previous}.\n`,
    "",
  ]);
  t.ok(isExecutable(target));
  t.equal(directory.read("host-local.previous"), OTHER);
  t.equal(statSync(previous).ino, ino, "it is the very file, with its owner and mode");

  t.strictSame(directory.install("--rollback", "--yes"), [
    0,
    `Restored ${target}, which supports CNI 1.0.0, 1.1.0. The file it replaced is now ${previous}.\n`,
    "",
  ]);
  t.equal(directory.read("host-local"), OTHER);
  t.ok(isExecutable(previous));

  t.match(directory.install("--rollback", "--yes"), [0]);
  t.ok(isExecutable(target));
  t.equal(directory.read("host-local.previous"), OTHER);
  t.strictSame(directory.names, ["host-local", "host-local.installed", "host-local.previous"]);
});

test("a rollback exchanges the files in one call, and in two where the file system cannot", {
  skip: injectionObstacle() ?? false,
}, async (t) => {
  const directory = directoryWithOther(t);
  const { path } = directory;
  const call = {
    environment: runtimeEnvironment,
    stdin: "",
    arguments: ["install", path, "--rollback", "--yes"],
  };
  directory.install("--yes");

  const calls = await systemCallsOf(executable, call, path);

  const renames = calls.filter(({ name }) => name.startsWith("rename"));
  t.match(renames, [{ name: "renameat2" }]);
  t.equal(renames.length, 1);
  t.equal(directory.read("host-local"), OTHER);

  const [exchange] = renames;
  if (exchange === undefined) throw new Error("no exchange");
  const { ending } = await runInjected(executable, call, path, exchange, "error=EINVAL", 1);

  t.match(ending, { exitCode: 0, stderr: "" });
  t.ok(isExecutable(directory.target));
  t.equal(directory.read("host-local.previous"), OTHER);
  t.notOk(directory.names.some((name) => name.startsWith(".")));
});
