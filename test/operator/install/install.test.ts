// test: each executable, one if short, each architecture
/** install: what is asked, what is said, and what is refused. */

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable } from "../../harness/executable.ts";
import { mountObstacle } from "../../harness/mounts.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { converse, skipWithoutTerminal } from "../../harness/terminal.ts";
import { tool } from "../../harness/tool.ts";
import { isRoot, withoutPrivileges } from "../../harness/unprivileged.ts";
import { directoryWithOther, isExecutable, OTHER, VERSIONS } from "./plugin-directory.ts";

/** A plugin directory with another plugin under our name. */
function pluginDirectory(t: Pick<Test, "teardown">): string {
  return directoryWithOther(t).path;
}

function isOther(path: string): boolean {
  return statSync(path).size === OTHER.length && readFileSync(path, "utf8") === OTHER;
}

function install(...words: string[]): [number | null, string, string] {
  const { exitCode, stdout, stderr } = tool(["install", ...words]);
  return [exitCode, stdout, stderr];
}

test("a second installation changes nothing, and keeps the previous file", async (t) => {
  const directory = pluginDirectory(t);
  install(directory, "--yes");
  const target = join(directory, "host-local");
  const { ino } = statSync(target);

  t.strictSame(install(directory, "--yes"), [
    0,
    `${target} already is this executable; nothing to do.\n`,
    "",
  ]);
  t.equal(statSync(target).ino, ino);
  t.ok(isOther(join(directory, "host-local.previous")));

  const installed = tool(["install", directory], { program: target });
  t.equal(installed.exitCode, 0, "nor does the installed one itself");
});

test("a file of the same size is another executable all the same", async (t) => {
  const directory = scratchDirectory(t);
  const target = join(directory, "host-local");
  const bytes = readFileSync(executable);
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 0xff;
  writeFileSync(target, bytes, { mode: 0o755 });

  t.equal(install(directory, "--yes")[0], 0);
  t.ok(isExecutable(target));
});

test("an installation that was killed between its two steps is repeated", async (t) => {
  const directory = pluginDirectory(t);
  const [target, previous] = [
    join(directory, "host-local"),
    join(directory, "host-local.previous"),
  ];
  linkSync(target, previous);

  t.equal(install(directory, "--yes")[0], 0);
  t.ok(isExecutable(target));
  t.ok(isOther(previous));
  t.strictSame(readdirSync(directory).sort(), [
    "host-local",
    "host-local.installed",
    "host-local.previous",
  ]);
});

test("without --yes and a terminal it only prints what it would do", async (t) => {
  const directory = pluginDirectory(t);
  const [target, previous] = [
    join(directory, "host-local"),
    join(directory, "host-local.previous"),
  ];
  const no = "Nothing was changed: use --yes, or answer y at a terminal.\n";

  t.strictSame(install(directory), [
    1,
    `This executable will be installed as ${target}. What is there is kept as ${previous}; a version of this executable only if no other plugin is kept.\n${no}`,
    "",
  ]);
  t.strictSame(readdirSync(directory), ["host-local"]);
  writeFileSync(previous, OTHER.replace("1.0.0", "0.4.0"), { mode: 0o755 });
  t.strictSame(install(directory, "--rollback"), [
    1,
    `${previous} and ${target} will be exchanged.\n${no}`,
    "",
  ]);
  t.ok(isOther(target));
});

test("at a terminal it asks", { skip: skipWithoutTerminal }, async (t) => {
  const directory = pluginDirectory(t);
  const target = join(directory, "host-local");

  const no = await converse(["install", directory], () => "n\n");
  t.equal(no.exitCode, 1);
  t.ok(isOther(target));
  const yes = await converse(["install", directory], () => "y\n");
  t.match(yes.stdout, "Install it? [y/N] ");
  t.equal(yes.exitCode, 0);
  t.ok(isExecutable(target));
});

