// test: each executable, one if short, each architecture, mounts
/** install: what is asked, what is said, and what is refused; states.test.ts has what becomes of the files. */

import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { shellWord } from "../../../src/cli/output/shell-word.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable, run } from "../../harness/executable.ts";
import { lacking } from "../../harness/needs.ts";
import { runtimeEnvironment, versionCall } from "../../harness/runtime-call.ts";
import { converse, skipWithoutTerminal } from "../../harness/terminal.ts";
import { tool } from "../../harness/tool.ts";
import { directoryWith, GO, OLDER, PluginDirectory, VERSIONS } from "./plugin-directory.ts";

/** What is there, what is asked, what will be done, and what was done, each a line. */
const said: readonly (readonly [string, readonly string[], plan: string, done: string])[] = [
  ["- - -", [], "INSTALL", "INSTALLED NEXT"],
  ["go - -", [], "INSTALL KEEP", "INSTALLED BACK NEXT"],
  ["older go M", [], "INSTALL KEEP", "INSTALLED BACK NEXT"],
  ["this go M", ["--uninstall"], "RENAME", "RESTORED"],
  ["this - M", ["--uninstall"], "REMOVE", "REMOVED"],
  ["go go M", ["--uninstall"], "FORGET", "FORGOTTEN"],
];

const words = ({ path, target, previous, marker }: PluginDirectory) => ({
  INSTALL: `This executable will be installed as ${target}.`,
  KEEP: `What is there is kept as ${previous}, unless it is a version of this executable.`,
  INSTALLED: `Installed ${target}, which supports CNI ${VERSIONS}.`,
  BACK: `--uninstall puts ${previous} back.`,
  NEXT: `Whether the runtime uses it: host-local networks --conf-dir ${shellWord(path)}`,
  RENAME: `${previous} will be renamed to ${target}.`,
  RESTORED: `Restored ${target}.`,
  REMOVE: `${target} will be removed.`,
  REMOVED: `Removed ${target}.`,
  FORGET: `${target} is another plugin. ${marker} will be removed.`,
  FORGOTTEN: `${target} is another plugin. Removed ${marker}.`,
  NO: "Nothing was changed: use --yes, or answer y at a terminal.",
});

for (const [state, options, plan, done] of said) {
  test(`${state}: install ${options.join()} says what will be done, and what was done`, async (t) => {
    const directory = directoryWith(t, state);
    const said: Readonly<Record<string, string>> = words(directory);
    const lines = (names: string) =>
      names
        .split(" ")
        .map((name) => `${said[name]}\n`)
        .join("");
    t.strictSame(directory.install(...options), [1, lines(`${plan} NO`), ""]);
    t.equal(directory.state, state, "nothing was changed");
    t.strictSame(directory.install(...options, "--yes"), [0, lines(done), ""]);
  });
}

test("static is not among the networks", async (t) => {
  const [, stdout] = directoryWith(t, "- - -", "static").install("--as", "static", "--yes");
  t.notMatch(stdout, "host-local networks");
});

test("it is said why nothing is to be done", async (t) => {
  for (const [state, text] of [
    ["- - -", "There is no TARGET; nothing to do.\n"],
    ["go - -", "TARGET is another plugin; nothing to do.\n"],
  ] as const) {
    const directory = directoryWith(t, state);
    const expected = text.replace("TARGET", directory.target);
    t.strictSame(directory.install("--uninstall", "--yes"), [0, expected, ""]);
  }
  const none = new PluginDirectory(join(scratchDirectory(t), "none"));
  t.strictSame(
    none.install("--if-replaced", "--yes"),
    [0, "", ""],
    "as where it was not installed",
  );
});

test("what it replaced is the very file, with its owner", async (t) => {
  const directory = directoryWith(t, "go - -");
  const { ino } = statSync(directory.target);

  t.equal(directory.install("--yes")[0], 0);

  t.equal(statSync(directory.previous).ino, ino);
});

/** A plugin that is several in one, and looks at the name that it is called by, as that of k3s. */
const MULTICALL = `
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
  const char *slash = count > 0 ? strrchr(words[0], '/') : NULL, *name = slash ? slash + 1 : words[0];
  if (strcmp(name, "host-local") != 0) return 1;
  return puts("{\\"cniVersion\\":\\"1.0.0\\",\\"supportedVersions\\":[\\"1.0.0\\"]}") < 0;
}
`;

