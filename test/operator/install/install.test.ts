// test: each executable, one if short, each architecture
/** install: what is asked, what is said, and what is refused. */

import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable, run } from "../../harness/executable.ts";
import { mountObstacle } from "../../harness/mounts.ts";
import { runtimeEnvironment, versionCall } from "../../harness/runtime-call.ts";
import { converse, skipWithoutTerminal } from "../../harness/terminal.ts";
import { tool } from "../../harness/tool.ts";
import { isRoot, withoutPrivileges } from "../../harness/unprivileged.ts";
import {
  answering,
  directoryWithOther,
  emptyDirectory,
  isExecutable,
  isLink,
  OTHER,
  PluginDirectory,
  skipWithoutCompiler,
  thisProgram,
  VERSIONS,
} from "./plugin-directory.ts";

const REMARK =
  "There is no other host-local to restore: as long as a configuration names it, runtimes can neither start nor remove the containers of its network.";

const NO = "Nothing was changed: use --yes, or answer y at a terminal.\n";

test("what will be done, and what was done, is said", async (t) => {
  const empty = emptyDirectory(t);
  const other = directoryWithOther(t);
  const { target, previous } = other;
  const supported = `which supports CNI ${VERSIONS}`;
  const cases: [PluginDirectory, string, string, string][] = [
    [
      other,
      "",
      `This executable will be installed as ${target}. What is there is kept as ${previous}, unless it is a version of this executable.`,
      `Installed ${target}, ${supported}. The file it replaced is now ${previous}.`,
    ],
    [
      other,
      "--uninstall",
      `${previous} will be renamed to ${target}.`,
      `Restored ${target}, which supports CNI 1.0.0, 1.1.0.`,
    ],
    [
      empty,
      "",
      `This executable will be installed as ${empty.target}.`,
      `Installed ${empty.target}, ${supported}.`,
    ],
    [
      empty,
      "--uninstall",
      `${empty.target} will be removed. ${REMARK}`,
      `Removed ${empty.target}. ${REMARK}`,
    ],
  ];
  for (const [directory, option, plan, done] of cases) {
    const options = option === "" ? [] : [option];
    const { names } = directory;
    t.strictSame(directory.install(...options), [1, `${plan}\n${NO}`, ""]);
    t.strictSame(directory.names, names, "nothing was changed");
    t.strictSame(directory.install(...options, "--yes"), [0, `${done}\n`, ""]);
  }
});

test("it is said why nothing is to be done", async (t) => {
  const empty = emptyDirectory(t);
  const other = directoryWithOther(t);
  const installed = directoryWithOther(t);
  installed.install("--yes");
  const { ino } = statSync(installed.target);
  const cases: [PluginDirectory, string[], string][] = [
    [installed, [], `${installed.target} already is this executable; nothing to do.\n`],
    [empty, ["--uninstall"], `There is no ${empty.target}; nothing to do.\n`],
    [other, ["--uninstall"], `${other.target} is another plugin; nothing to do.\n`],
    [new PluginDirectory(join(other.path, "none")), ["--if-replaced"], ""],
  ];
  for (const [directory, options, text] of cases) {
    t.strictSame(directory.install(...options, "--yes"), [0, text, ""]);
  }
  t.equal(statSync(installed.target).ino, ino);
});

test("another version of it leaves the previous plugin, and says so; another plugin that took its place stays", async (t) => {
  const directory = directoryWithOther(t);
  const { target, previous } = directory;
  directory.install("--yes");
  directory.put("host-local", thisProgram("v0.9.0"));

  t.strictSame(directory.install("--yes"), [
    0,
    `Installed ${target}, which supports CNI ${VERSIONS}. ${previous} is unchanged.\n`,
    "",
  ]);
  rmSync(target);
  directory.put("host-local", answering("0.4.0"));
  t.strictSame(directory.install("--uninstall", "--yes"), [
    0,
    `${target} is another plugin and stays.\n`,
    "",
  ]);
});

test("the plugin is executable by everybody, and what it replaced is the very file, with its owner and mode", async (t) => {
  const directory = directoryWithOther(t);
  const { target, previous } = directory;
  const { ino } = statSync(target);

  t.equal(directory.install("--yes")[0], 0);

  t.equal(statSync(target).mode & 0o7777, 0o755);
  t.equal(statSync(previous).ino, ino);
});

