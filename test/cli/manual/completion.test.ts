// test: native executable
/** completion: what may stand at the end of a line, and what the shells themselves make of that. */

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { t as root, test } from "tap";
import { optionsOf } from "../../../src/cli/command/common-options.ts";
import { offersFor } from "../../../src/cli/manual/completion-offers.ts";
import { commands } from "../../../src/commands.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable } from "../../harness/executable.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { tool } from "../../harness/tool.ts";

const names = commands.map(({ name }) => name);

for (const [rest, offered] of [
  ["", [...names, "help", "--help", "--version"]],
  ["ca", ["capacity"]],
  ["help in", ["install"]],
  ["none ", []],
  ["list --no", ["--no-headers"]],
  ["completion ", ["bash", "zsh", "fish"]],
  ["install pl", [":files"]],
  ["list --data-dir pl", [":files"]],
  ["list --data-dir=pl", [":files"]],
  // Nothing on the node is asked for: who types a line waits for no directory.
  ["audit --cluster-cidr=", []],
  ["show ", []],
  ["history --at ", []],
  ["list ", []],
  ["gc net --data-dir=x ", []],
] as const) {
  test(`host-local ${rest} may go on`, async (t) => {
    const words = offersFor(`host-local ${rest}`, commands).map(([word]) => word);
    t.strictSame(words, offered);
  });
}

test("every option of every command is offered, with what it does", async (t) => {
  for (const command of commands) {
    t.strictSame(
      offersFor(`host-local ${command.name} --`, commands),
      optionsOf(command).map(({ name, summary }) => [name, summary]),
    );
  }
});

/** What the first zsh has found of completions, over which it takes seconds, for those that follow. */
const dump = join(scratchDirectory(root), "dump");

/** How a shell is asked, by a script whose first argument is the line, and the lines that its answer makes of that. */
interface Shell {
  readonly command: readonly string[];
  readonly completed: (line: string, answer: readonly string[]) => readonly string[];
}

const lastWord = /[^ ]*$/;

const shells: Readonly<Record<"bash" | "zsh" | "fish", Shell>> = {
  // It takes a line apart at blanks, `=` and `:`, and replaces the last part.
  bash: {
    command: [
      ...["bash", "--norc", "-c"],
      `set -u; source ./script
       IFS=' '; mapfile -t COMP_WORDS < <(grep -oE '[=:]+|[^=: ]+| $' <<< "$1" | sed 's/^ $//')
       COMP_LINE=$1 COMP_POINT=\${#1} COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
       "$(complete -p host-local | sed 's/.*-F \\([^ ]*\\) .*/\\1/')"
       printf '%s\\n' "\${COMPREPLY[@]}"`,
      "bash",
    ],
    completed: (line, answer) => answer.map((word) => line.replace(/[^ =:]*$/, word)),
  },
  fish: {
    command: ["fish", "-N", "-c", 'source script; complete -C "$argv[1]"'],
    completed: (line, answer) =>
      answer.map((word) => line.replace(lastWord, word.replace(/\t.*/, ""))),
  },
  // A line and a tab are typed into a zsh at a terminal, which prints the completed line.
  zsh: {
    command: [
      ...["zsh", "-f", "-c"],
      `zmodload zsh/zpty
       zpty z zsh -f -i
       zpty -w z "PS1=; autoload -Uz compinit; compinit -u -d $DUMP; source ./script"
       zpty -w z "finish() { print -r -- \\"[LINE \\$BUFFER]\\"; BUFFER=; zle accept-line }; zle -N finish; bindkey '^X' finish"
       zpty -w z 'print REA""DY'
       zpty -r z seen '*READY*'
       zpty -n -w z "$1"$'\\t\\C-x'
       zpty -r z seen '*\\[LINE *\\]*'
       seen=\${seen##*\\[LINE }
       print -r -- \${seen%%\\]*}`,
      "zsh",
    ],
    completed: (_, answer) => answer,
  },
};

for (const [shell, { command, completed }] of Object.entries(shells)) {
  const [program = "", ...words] = command;
  const isMissing = spawnSync(program, ["--version"]).status !== 0;
  const skip = isMissing && `There is no ${shell} here to complete with.`;
  for (const [typed, ...expected] of [
    ["capa", "capacity"],
    ["help ins", "help install"],
    ["capacity --node-p", "capacity --node-patch"],
    ["capacity --node-", "capacity --node-feature", "capacity --node-patch"],
    ["list --data-dir=plug", "list --data-dir=plugins"],
    ["completion ", "completion bash", "completion fish", "completion zsh"],
    ["install plug", "install plugins"],
    ["audit nod", "audit nodes.txt"],
  ] as const) {
    // It completes what they have in common, and shows them below.
    if (shell === "zsh" && expected.length > 1) continue;
    test(`${shell} completes ${typed}`, { skip }, async (t) => {
      const directory = scratchDirectory(t);
      symlinkSync(executable, join(directory, "host-local"));
      writeFileSync(join(directory, "script"), tool(["completion", shell]).stdout);
      mkdirSync(join(directory, "plugins"));
      writeFileSync(join(directory, "nodes.txt"), "");
      const PATH = `${directory}:${process.env.PATH}`;
      const line = `host-local ${typed}`;

      const { stdout, stderr } = spawnSync(program, [...words, line], {
        cwd: directory,
        encoding: "utf8",
        env: { ...runtimeEnvironment, PATH, HOME: directory, TERM: "xterm", DUMP: dump },
        timeout: 60_000,
      });

      const found = completed(line, stdout.split("\n").slice(0, -1));
      t.strictSame(
        found.map((one) => one.replace(/[ /]$/, "")).sort(),
        expected.map((rest) => `host-local ${rest}`),
        stderr,
      );
    });
  }
}
