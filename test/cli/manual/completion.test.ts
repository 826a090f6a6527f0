// test: each executable, one if short
/** completion: what a shell offers, asked of the shells themselves. */

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { optionsOf } from "../../../src/cli/command/common-options.ts";
import { commands } from "../../../src/commands.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable } from "../../harness/executable.ts";
import { inRepository } from "../../harness/repository.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { tool } from "../../harness/tool.ts";
import { type Node, nodeFor } from "../../operator/node.ts";

const names = commands.map(({ name }) => name);
const confDir = inRepository("conf-examples");

/** A directory with the executable under its name, and the script that a shell loads. */
function withScript(t: Pick<Test, "teardown">, shell: "bash" | "zsh" | "fish"): string {
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

for (const [words, offered] of [
  [[""], [...names, "help", "--help", "--version"]],
  [["ca"], ["capacity"]],
  [["help", "in"], ["install"]],
  [["list", "--no"], ["--no-headers"]],
  [
    ["capacity", "--n"],
    ["--node-feature", "--node-patch"],
  ],
  [
    ["completion", ""],
    ["bash", "zsh", "fish", "networks", "addresses", "pods", "namespaces"],
  ],
  [["install", "pl"], ["plugins"]],
  [["list", "--data-dir", "pl"], ["plugins"]],
  [["list", "--data-dir", "=", "pl"], ["plugins"]],
  [
    ["list", "--sort", "a"],
    ["address", "age"],
  ],
  [
    ["list", "--sort", "=", ""],
    ["network", "address", "age", "container", "pod"],
  ],
  [["capacity", "--resource", ""], []],
  [["show", "--conf-dir", confDir, "--data-dir", "/none-such", ""], []],
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
  t.strictSame(bash(t, ["list", "--data-dir", "="]), ["plugins"]);
  t.end();
});

test("bash offers every option of every command", (t) => {
  for (const command of commands) {
    const options = optionsOf(command).map((option) => option.name);
    t.strictSame(bash(t, [command.name, "--"]), options, command.name);
  }
  t.end();
});

/** A node with two addresses of a pod, and its directories as bash takes them apart. */
function nodeWithPod(t: Pick<Test, "teardown">): { node: Node; where: string[] } {
  const node = nodeFor(t);
  for (const address of ["10.0.0.12", "fd00:10::12"]) node.write(`net/${address}`, "c1\r\neth0");
  node.remember("net", "c1", "default/web");
  const { confDir, dataDir, cacheDir } = node;
  const where = ["--conf-dir", confDir, "--data-dir", "=", dataDir, "--cache-dir", cacheDir];
  return { node, where };
}

for (const [words, offered] of [
  [
    ["show", ""],
    ["10.0.0.12", "fd00:10::12", "default/web"],
  ],
  [["show", "def"], ["default/web"]],
  [["release", "10."], ["10.0.0.12"]],
  // What is offered replaces only what follows the last colon.
  [["show", "fd00", ":"], ["10::12"]],
  [["show", "fd00", ":", "1"], ["10::12"]],
  [["show", "fd00", ":", "10", "::"], ["12"]],
  [["show", "fd00", ":", "10", "::", "1"], ["12"]],
  [["show", "fd00", ":", "11"], []],
  [["list", "--pod", ""], ["default/web"]],
  [["list", "--namespace", "d"], ["default"]],
] as const) {
  test(`bash offers what is on the node for ${JSON.stringify(words)}`, (t) => {
    const [command, ...rest] = words;
    t.strictSame(bash(t, [command, ...nodeWithPod(t).where, ...rest]), offered);
    t.end();
  });
}

test("addresses, pods and namespaces are listed, a line each, and once", (t) => {
  const { node } = nodeWithPod(t);
  node.write("net/10.0.0.13", "c2\r\neth0");
  node.remember("net", "c2", "default/evil$(id)");
  for (const [kind, names] of [
    ["addresses", ["10.0.0.12", "10.0.0.13", "fd00:10::12"]],
    ["pods", ["default/web"]],
    ["namespaces", ["default"]],
  ] as const) {
    const { exitCode, stdout } = node.tool(["completion", kind]);
    t.strictSame([exitCode, stdout.split("\n").sort()], [0, ["", ...names]]);
    t.strictSame(node.json(["completion", kind]).exitCode, 0);
  }
  t.end();
});

const skipWithoutFish =
  spawnSync("fish", ["--version"]).status === 0 ? false : "There is no fish here to complete with.";

for (const [line, offered] of [
  ["host-local capa", ["capacity"]],
  ["host-local help ins", ["install"]],
  ["host-local capacity --node", ["--node-feature", "--node-patch"]],
  ["host-local list --sort ag", ["age"]],
  ["host-local completion b", ["bash"]],
  [`host-local list --conf-dir ${confDir} mac`, ["macvlan"]],
  [`host-local list --conf-dir=${confDir} mac`, ["macvlan"]],
] as const) {
  test(`fish completes ${line}`, { skip: skipWithoutFish }, (t) => {
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
    t.end();
  });
}

test("fish's script names every command and every option", (t) => {
  const script = tool(["completion", "fish"]).stdout;
  for (const command of commands) {
    t.match(script, ` -a ${command.name} -d `);
    for (const { name } of optionsOf(command)) {
      t.match(script, `-n '__host_local_is ${command.name}' -l ${name.slice(2)} `);
    }
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
  ["host-local capacity --node-p", "host-local capacity --node-patch "],
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
  for (const command of commands) {
    const { name, summary } = command;
    t.ok(script.includes(`'${`${name}:${summary}`.replaceAll("'", "'\\''")}'`), name);
    for (const option of optionsOf(command)) t.ok(script.includes(`'${option.name}`), option.name);
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
  for (const shell of ["bash", "zsh", "fish"]) {
    const { script } = JSON.parse(tool(["completion", shell, "--json"]).stdout);
    t.equal(script, tool(["completion", shell]).stdout);
  }
  t.end();
});
