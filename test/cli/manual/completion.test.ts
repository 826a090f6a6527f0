// test: native executable
/** completion: what a shell offers, asked of the shells themselves. */

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { t as root, type Test, test } from "tap";
import { optionsOf } from "../../../src/cli/command/common-options.ts";
import { commands } from "../../../src/commands.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable } from "../../harness/executable.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { tool } from "../../harness/tool.ts";

const names = commands.map(({ name }) => name);

/** A directory with the executable under its name, and the script that a shell loads. */
function withScript(t: Pick<Test, "teardown">, shell: "bash" | "zsh" | "fish"): string {
  const directory = scratchDirectory(t);
  symlinkSync(executable, join(directory, "host-local"));
  writeFileSync(join(directory, "script"), tool(["completion", shell]).stdout);
  mkdirSync(join(directory, "plugins"));
  writeFileSync(join(directory, "nodes.txt"), "");
  return directory;
}

/** What bash offers at the end of a line, which it takes apart at blanks, `=` and `:`. */
function bash(t: Pick<Test, "teardown">, line: string): readonly string[] {
  const directory = withScript(t, "bash");
  const ask = `
    set -u
    source ./script
    COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDS=("\${@:2}") COMP_CWORD=$(($# - 2))
    "$(complete -p host-local | sed 's/.*-F \\([^ ]*\\) .*/\\1/')"
    printf '%s\\n' "\${COMPREPLY[@]}"
  `;
  const words = line.split(" ").flatMap((word) => word.match(/[=:]+|[^=:]+/g) ?? [""]);
  const { status, stdout, stderr } = spawnSync(
    "bash",
    ["--norc", "-c", ask, "bash", line, ...words],
    {
      cwd: directory,
      encoding: "utf8",
      env: runtimeEnvironment,
    },
  );
  if (status !== 0 || stderr !== "") throw new Error(stderr);
  return stdout.split("\n").filter((one) => one !== "");
}

for (const [rest, offered] of [
  ["", [...names, "help", "--help", "--version"]],
  ["ca", ["capacity"]],
  ["help in", ["install"]],
  ["none ", []],
  ["list --no", ["--no-headers"]],
  ["capacity --n", ["--node-feature", "--node-patch"]],
  ["completion ", ["bash", "zsh", "fish"]],
  ["install pl", ["plugins"]],
  ["audit nod", ["nodes.txt"]],
  ["list --data-dir pl", ["plugins"]],
  ["list --data-dir=pl", ["plugins"]],
  ["audit --cluster-cidr=", []],
  ["list --sort a", ["address", "age"]],
  ["list --sort=", ["network", "address", "age", "container", "pod"]],
  ["capacity --resource ", []],
  ["list --conf-dir pl", ["plugins"]],
] as [string, string[]][]) {
  test(`bash offers for ${rest}`, async (t) => {
    t.strictSame(bash(t, `./host-local ${rest}`), offered);
  });
}

test("every option of every command is offered, with what it does", async (t) => {
  for (const command of commands) {
    t.strictSame(
      tool(["completion", "--line", `host-local ${command.name} --`]).stdout,
      optionsOf(command)
        .map(({ name, summary }) => `${name} ${summary}\n`)
        .join(""),
    );
  }
  t.strictSame(JSON.parse(tool(["completion", "--json", "--line", "host-local ca"]).stdout), {
    offered: [["capacity", commands.find(({ name }) => name === "capacity")?.summary]],
  });
});

test("nothing on the node is asked for: who types a line waits for no directory", async (t) => {
  for (const line of [
    "show ",
    "list --pod ",
    "list --namespace ",
    "list ",
    "gc net --data-dir=x ",
  ]) {
    t.equal(tool(["completion", "--line", `host-local ${line}`]).stdout, "", line);
  }
});

const skipWithoutFish =
  spawnSync("fish", ["--version"]).status === 0 ? false : "There is no fish here to complete with.";

for (const [line, offered] of [
  ["host-local capa", ["capacity"]],
  ["host-local help ins", ["install"]],
  ["host-local capacity --node", ["--node-feature", "--node-patch"]],
  ["host-local list --sort ag", ["age"]],
  ["host-local list --sort=ag", ["--sort=age"]],
  ["host-local completion b", ["bash"]],
  ["host-local install plug", ["plugins/"]],
  ["host-local list --data-dir=plug", ["--data-dir=plugins/"]],
  ["host-local audit nod", ["nodes.txt"]],
] as const) {
  test(`fish completes ${line}`, { skip: skipWithoutFish }, async (t) => {
    const directory = withScript(t, "fish");
    const { stdout, stderr } = spawnSync(
      "fish",
      ["-N", "-c", 'source script; complete -C "$argv[1]"', line],
      {
        cwd: directory,
        encoding: "utf8",
        env: { ...runtimeEnvironment, HOME: directory, PATH: `${directory}:${process.env.PATH}` },
      },
    );
    t.strictSame(
      stdout.split("\n").flatMap((one) => one.split("\t")[0] || []),
      offered,
      stderr,
    );
  });
}

const skipWithoutZsh =
  spawnSync("zsh", ["--version"]).status === 0 ? false : "There is no zsh here to complete with.";

/** What the first zsh has found of completions, over which it takes seconds, for those that follow. */
const dump = join(scratchDirectory(root), "dump");

/** Types a line and a tab into a zsh at a terminal, and prints the completed line. */
const TYPE = `
  zmodload zsh/zpty
  zpty z zsh -f -i
  zpty -w z "PS1=; autoload -Uz compinit; compinit -u -d $DUMP; source ./script; path=(. $path)"
  zpty -w z "finish() { print -r -- \\"[LINE \\$BUFFER]\\"; BUFFER=; zle accept-line }; zle -N finish; bindkey '^X' finish"
  zpty -w z 'print REA""DY'
  zpty -r z seen '*READY*'
  zpty -n -w z "$1"$'\\t\\C-x'
  zpty -r z seen '*\\[LINE *\\]*'
  seen=\${seen##*\\[LINE }
  print -r -- \${seen%%\\]*}
`;

for (const [line, completed] of [
  ["host-local capa", "host-local capacity "],
  ["host-local help ins", "host-local help install "],
  ["host-local capacity --node-p", "host-local capacity --node-patch "],
  ["host-local list --data-", "host-local list --data-dir "],
  ["host-local list --sort=ag", "host-local list --sort=age "],
  ["host-local list --data-dir=plug", "host-local list --data-dir=plugins/"],
  ["host-local audit nod", "host-local audit nodes.txt "],
  ["host-local completion b", "host-local completion bash "],
  ["host-local install plug", "host-local install plugins/"],
] as const) {
  test(`zsh completes ${line}`, { skip: skipWithoutZsh }, async (t) => {
    const { stdout, stderr } = spawnSync("zsh", ["-f", "-c", TYPE, "zsh", line], {
      cwd: withScript(t, "zsh"),
      encoding: "utf8",
      env: { ...runtimeEnvironment, TERM: "xterm", DUMP: dump },
      timeout: 60_000,
    });
    t.equal(stdout, `${completed}\n`, stderr);
  });
}

test("the document holds the script", async (t) => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { script } = JSON.parse(tool(["completion", shell, "--json"]).stdout);
    t.equal(script, tool(["completion", shell]).stdout);
  }
});