test("the document says what was done", async (t) => {
  const directory = pluginDirectory(t);
  const document = (...words: string[]): unknown =>
    JSON.parse(install(directory, "--json", ...words)[1]);
  const paths = {
    target: join(directory, "host-local"),
    previous: join(directory, "host-local.previous"),
    static: null,
  };
  t.strictSame(document(), { action: "refused", ...paths, kept: null, versions: [] });
  t.strictSame(document("--yes"), {
    action: "installed",
    ...paths,
    kept: paths.previous,
    versions: VERSIONS.split(", "),
  });
  t.strictSame(document("--yes"), { action: "none", ...paths, kept: null, versions: [] });
  t.strictSame(document("--rollback", "--yes"), {
    action: "rolledBack",
    ...paths,
    kept: paths.previous,
    versions: ["1.0.0", "1.1.0"],
  });
  t.strictSame(document("--uninstall", "--yes"), {
    action: "uninstalled",
    ...paths,
    kept: null,
    versions: [],
  });
});

test("a rollback to a file that may not be run is refused, and changes nothing", async (t) => {
  const directory = pluginDirectory(t);
  const previous = join(directory, "host-local.previous");
  writeFileSync(previous, `${OTHER}exit 0\n`, { mode: 0o644 });

  const [exitCode, stdout, stderr] = install(directory, "--rollback", "--yes");

  t.strictSame([exitCode, stdout], [2, ""]);
  t.match(
    stderr,
    `${previous} does not answer CNI_COMMAND=VERSION as a CNI plugin; nothing was changed. It could not be started: check that it is executable`,
  );
  t.ok(isOther(join(directory, "host-local")));
});

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
  mkdirSync(join(directory, "a/host-local"), { recursive: true });
  mkdirSync(join(directory, "b"));
  mkdirSync(join(directory, "c/host-local.installed"), { recursive: true });
  const cases: [string[], string][] = [
    [
      [join(directory, "none")],
      `there is no directory ${directory}/none; expected the CNI plugin directory`,
    ],
    [[join(directory, "a")], `${directory}/a/host-local is not a regular file`],
    [[join(directory, "c")], `${directory}/c/host-local.installed is not a regular file`],
    [
      [join(directory, "b"), "--rollback"],
      `there is no ${directory}/b/host-local.previous to roll back to`,
    ],
  ];
  for (const [words, problem] of cases) {
    t.strictSame(install(...words, "--yes"), [2, "", `host-local: install: ${problem}\n`]);
  }
});

for (const [words, problem] of [
  [["--static", "--rollback"], "--rollback and --static exclude each other"],
  [["--uninstall", "--rollback"], "--rollback and --uninstall exclude each other"],
  [["--as", "other", "--static"], "--as and --static exclude each other"],
] as const) {
  test(`${words.join(" ")} is wrong usage`, async (t) => {
    const { exitCode, stderr } = tool(["install", pluginDirectory(t), ...words, "--yes"]);
    t.equal(exitCode, 2);
    t.match(stderr, `install: ${problem}`);
  });
}

test("a directory that may not be written is an error", {
  skip: isRoot ? false : "Only root can make a directory here that another user may not write.",
}, async (t) => {
  const directory = pluginDirectory(t);
  const { exitCode, stderr } = tool(["install", directory, "--yes"], withoutPrivileges(t));
  t.equal(exitCode, 2);
  t.match(stderr, /^host-local: open .*: permission denied\n$/);
  t.strictSame(readdirSync(directory), ["host-local"]);
});

test("nothing is run or changed in a directory that everybody may write to, also where it is sticky", async (t) => {
  for (const mode of [0o1777, 0o757]) {
    const directory = directoryWithOther(t);
    const ran = join(directory.path, "ran");
    directory.put("host-local.previous", `${OTHER}touch '${ran}'\n`);
    chmodSync(directory.path, mode);

    for (const option of ["--static", "--if-replaced", "--rollback", "--uninstall"]) {
      t.strictSame(directory.install(option, "--yes"), [
        2,
        "",
        `host-local: install: everybody may write to ${directory.path}, and what is there runs as root; nothing was changed. Forbid it with: chmod o-w ${directory.path}\n`,
      ]);
    }
    t.strictSame(directory.names, ["host-local", "host-local.previous"]);
  }
});
