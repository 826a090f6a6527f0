/** completion: what a shell offers, asked of the shells themselves. */

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { commands } from "../../../src/operator/commands.ts";
import { scratchDirectory } from "../../blackbox/data-directory.ts";
import { executable, inRepository } from "../../blackbox/executable.ts";
import { runtimeEnvironment } from "../../blackbox/runtime-call.ts";
import { nodeFor } from "../node.ts";
import { tool } from "../tool.ts";

const names = commands.map(({ name }) => name);
const confDir = inRepository("conf-examples");

/** A directory with the executable under its name, and the script that a shell loads. */
function withScript(t: Pick<Test, "teardown">, shell: "bash" | "zsh"): string {
  const directory = scratchDirectory(t);
  symlinkSync(executable, join(directory, "host-local"));
  writeFileSync(join(directory, "script"), tool(["completion", shell]).stdout);
  mkdirSync(join(directory, "plugins"));
  writeFileSync(join(directory, "plugins.txt"), "");
  return directory;
}

/** What bash offers for the last of some words. */
function bash(t: Pick<Test, "teardown">, words: readonly string[]): readonly string[] {
  const directory = withScript(t, "bash");
  const ask = `
    set -u
    source ./script
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    "$(complete -p host-local | sed 's/.*-F \\([^ ]*\\) .*/\\1/')" "$1" "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\\n' "\${COMPREPLY[@]}"
  `;
  const { status, stdout, stderr } = spawnSync(
    "bash",
    ["--norc", "-c", ask, "bash", "./host-local", ...words],
    { cwd: directory, encoding: "utf8", env: runtimeEnvironment },
  );
  if (status !== 0 || stderr !== "") throw new Error(stderr);
  return stdout.split("\n").filter((line) => line !== "");
}

const common = ["--conf-dir", "--data-dir", "--json", "--help"];

for (const [words, offered] of [
  [[""], [...names, "help", "--help"]],
  [["ca"], ["capacity"]],
  [["help", "in"], ["install"]],
  [
    ["list", "-"],
    ["--cache-dir", ...common],
  ],
  [["capacity", "--n"], ["--node-patch"]],
  [
    ["completion", ""],
    ["bash", "zsh", "networks"],
  ],
  [["install", "pl"], ["plugins"]],
  [["install", "--data-dir", "pl"], ["plugins"]],
  [["install", "--data-dir", "=", "pl"], ["plugins"]],
  [["capacity", "--resource", ""], []],
  [["show", ""], []],
  [
    ["list", "--conf-dir", confDir, "kube"],
    ["kubenet-29", "kubenet-30"],
  ],
  [["list", "--conf-dir", "=", confDir, "mac"], ["macvlan"]],
  [["show", "--conf-dir", confDir, "--network", "mac"], ["macvlan"]],
  [["list", "--conf-dir", "/none-such", ""], []],
] as [string[], string[]][]) {
  test(`bash offers for ${JSON.stringify(words)}`, (t) => {
    t.strictSame(bash(t, words), offered);
    t.end();
  });
}

test("bash takes --option=DIR apart before anything follows the sign", (t) => {
  t.strictSame(bash(t, ["install", "--data-dir", "="]), ["plugins"]);
  t.end();
});

test("bash offers every option of every command", (t) => {
  for (const { name, options } of commands) {
    t.strictSame(bash(t, [name, "--"]), [...options.map((option) => option.name), ...common], name);
  }
  t.end();
});

const skipWithoutZsh =
  spawnSync("zsh", ["--version"]).status === 0 ? false : "There is no zsh here to complete with.";

/** Types a line and a tab into a zsh at a terminal, and prints the completed line. */
const TYPE = `
  zmodload zsh/zpty
  zpty z zsh -f -i
  zpty -w z "PS1=; autoload -Uz compinit; compinit -u -D; source ./script; path=(. $path)"
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
  ["host-local capacity --node", "host-local capacity --node-patch "],
  ["host-local list --data-", "host-local list --data-dir="],
  ["host-local completion b", "host-local completion bash "],
  ["host-local install plug", "host-local install plugins/"],
  [`host-local list --conf-dir ${confDir} mac`, `host-local list --conf-dir ${confDir} macvlan `],
  [`host-local list --conf-dir=${confDir} mac`, `host-local list --conf-dir=${confDir} macvlan `],
] as const) {
  test(`zsh completes ${line}`, { skip: skipWithoutZsh }, (t) => {
    const { stdout, stderr } = spawnSync("zsh", ["-f", "-c", TYPE, "zsh", line], {
      cwd: withScript(t, "zsh"),
      encoding: "utf8",
      env: { ...runtimeEnvironment, TERM: "xterm" },
      timeout: 60_000,
    });
    t.equal(stdout, `${completed}\n`, stderr);
    t.end();
  });
}

test("zsh's script names every command and every option", (t) => {
  const script = tool(["completion", "zsh"]).stdout;
  t.match(script, /^#compdef host-local\n/);
  for (const { name, summary, options } of commands) {
    t.ok(script.includes(`'${`${name}:${summary}`.replaceAll("'", "'\\''")}'`), name);
    for (const option of options) t.ok(script.includes(`'${option.name}`), option.name);
  }
  t.end();
});

test("the networks are named, a line each, and once", (t) => {
  const node = nodeFor(t);
  node.add("two", { subnet: "10.0.0.0/24" }, "a");
  node.add("one", { subnet: "10.0.0.0/24" }, "a");
  const ipam = { type: "host-local", dataDir: node.dataDir };
  for (const [file, subnet] of [
    ["a.conf", "10.0.0.0/24"],
    ["b.conf", "10.1.0.0/24"],
  ] as const) {
    node.configure(file, { cniVersion: "1.0.0", name: "two", ipam: { ...ipam, subnet } });
  }
  const words = ["completion", "networks", "--data-dir", node.dataDir];
  t.strictSame(node.tool(words), { exitCode: 0, stdout: "one\ntwo\n", stderr: "" });
  t.strictSame(JSON.parse(node.tool([...words, "--json"]).stdout), { networks: ["one", "two"] });
  t.end();
});

test("the document holds the script", (t) => {
  for (const shell of ["bash", "zsh"]) {
    const { script } = JSON.parse(tool(["completion", shell, "--json"]).stdout);
    t.equal(script, tool(["completion", shell]).stdout);
  }
  t.end();
});

test("another shell ends with 2", (t) => {
  t.strictSame(tool(["completion", "fish"]), {
    exitCode: 2,
    stdout: "",
    stderr: "host-local: completion: expected bash, zsh or networks; found fish\n",
  });
  t.end();
});