test("a link to a program that looks at its name is kept as a link, and comes back", {
  // A script would not do: the kernel gives it its path in place of the name.
  skip: spawnSync("cc", ["--version"]).status === 0 ? false : "There is no C compiler.",
}, async (t) => {
  const directory = directoryWith(t, "- - -");
  const { path, target, previous } = directory;
  execFileSync("cc", ["-x", "c", "-", "-o", join(path, "cni")], { input: MULTICALL });
  symlinkSync("cni", target);

  t.equal(directory.install("--yes")[0], 0);
  t.equal(readlinkSync(previous), "cni");
  t.equal(directory.install("--uninstall", "--yes")[0], 0);

  t.equal(readlinkSync(target), "cni");
  t.equal(run(target, versionCall()).exitCode, 0);
  t.strictSame(directory.names, ["cni", "host-local"]);
});

test("where a network would break, going back is refused unless it is forced", async (t) => {
  for (const [state, need, after] of [
    ["this go M", "has exclude: ", "go - -"],
    ["go - M", "has exclude: ", "go - -"],
    ["this - M", "names host-local, ", "- - -"],
  ] as const) {
    const { directory, file } = withExclude(t, state);
    const [exitCode, stdout, stderr] = directory.install("--uninstall", "--yes");
    t.strictSame([exitCode, stdout], [1, ""]);
    const refusal =
      "host-local: install: nothing was changed. Change what is named here, or add --force:\n";
    t.match(stderr, `${refusal}  ${join(directory.path, file)} (network mynet) ${need}`);
    const asJson = directory.install("--uninstall", "--yes", "--json");
    t.match([asJson[0], JSON.parse(asJson[1])], [1, { action: "refused" }]);
    t.equal(asJson[2], stderr);
    t.equal(directory.state, `${state} ${file}`);
    t.match(directory.install("--uninstall", "--yes", "--force"), [0, need]);
    t.equal(directory.state, `${after} ${file}`);
  }
});

test("a former version of this program understands the configurations", async (t) => {
  const { directory, file } = withExclude(t, "this older M");
  t.match(directory.install("--uninstall", "--yes"), [0, "Restored ", ""]);
  t.equal(directory.state, `older - - ${file}`);
});

/** On a node with a network that the Go plugin does not understand. */
function withExclude(t: Test, state: string): { directory: PluginDirectory; file: string } {
  const directory = directoryWith(t, state);
  const file = "10-mynet.conf";
  const ipam = { type: "host-local", subnet: "198.51.100.0/24", exclude: ["198.51.100.9"] };
  const network = { cniVersion: "1.0.0", name: "mynet", type: "bridge", ipam };
  writeFileSync(join(directory.path, file), JSON.stringify(network));
  return { directory, file };
}

test("at a terminal it asks, and a plugin that another installer puts there meanwhile stays", {
  skip: skipWithoutTerminal,
}, async (t) => {
  const directory = directoryWith(t, "this go M");
  const { path, target } = directory;
  const words = ["install", path, "--uninstall", "--force"];
  t.match(await converse(words, () => "n\n"), { exitCode: 1, stdout: "Continue? [y/N] " });
  t.equal(directory.state, "this go M");

  const { exitCode, stdout } = await converse(words, () => {
    rmSync(target);
    directory.put("host-local", GO);
    return "y\n";
  });

  t.equal(exitCode, 2);
  t.match(stdout, `${target} was replaced meanwhile, and is left as it is`);
  t.equal(directory.state, "go go M");
  t.match(await converse(["install", path], () => "y\n"), { exitCode: 0 });
  t.equal(directory.state, "this go M");
});

for (const [options, place, after] of [
  [["--uninstall"], "in its place", "go - -"],
  [[], "as the previous one", "this go M"],
] as const) {
  test(`a former plugin that another removal puts back meanwhile stays, ${place}`, async (t) => {
    const directory = directoryWith(t, "- go -");
    const { target, previous } = directory;
    const other = `mv '${previous}' '${target}'`;
    directory.put("host-local", OLDER.replace("VERSION ]; then\n", `VERSION ]; then\n${other}\n`));

    directory.install(...options, "--yes");

    t.equal(directory.state, after);
  });
}

test("the document says what was done", async (t) => {
  const directory = directoryWith(t, "go - -");
  const { target } = directory;
  const document = (...options: string[]): unknown =>
    JSON.parse(directory.install("--json", ...options)[1]);
  const none = { target, versions: [] };
  const versions = VERSIONS.split(", ");
  t.strictSame(document(), { ...none, action: "refused" });
  t.strictSame(document("--yes"), { ...none, action: "installed", versions });
  t.strictSame(document("--if-replaced", "--yes"), { ...none, action: "none" });
  t.strictSame(document("--uninstall", "--yes"), {
    ...none,
    action: "uninstalled",
    versions: ["1.0.0"],
  });
});

