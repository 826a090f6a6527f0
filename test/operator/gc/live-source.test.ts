// test: each executable
/** The lists of live containers that `gc` is given: files, pipes, commands, also in processes started in unusual ways. */

import { spawnSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { t as root, type Test, test } from "tap";
import { executable, type Outcome, run } from "../../harness/executable.ts";
import { startStranger } from "../../harness/network-namespaces.ts";
import { inRepository } from "../../harness/repository.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { HOUR, listOf, type NodeWithPods, nodeWithPods, withOthers } from "./pods-on-node.ts";

// Only the list tells here.
await startStranger(root);

function podsOn(t: Test, ...ids: readonly string[]): NodeWithPods {
  return nodeWithPods(t, "198.51.100", ids);
}

/** Runs `gc` by a script of bash, in which it is `"$@"`. */
function gcIn(node: NodeWithPods, script: string, ...words: readonly string[]): Outcome {
  return run("bash", {
    environment: runtimeEnvironment,
    stdin: "",
    workingDirectory: node.root,
    arguments: ["-c", script, "bash", executable, ...node.line(["gc", ...words])],
  });
}

for (const [name, script] of [
  ["process substitution", '"$@" --live <(sleep 0.2; printf "c1\\n"; sleep 0.2; printf "c2\\n")'],
  [
    "a named pipe whose writer comes later",
    'mkfifo ids; (sleep 0.3; printf "c1\\nc2\\n" > ids) & "$@" --live ids',
  ],
] as const) {
  test(`the list is read from ${name}`, async (t) => {
    const { exitCode, stdout, stderr } = gcIn(podsOn(t, "c1", "c2"), script);
    t.strictSame([exitCode, stderr], [0, ""]);
    t.match(stdout, "2 reservations: 2 alive");
  });
}

for (const [name, script] of [
  ["a list in a file", '"$@" --live ids'],
  ["a file as standard input", '"$@" --live - < ids'],
] as const) {
  test(`${name} has the time of the file: what was made since may live`, async (t) => {
    const node = podsOn(t, "c1", "c2");
    const list = join(node.root, "ids");
    writeFileSync(list, withOthers(["c1"]).join("\n"));
    const time = Date.now() / 1000 - 2 * HOUR;
    utimesSync(list, time, time);

    t.equal(gcIn(node, script, "--now", "--yes").exitCode, 0);
    t.same(node.reserved(), ["198.51.100.2", "198.51.100.3"]);

    writeFileSync(list, withOthers(["c1"]).join("\n"));
    t.equal(gcIn(node, script, "--now", "--yes").exitCode, 0);
    t.same(node.reserved(), ["198.51.100.2"]);
  });
}

for (const [name, script, named] of [
  ["a list in a file", '"$@" --live ids', "ids"],
  ["a file as standard input", '"$@" --live - < ids', "standard input"],
] as const) {
  test(`${name} that is dated ahead of the clock is refused with its date`, async (t) => {
    const node = podsOn(t, "c1", "c2");
    const list = join(node.root, "ids");
    writeFileSync(list, withOthers(["c1"]).join("\n"));
    const time = Math.floor(Date.now() / 1000) + 24 * HOUR;
    utimesSync(list, time, time);

    const { exitCode, stdout, stderr } = gcIn(node, script, "--now", "--yes");

    t.strictSame([exitCode, stdout], [2, ""]);
    t.equal(
      stderr,
      `host-local: gc: --live: ${named} is dated ahead of the clock, ${new Date(time * 1000).toISOString()}, so it is not known how old it is; nothing was released. Write it again\n`,
    );
    t.same(node.reserved(), ["198.51.100.2", "198.51.100.3"]);
  });
}

test("a command is run by the shell, and only its success counts", async (t) => {
  const node = podsOn(t, "c1", "c2");
  for (const [script, command, failure] of [
    ['"$@"', "false | echo c1", "exit code 1"],
    ['"$@"', "echo c1; exit 3", "exit code 3"],
    ['"$@"', "no-such-program-here", "exit code 127"],
    ["trap '' CHLD; exec \"$@\"", "echo c1; exit 3", "exit code 3"],
  ] as const) {
    const { exitCode, stdout, stderr } = gcIn(
      node,
      script,
      ...["--live-command", "echo c2", "--live-command", command],
      ...["--now", "--yes", "--force"],
    );
    t.strictSame([exitCode, stdout], [2, ""]);
    t.match(
      stderr,
      `host-local: gc: --live-command: ${command} failed with ${failure}; nothing was released`,
    );
  }
  t.same(node.reserved(), ["198.51.100.2", "198.51.100.3"]);
});

test("the ids of several commands add up", async (t) => {
  const node = podsOn(t, "c1", "c2", "c3");
  const commands = [`${listOf("c1")} | cat`, "echo c2"].flatMap((one) => ["--live-command", one]);
  t.equal(node.tool(["gc", ...commands, "--now", "--yes"]).exitCode, 0);
  t.same(node.reserved(), ["198.51.100.2", "198.51.100.3"]);
});

for (const [words, message] of [
  [
    ["--live-command", "head -c 70000000 /dev/zero"],
    "host-local: gc: --live-command: head -c 70000000 /dev/zero printed more than 64 MiB; nothing was released\n",
  ],
  [["--live", "/nowhere"], /^host-local: .*\/nowhere: no such file or directory\n/],
  [["--live", "/"], /^host-local: gc: --live: \/ is a directory\n/],
  [["--live", "-", "--live-command", "true"], /--live: cannot be combined with --live-command/],
] as const) {
  test(`gc ${words.join(" ")} is an error`, async (t) => {
    t.match(podsOn(t).tool(["gc", ...words]), { exitCode: 2, stdout: "", stderr: message });
  });
}

test("a list is asked for by a program whose own file was deleted, as the agent's may be", async (t) => {
  const node = podsOn(t, "c1");
  const copy = join(node.root, "copy");
  copyFileSync(executable, copy);
  const file = openSync(copy, "r");
  unlinkSync(copy);
  const { exitCode, stdout, stderr } = gcIn(
    node,
    `shift; /proc/${process.pid}/fd/${file} "$@"`,
    ...["--live-command", "/bin/echo c1"],
  );

  closeSync(file);
  t.strictSame([exitCode, stderr], [0, ""]);
  t.match(stdout, "1 reservation: 1 alive");
});

/** The command of docs/leaked-addresses.md for all namespaces of containerd. */
const ofContainerd = (
  /all namespaces of containerd \| `'(.*)'` \|/.exec(
    readFileSync(inRepository("docs/leaked-addresses.md"), "utf8"),
  )?.[1] ?? ""
).replaceAll("\\|", "|");

for (const [what, script, expected] of [
  [
    "has the containers of all namespaces",
    'if [ "$1" = -n ]; then echo "web-$2"; else echo a; echo b; fi',
    [0, "a-web-a\nb-web-b\n"],
  ],
  ["fails if the namespaces cannot be listed", "exit 3", [3, ""]],
  [
    "fails if the containers of one cannot be listed",
    'if [ "$2" = b ]; then return 4; elif [ "$1" = -n ]; then echo "web-$2"; else echo a; echo b; echo c; fi',
    [4, "a-web-a\n"],
  ],
  [
    "passes over a namespace without containers",
    'if [ "$2" = a ]; then :; elif [ "$1" = -n ]; then echo "web-$2"; else echo a; echo b; fi',
    [0, "b-web-b\n"],
  ],
] as const) {
  test(`the documented list of containerd ${what}`, async (t) => {
    const command = `ctr() { ${script}; }; ${ofContainerd}`;
    const { status, stdout } = spawnSync("/bin/sh", ["-c", command], { encoding: "utf8" });
    t.same([status, stdout], expected);
  });
}