test("an installed plugin installs nothing over itself", async (t) => {
  const directory = directoryWithOther(t);
  directory.install("--yes");
  const { exitCode } = tool(["install", directory.path], { program: directory.target });
  t.equal(exitCode, 0);
});

test("a file of the same size is another executable all the same", async (t) => {
  const directory = emptyDirectory(t);
  const bytes = readFileSync(executable);
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 0xff;
  writeFileSync(directory.target, bytes, { mode: 0o755 });

  t.equal(directory.install("--yes")[0], 0);
  t.ok(isExecutable(directory.target));
});

test("as static it is that plugin", async (t) => {
  const directory = emptyDirectory(t);
  const path = join(directory.path, "static");
  // As an archive has it.
  symlinkSync("host-local", path);

  t.equal(directory.install("--as", "static", "--yes")[0], 0);

  t.ok(isExecutable(path) && !isLink(path));
  t.match(run(path, { environment: {}, stdin: "" }).stderr, /^CNI static plugin /);
});

/** Whether the executable is for another machine, by the field e_machine of its ELF header. */
const isForOtherMachine = machineOf(executable) !== machineOf(process.execPath);

function machineOf(path: string): number {
  const header = Buffer.alloc(20);
  const file = openSync(path, "r");
  readSync(file, header);
  closeSync(file);
  return header.readUInt16LE(18);
}

for (const name of ["host-local", "static"]) {
  test(`a link to a program that looks at its name is kept as a link, and comes back as ${name}`, {
    skip: skipWithoutCompiler || (name === "static" && isForOtherMachine && "QEMU hides the name."),
  }, async (t) => {
    const directory = emptyDirectory(t);
    const path = join(directory.path, name);
    directory.putMulticall(name);

    t.equal(directory.install("--as", name, "--yes")[0], 0);
    t.equal(readlinkSync(`${path}.previous`), "cni");
    t.equal(directory.install("--as", name, "--uninstall", "--yes")[0], 0);

    t.equal(readlinkSync(path), "cni");
    t.equal(run(path, versionCall()).exitCode, 0);
    t.strictSame(directory.names, ["cni", name].sort());
  });
}

