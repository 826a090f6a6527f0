// test: native executable
/** install --static: the copy by which the executable is the `static` plugin, too. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { run } from "../../harness/executable.ts";
import {
  answering,
  directoryWithOther,
  emptyDirectory,
  isExecutable,
  isLink,
  OTHER,
  ourVersion,
  type PluginDirectory,
  skipWithoutCompiler,
  VERSIONS,
} from "./plugin-directory.ts";

const OTHER_STATIC = answering("0.4.0", "1.0.0");

/** Whether `static` in a directory is the executable under test, and answers as that plugin. */
function isStatic({ path }: PluginDirectory): boolean {
  const file = join(path, "static");
  const { stderr } = run(file, { environment: {}, stdin: "" });
  return isExecutable(file) && !isLink(file) && stderr.startsWith("CNI static plugin ");
}

function contentOf({ path }: PluginDirectory, name: string): string {
  return readFileSync(join(path, name), "utf8");
}

test("the plugin and the copy are installed together, and removed together", async (t) => {
  const directory = emptyDirectory(t);
  const { path, target } = directory;

  t.strictSame(directory.install("--static"), [
    1,
    `This executable will be installed as ${target}. This executable will be installed as ${path}/static.\nNothing was changed: use --yes, or answer y at a terminal.\n`,
    "",
  ]);
  t.strictSame(directory.install("--static", "--yes"), [
    0,
    `Installed ${target}, which supports CNI ${VERSIONS}. Installed ${path}/static, which supports CNI ${VERSIONS}.\n`,
    "",
  ]);
  t.ok(isStatic(directory));

  t.match(directory.install("--uninstall", "--yes"), [0, `Removed ${path}/static. `, ""]);
  t.strictSame(directory.names, []);
});

test("the copy is added to an installed plugin, once", async (t) => {
  const directory = directoryWithOther(t);
  const { path, target } = directory;
  directory.install("--yes");

  t.strictSame(directory.install("--static", "--yes"), [
    0,
    `Installed ${path}/static, which supports CNI ${VERSIONS}.\n`,
    "",
  ]);
  t.ok(isStatic(directory));
  t.strictSame(directory.install("--static", "--yes"), [
    0,
    `${target} already is this executable; nothing to do.\n`,
    "",
  ]);
  t.strictSame(directory.names, [
    "host-local",
    "host-local.installed",
    "host-local.previous",
    "static",
    "static.installed",
  ]);
});

test("another static is kept, and comes back when the plugin is uninstalled", async (t) => {
  const directory = directoryWithOther(t);
  const { path } = directory;
  directory.put("static", OTHER_STATIC);

  t.match(directory.install("--static", "--yes"), [
    0,
    ` Installed ${path}/static, which supports CNI ${VERSIONS}. The file it replaced is now ${path}/static.previous.\n`,
    "",
  ]);
  t.ok(isStatic(directory));
  t.equal(contentOf(directory, "static.previous"), OTHER_STATIC);

  t.match(directory.install("--uninstall"), [
    1,
    `${path}/static.previous will be renamed to ${path}/static.`,
    "",
  ]);
  t.match(directory.install("--uninstall", "--yes"), [
    0,
    `Restored ${path}/static, which supports CNI 0.4.0, 1.0.0. `,
    "",
  ]);
  t.equal(contentOf(directory, "static"), OTHER_STATIC);
  t.strictSame(directory.names, ["host-local", "static"]);
});

for (const [what, files] of [
  ["another static", ["static", "static.previous"]],
  ["no other static", ["static.previous"]],
] as const) {
  test(`a rollback with ${what} puts back what was there, and a second one the copy`, async (t) => {
    const directory = directoryWithOther(t);
    if (what === "another static") directory.put("static", OTHER_STATIC);
    directory.install("--static", "--yes");

    t.equal(directory.install("--rollback", "--yes")[0], 0);
    t.strictSame(directory.names, ["host-local", "host-local.previous", ...files]);
    t.ok(isExecutable(join(directory.path, "static.previous")));
    if (what === "another static") t.equal(contentOf(directory, "static"), OTHER_STATIC);

    t.equal(directory.install("--rollback", "--yes")[0], 0);
    t.ok(isExecutable(directory.target));
    t.ok(isStatic(directory));

    t.equal(directory.install("--rollback", "--yes")[0], 0);
    t.equal(directory.install("--uninstall", "--yes")[0], 0);
    t.strictSame(directory.names, ["host-local", ...files.filter((name) => name === "static")]);
  });
}

