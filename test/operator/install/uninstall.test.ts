// test: each executable, one if short
/** install --uninstall. */

import { spawnSync } from "node:child_process";
import {
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { executable } from "../../harness/executable.ts";
import { mountObstacle } from "../../harness/mounts.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { converse, skipWithoutTerminal } from "../../harness/terminal.ts";
import {
  answering,
  directoryWithOther,
  emptyDirectory,
  isExecutable,
  OTHER,
  ourVersion,
  type PluginDirectory,
  skipWithoutCompiler,
} from "./plugin-directory.ts";

const REMARK =
  "There is no other host-local to restore: as long as a configuration names it, runtimes can neither start nor remove the containers of its network.";

test("what was installed where nothing was is removed", async (t) => {
  const directory = emptyDirectory(t);
  directory.install("--yes");

  t.strictSame(directory.install("--uninstall"), [
    1,
    `${directory.target} will be removed. ${REMARK}\nNothing was changed: use --yes, or answer y at a terminal.\n`,
    "",
  ]);
  t.ok(isExecutable(directory.target));

  t.strictSame(directory.install("--uninstall", "--yes"), [
    0,
    `Removed ${directory.target}. ${REMARK}\n`,
    "",
  ]);
  t.strictSame(directory.names, []);
});

test("the previous plugin comes back, and nothing else is left", async (t) => {
  const directory = directoryWithOther(t);
  const { target, previous } = directory;
  directory.install("--yes");

  t.strictSame(directory.install("--uninstall"), [
    1,
    `${previous} will be renamed to ${target}.\nNothing was changed: use --yes, or answer y at a terminal.\n`,
    "",
  ]);
  t.strictSame(directory.install("--uninstall", "--yes"), [
    0,
    `Restored ${target}, which supports CNI 1.0.0, 1.1.0.\n`,
    "",
  ]);
  t.equal(readFileSync(target, "utf8"), OTHER);
  t.strictSame(directory.names, ["host-local"]);
});

test("so does a link", { skip: skipWithoutCompiler }, async (t) => {
  const directory = emptyDirectory(t);
  directory.putMulticall();
  directory.install("--yes");

  t.equal(directory.install("--uninstall", "--yes")[0], 0);
  t.equal(readlinkSync(directory.target), "cni");
  t.strictSame(directory.names, ["cni", "host-local"]);
});

test("so does one whose program is not here, by --force, because nobody can test it", async (t) => {
  const directory = emptyDirectory(t);
  const { target } = directory;
  symlinkSync("/snap/gone/host-local", target);
  directory.install("--yes");

  t.match(directory.install("--uninstall", "--yes"), [
    2,
    "",
    / It is a link to \/snap\/gone\/host-local\. If this is a container, run it on the node; --force /,
  ]);
  t.ok(isExecutable(target));

  t.strictSame(directory.install("--uninstall", "--yes", "--force"), [
    0,
    `Restored ${target}.\n`,
    "",
  ]);
  t.equal(readlinkSync(target), "/snap/gone/host-local");
  t.strictSame(directory.names, ["host-local"]);
});

test("a previous version of this executable goes with it", async (t) => {
  const directory = emptyDirectory(t);
  directory.put("host-local", ourVersion("0.9.0"));
  directory.install("--yes");

  t.equal(directory.install("--uninstall", "--yes")[0], 0);
  t.strictSame(directory.names, []);
});

test("after a rollback only the previous file is removed", async (t) => {
  const directory = directoryWithOther(t);
  directory.install("--yes");
  directory.install("--rollback", "--yes");

  t.strictSame(directory.install("--uninstall", "--yes"), [
    0,
    `Removed ${directory.previous}. ${directory.target} is another plugin and stays.\n`,
    "",
  ]);
  t.equal(readFileSync(directory.target, "utf8"), OTHER);
  t.strictSame(directory.names, ["host-local"]);
});

test("a previous plugin that does not work stays, and so does this one", async (t) => {
  const directory = directoryWithOther(t);
  directory.install("--yes");
  directory.put("host-local.previous", "#!/bin/sh\necho 'no memory' >&2\nexit 3\n");

  t.match(directory.install("--uninstall", "--yes"), [
    2,
    "",
    "nothing was changed. It exited with code 3 and printed: no memory\n",
  ]);
  t.ok(isExecutable(directory.target));
});

test("there is nothing to do in an empty directory, and beside another plugin", async (t) => {
  const empty = emptyDirectory(t);
  t.strictSame(empty.install("--uninstall", "--yes"), [
    0,
    `There is no ${empty.target}; nothing to do.\n`,
    "",
  ]);
  const other = directoryWithOther(t);
  other.put("host-local.previous", answering("1.0.0"));
  t.strictSame(other.install("--uninstall", "--yes"), [
    0,
    `${other.target} is another plugin; nothing to do.\n`,
    "",
  ]);
  t.strictSame(other.names, ["host-local", "host-local.previous"]);
});

test("of several other plugins the newest that answers comes back", async (t) => {
  const broken = "#!/bin/sh\nexit 3\n";
  const cases: [string, (directory: PluginDirectory) => void, string][] = [
    ["the newest", (one) => one.put("host-local", answering("1.1.0")), answering("1.1.0")],
    ["it is broken", (one) => one.put("host-local", broken), OTHER],
    [
      "it is a link to nothing, as after an upgrade of k3s",
      ({ target }) => {
        rmSync(target);
        symlinkSync("/var/lib/rancher/k3s/data/gone/bin/cni", target);
      },
      OTHER,
    ],
  ];
  for (const [what, overwrite, restored] of cases) {
    const directory = directoryWithOther(t);
    directory.install("--yes");
    overwrite(directory);
    directory.install("--if-replaced", "--yes");
    t.ok(isExecutable(directory.target));

    t.match(directory.install("--uninstall", "--yes"), [0, /^Restored .* supports CNI/, ""], what);
    t.equal(readFileSync(directory.target, "utf8"), restored, what);
    t.same(
      directory.names,
      restored === OTHER ? ["host-local", "host-local.previous"] : ["host-local"],
      "an older one than that is gone, a newer one is not",
    );
  }
});

test("where another installer has overwritten it, that one stays, and nothing installs it again", async (t) => {
  for (const directory of [emptyDirectory(t), directoryWithOther(t)]) {
    directory.install("--static", "--yes");
    for (const name of ["host-local", "static"]) {
      rmSync(join(directory.path, name));
      directory.put(name, answering("1.1.0"));
    }

    const stays = (name: string): string =>
      `${directory.path}/${name} is another plugin and stays.`;
    t.strictSame(directory.install("--uninstall", "--yes"), [
      0,
      `${stays("static")} ${stays("host-local")}\n`,
      "",
    ]);
    t.strictSame(directory.install("--if-replaced", "--yes"), [0, "", ""]);
    t.equal(readFileSync(directory.target, "utf8"), answering("1.1.0"));
    t.notOk(directory.names.some((name) => name.endsWith(".installed")));
  }
});

test("a broken file in place of it does not stay where the former plugin works", async (t) => {
  for (const broken of [readFileSync(executable).subarray(0, 300_000), "", "#!/bin/sh\nexit 3\n"]) {
    const directory = directoryWithOther(t);
    directory.install("--yes");
    rmSync(directory.target);
    writeFileSync(directory.target, broken, { mode: 0o755 });

    t.match(directory.install("--uninstall", "--yes"), [0, /^Restored /, ""]);
    t.equal(readFileSync(directory.target, "utf8"), OTHER);
    t.strictSame(directory.names, ["host-local"]);
  }
});

test("one that may start on the node stays", async (t) => {
  const directory = directoryWithOther(t);
  directory.install("--yes");
  rmSync(directory.target);
  directory.put("host-local", "#!/none/sh\n");

  t.match(directory.install("--uninstall", "--yes"), [0, " is another plugin and stays.", ""]);
  t.equal(readFileSync(directory.target, "utf8"), "#!/none/sh\n");
});

for (const [how, pathOf] of [
  ["its own", (path: string) => path],
  ["another", (path: string) => `${path}.link`],
] as const) {
  const name = `what the package has installed is left to it, where its directory is called by ${how} name`;
  test(name, { skip: mountObstacle() ?? false }, async (t) => {
    const directory = directoryWithOther(t);
    directory.install("--yes");
    const before = directory.names;
    const link = `${directory.path}.link`;
    symlinkSync(directory.path, link);
    t.teardown(() => rmSync(link));
    const path = pathOf(directory.path);
    const info = "/var/lib/dpkg/info";
    const files = `/.\\n${directory.path}\\n${directory.target}\\n`;

    const { status, stderr } = spawnSync(
      "unshare",
      [
        ...["--mount", "sh", "-c"],
        `mkdir -p ${info} && mount -t tmpfs none ${info} && printf '${files}' >${info}/host-local.list &&
      '${executable}' install '${path}' --uninstall --yes --force`,
      ],
      { encoding: "utf8", env: runtimeEnvironment },
    );

    t.equal(status, 2);
    t.equal(
      stderr,
      `host-local: install: ${path}/host-local is of the package host-local; nothing was changed. Remove it with: dpkg --remove host-local\n`,
    );
    t.same(directory.names, before);
    t.ok(isExecutable(directory.target));
  });
}

test("a former plugin that another removal puts back meanwhile stays, whenever that is", async (t) => {
  for (const time of [1, 2, 3]) {
    const directory = directoryWithOther(t);
    const { target, previous } = directory;
    renameSync(target, previous);
    const asked = join(directory.path, "asked");
    const other = `echo >>'${asked}'; [ $(wc -l <'${asked}') = ${time} ] && mv '${previous}' '${target}'`;
    directory.put("host-local", ourVersion("0.9.0").replace("else\n", `else\n${other}\n`));

    directory.install("--uninstall", "--yes");

    t.equal(readFileSync(target, "utf8"), OTHER, `at the ${time}. question`);
  }
});

for (const [where, directoryOf] of [
  ["where nothing was", emptyDirectory],
  ["in place of another plugin", directoryWithOther],
] as const) {
  const name = `a plugin that another installer puts there during the question stays, ${where}`;
  test(name, { skip: skipWithoutTerminal }, async (t) => {
    const directory = directoryOf(t);
    directory.install("--yes");
    const names = directory.names;

    const { exitCode, stdout } = await converse(["install", directory.path, "--uninstall"], () => {
      rmSync(directory.target);
      directory.put("host-local", answering("0.4.0"));
      return "y\n";
    });

    t.equal(exitCode, 2);
    t.match(stdout, `${directory.target} was replaced meanwhile, and is left as it is`);
    t.equal(readFileSync(directory.target, "utf8"), answering("0.4.0"));
    t.strictSame(directory.names, names);
  });
}