test("at a terminal it asks", { skip: skipWithoutTerminal }, async (t) => {
  const directory = directoryWithOther(t);

  const no = await converse(["install", directory.path], () => "n\n");
  t.equal(no.exitCode, 1);
  t.equal(directory.read("host-local"), OTHER);
  const yes = await converse(["install", directory.path], () => "y\n");
  t.match(yes.stdout, "Install it? [y/N] ");
  t.equal(yes.exitCode, 0);
  t.ok(isExecutable(directory.target));
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

    const words = ["install", directory.path, "--uninstall", "--force"];
    const { exitCode, stdout } = await converse(words, () => {
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

for (const [options, place] of [
  [["--uninstall"], "in its place"],
  [[], "as the previous one"],
] as const) {
  test(`a former plugin that another removal puts back meanwhile stays, ${place}`, async (t) => {
    const directory = directoryWithOther(t);
    const { target, previous } = directory;
    renameSync(target, previous);
    const other = `mv '${previous}' '${target}'`;
    directory.put("host-local", thisProgram("v0.9.0").replace("else\n", `else\n${other}\n`));

    directory.install(...options, "--yes");

    const isPutBack = place === "in its place";
    t.equal(readFileSync(isPutBack ? target : previous, "utf8"), OTHER);
    t.equal(isExecutable(target), !isPutBack);
  });
}

test("the document says what was done", async (t) => {
  const directory = directoryWithOther(t);
  const { target, previous } = directory;
  const document = (...options: string[]): unknown =>
    JSON.parse(directory.install("--json", ...options)[1]);
  const none = { target, previous, kept: null, versions: [] };
  t.strictSame(document(), { action: "refused", ...none });
  t.strictSame(document("--yes"), {
    action: "installed",
    ...none,
    kept: previous,
    versions: VERSIONS.split(", "),
  });
  t.strictSame(document("--yes"), { action: "none", ...none });
  t.strictSame(document("--uninstall", "--yes"), {
    action: "uninstalled",
    ...none,
    versions: ["1.0.0", "1.1.0"],
  });
});

for (const [how, pathOf] of [
  ["its own", (path: string) => path],
  ["another", (path: string) => `${path}.link`],
] as const) {
  const name = `what the package has installed is left to it, where its directory is called by ${how} name`;
  test(name, { skip: mountObstacle() ?? false }, async (t) => {
    for (const command of ["--yes", "--uninstall --yes --force", "--if-replaced --yes"]) {
      const directory = directoryWithOther(t);
      // From before the package.
      directory.put("host-local.installed", "");
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
      '${executable}' install '${path}' ${command}`,
        ],
        { encoding: "utf8", env: runtimeEnvironment },
      );

      t.equal(status, 2);
      t.equal(
        stderr,
        `host-local: install: ${path}/host-local is of the package host-local; nothing was changed. Remove it with: dpkg --remove host-local\n`,
      );
      t.same(directory.names, before);
      t.equal(directory.read("host-local"), OTHER);
    }
  });
}

const noexec = (directory: string, line: string): ReturnType<typeof spawnSync> =>
  spawnSync(
    "unshare",
    ["-m", "sh", "-c", `mount -t tmpfs -o noexec,mode=755 none '${directory}' && ${line}`],
    {
      encoding: "utf8",
      env: runtimeEnvironment,
    },
  );

test("where nothing can be run, nothing is installed", {
  skip: mountObstacle() ?? false,
}, async (t) => {
  const directory = scratchDirectory(t);
  const { stdout, stderr } = noexec(
    directory,
    `{ '${executable}' install '${directory}' --yes; echo "exit $?"; ls -A '${directory}'; }`,
  );
  t.equal(stdout, "exit 2\n");
  t.match(stderr, "install: the copy does not answer CNI_COMMAND=VERSION");
});

test("wrong usage exits with 2", async (t) => {
  const directory = scratchDirectory(t);
  for (const path of ["a/host-local", "b/host-local.previous", "c/host-local.installed"]) {
    mkdirSync(join(directory, path), { recursive: true });
  }
  mkdirSync(join(directory, "d"));
  execFileSync("mkfifo", [join(directory, "d/host-local.previous")]);
  const cases: [string, string][] = [
    ["none", `there is no directory ${directory}/none; expected the CNI plugin directory`],
    ["a", `${directory}/a/host-local is not a regular file`],
    ["b", `${directory}/b/host-local.previous is not a regular file`],
    ["c", `${directory}/c/host-local.installed is not a regular file`],
    ["d", `${directory}/d/host-local.previous is not a regular file`],
  ];
  for (const [name, problem] of cases) {
    const { exitCode, stdout, stderr } = tool(["install", join(directory, name), "--yes"]);
    t.strictSame([exitCode, stdout, stderr], [2, "", `host-local: install: ${problem}\n`]);
  }
});

test("--uninstall and --if-replaced exclude each other", async (t) => {
  const [exitCode, , stderr] = directoryWithOther(t).install("--uninstall", "--if-replaced");
  t.equal(exitCode, 2);
  t.match(stderr, "install: --uninstall: cannot be combined with --if-replaced");
});

test("a marker that is a link is replaced by one, once the plugin is installed", async (t) => {
  const directory = emptyDirectory(t);
  const marker = `${directory.target}.installed`;
  symlinkSync("nowhere", marker);

  t.match(directory.install("--yes"), [0, "Installed "]);

  t.notOk(isLink(marker));
  rmSync(directory.target);
  t.match(directory.install("--if-replaced", "--yes"), [0, "Installed "]);
});

test("a directory that may not be written is an error", {
  skip: isRoot ? false : "Only root can make a directory here that another user may not write.",
}, async (t) => {
  const directory = directoryWithOther(t);
  const { exitCode, stderr } = tool(["install", directory.path, "--yes"], withoutPrivileges(t));
  t.equal(exitCode, 2);
  t.match(stderr, /^host-local: open .*: permission denied\n$/);
  t.strictSame(directory.names, ["host-local"]);
});

test("nothing is run or changed in a directory that everybody may write to, also where it is sticky", async (t) => {
  for (const mode of [0o1777, 0o757]) {
    const directory = directoryWithOther(t);
    const ran = join(directory.path, "ran");
    directory.put("host-local.previous", `${OTHER}touch '${ran}'\n`);
    chmodSync(directory.path, mode);

    for (const options of [[], ["--if-replaced"], ["--uninstall"]]) {
      t.strictSame(directory.install(...options, "--yes"), [
        2,
        "",
        `host-local: install: everybody may write to ${directory.path}, and what is there runs as root; nothing was changed. Forbid it with: chmod o-w ${directory.path}\n`,
      ]);
    }
    t.strictSame(directory.names, ["host-local", "host-local.previous"]);
  }
});