test("a previous static that does not work stops a rollback and a removal before they begin", async (t) => {
  const directory = directoryWithOther(t);
  directory.put("static", "#!/bin/sh\nexit 3\n");
  directory.install("--static", "--yes");
  const before = directory.names;

  for (const option of ["--rollback", "--uninstall"]) {
    const [exitCode, , stderr] = directory.install(option, "--yes");
    t.equal(exitCode, 2);
    t.match(stderr, `${directory.path}/static.previous does not answer CNI_COMMAND=VERSION`);
  }
  t.strictSame(directory.names, before);
  t.ok(isExecutable(directory.target) && isStatic(directory));
});

test("it is run by its name, because it may be several plugins in one", {
  skip: skipWithoutCompiler,
}, async (t) => {
  const directory = directoryWithOther(t);
  directory.putMulticall("static");
  directory.install("--static", "--yes");

  t.equal(directory.install("--uninstall", "--yes")[0], 0);
});

test("a copy that is left beside another plugin is removed", async (t) => {
  const directory = emptyDirectory(t);
  directory.install("--static", "--yes");
  directory.put("host-local", answering("1.0.0"));

  t.match(directory.install("--uninstall", "--yes"), [
    0,
    `Removed ${directory.path}/static. There is no other static to restore: `,
    "",
  ]);
  t.notOk(directory.names.includes("static"));
});

test("static stays this plugin when another installer overwrites host-local, in place or by a new file", async (t) => {
  for (const overwrite of ["in place", "by a new file"]) {
    const directory = directoryWithOther(t);
    directory.install("--static", "--yes");
    if (overwrite === "by a new file") rmSync(directory.target);
    directory.put("host-local", OTHER_STATIC);
    t.ok(isStatic(directory), overwrite);

    t.equal(directory.install("--if-replaced", "--yes")[0], 0);
    t.ok(isExecutable(directory.target) && isStatic(directory));
  }
});

test("a later installation renews the copy, and keeps the other plugin that was there", async (t) => {
  const directory = directoryWithOther(t);
  directory.put("static", OTHER_STATIC);
  directory.install("--static", "--yes");
  rmSync(join(directory.path, "static"));
  directory.put("static", ourVersion("v0.0.1").replaceAll("CNI host-local", "CNI static"));

  t.match(directory.install("--yes"), [0, `Installed ${directory.path}/static, `, ""]);
  t.ok(isStatic(directory));
  t.equal(contentOf(directory, "static.previous"), OTHER_STATIC);
});

test("a link to another host-local is no plugin: no way leads back to it", async (t) => {
  const directory = directoryWithOther(t);
  const path = join(directory.path, "static");
  for (const back of ["--rollback", "--uninstall"]) {
    symlinkSync("host-local", path);
    directory.install("--static", "--yes");
    t.ok(isStatic(directory));

    t.equal(directory.install(back, "--yes")[0], 0);

    t.notOk(existsSync(path), back);
    t.equal(contentOf(directory, "host-local"), OTHER);
  }
});

test("a link by name, as an archive has it, is replaced", async (t) => {
  const directory = emptyDirectory(t);
  directory.install("--yes");
  symlinkSync("host-local", join(directory.path, "static"));

  t.equal(directory.install("--static", "--yes")[0], 0);
  t.ok(isStatic(directory));
  t.strictSame(directory.names, [
    "host-local",
    "host-local.installed",
    "static",
    "static.installed",
  ]);
});

test("the document names the copy", async (t) => {
  const directory = emptyDirectory(t);
  const staticIn = (...options: string[]): unknown =>
    JSON.parse(directory.install("--json", "--yes", ...options)[1]).static;
  t.equal(staticIn(), null);
  t.equal(staticIn("--static"), join(directory.path, "static"));
  t.equal(staticIn("--uninstall"), null);
});

test("a link to a device, or a FIFO, of that name is left alone, and never read to an end that it has not", async (t) => {
  for (const make of [
    (path: string) => symlinkSync("/dev/zero", path),
    (path: string) => execFileSync("mkfifo", [path]),
  ]) {
    const directory = directoryWithOther(t);
    make(join(directory.path, "static"));

    t.match(directory.install("--yes"), [0]);
    t.match(directory.install("--rollback", "--yes"), [0]);
    t.match(directory.install("--yes"), [0]);
    t.match(directory.install("--uninstall", "--yes"), [0]);
    t.strictSame(directory.names, ["host-local", "static"]);
  }
});