for (const how of ["its own", "another"]) {
  test(`what the package has installed is left to it, where its directory is called by ${how} name`, {
    skip: lacking("mounts"),
  }, async (t) => {
    // The marker is from before the package.
    const directory = directoryWith(t, "go - M");
    const link = `${directory.path}.link`;
    t.teardown(() => rmSync(link, { force: true }));
    symlinkSync(directory.path, link);
    const path = how === "another" ? link : directory.path;
    const info = "/var/lib/dpkg/info";
    const files = `/.\\n${directory.path}\\n${directory.target}\\n`;
    const asPackage = `mkdir -p ${info} && mount -t tmpfs none ${info} && printf '${files}' >${info}/host-local.list`;
    for (const options of ["--yes", "--uninstall --yes --force", "--if-replaced --yes"]) {
      t.strictSame(inNamespace(`${asPackage} && '${executable}' install '${path}' ${options}`), {
        status: 2,
        stdout: "",
        stderr: `host-local: install: ${path}/host-local is of the package host-local; nothing was changed. Remove it with: dpkg --remove host-local\n`,
      });
      t.equal(directory.state, "go - M");
    }
  });
}

for (const [where, option, problem] of [
  [
    "where nothing can be run",
    "noexec",
    "install: nothing was changed: the copy does not answer CNI_COMMAND=VERSION",
  ],
  ["on a full disk", "size=64k", "no space left on device"],
] as const) {
  test(`${where}, nothing is installed`, { skip: lacking("mounts") }, async (t) => {
    const directory = scratchDirectory(t);
    const { stdout, stderr } = inNamespace(
      `mount -t tmpfs -o mode=755,${option} none '${directory}' && echo kept >'${directory}/host-local' &&
       { '${executable}' install '${directory}' --yes; echo "exit $?"; ls -A '${directory}'; cat '${directory}/host-local'; }`,
    );
    t.equal(stdout, "exit 2\nhost-local\nkept\n");
    t.match(stderr, problem);
  });
}

/** Runs a line of the shell in a mount namespace of its own. */
function inNamespace(line: string) {
  const { status, stdout, stderr } = spawnSync("unshare", ["--mount", "sh", "-c", line], {
    encoding: "utf8",
    env: runtimeEnvironment,
  });
  return { status, stdout, stderr };
}

test("--uninstall removes what was kept of failed calls", async (t) => {
  const runtime = join(scratchDirectory(t), "host-local");
  mkdirSync(runtime, { mode: 0o700 });
  for (const name of ["failed-calls", "failed-calls.1", "other"]) {
    writeFileSync(join(runtime, name), "");
  }
  const { path } = directoryWith(t, "this go M");
  const environment = { HOST_LOCAL_RUNTIME_DIR: runtime };
  const { exitCode } = tool(["install", path, "--uninstall", "--yes"], { environment });
  t.strictSame([exitCode, readdirSync(runtime)], [0, ["other"]]);
});

test("wrong usage exits with 2", async (t) => {
  const directory = scratchDirectory(t);
  writeFileSync(join(directory, "file"), "");
  for (const path of ["a/host-local", "b/host-local.previous"]) {
    mkdirSync(join(directory, path), { recursive: true });
  }
  writeFileSync(join(directory, "b/host-local"), GO);
  for (const [name, problem] of [
    ["none", `install: there is no directory ${directory}/none\n`],
    ["file", `install: there is no directory ${directory}/file\n`],
    [
      "a",
      `install: ${directory}/a/host-local is a directory; nothing was changed. Remove it with: `,
    ],
    ["b", /: is a directory\n$/],
  ] as const) {
    const { exitCode, stdout, stderr } = tool(["install", join(directory, name), "--yes"]);
    t.strictSame([exitCode, stdout], [2, ""]);
    t.match(stderr, problem);
  }
  t.equal(readFileSync(join(directory, "b/host-local"), "utf8"), GO);
  const [exitCode, , stderr] = directoryWith(t, "go - -").install("--uninstall", "--if-replaced");
  t.equal(exitCode, 2);
  t.match(stderr, "install: --uninstall: cannot be combined with --if-replaced");
});

test("nothing is run or changed in a world-writable directory, sticky or not", async (t) => {
  for (const mode of [0o1777, 0o757]) {
    const directory = directoryWith(t, "go - -");
    const ran = join(directory.path, "ran");
    directory.put("host-local.previous", `${GO}touch '${ran}'\n`);
    chmodSync(directory.path, mode);

    for (const options of [[], ["--if-replaced"], ["--uninstall"]]) {
      t.strictSame(directory.install(...options, "--yes"), [
        2,
        "",
        `host-local: install: everybody may write to ${directory.path}, and what is there runs as root; nothing was changed. Forbid it with: chmod o-w ${shellWord(directory.path)}\n`,
      ]);
    }
    t.equal(directory.state, "go unknown -");
  }
});
