/** Which plugins are started to see whether they can be, and what counts as an answer. */

import { test } from "tap";
import { presentPlugin } from "../../../src/operator/check/present-plugin.ts";
import type { OperatorSystem } from "../../../src/system/operator-system.ts";
import { SystemError } from "../../../src/system/system.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { startOperator } from "../memory-node.ts";

const PATH = "/opt/cni/bin/plugin";

/** What is said of a plugin, and how often it was started. */
function askedOn(
  machine: MemoryMachine,
  answer: Partial<ReturnType<OperatorSystem["run"]>> | string = "ENOEXEC",
  own: Partial<OperatorSystem> = {},
  path = PATH,
): readonly [said: string | undefined, started: number] {
  let started = 0;
  const run: OperatorSystem["run"] = ([program], _limit, call) => {
    started++;
    if (call?.name !== "plugin" || call.command !== "VERSION") throw new Error("no plugin call");
    if (typeof answer === "string") throw new SystemError("exec", program, answer);
    return { exitCode: 0, stdout: "", stderr: "", ...answer };
  };
  const system = Object.assign(Object.create(startOperator(machine).system), { run, ...own });
  const present = presentPlugin(system, path);
  return [present.kind === "broken" ? present.message : undefined, started];
}

function machineWith(mode = 0o755): MemoryMachine {
  const machine = new MemoryMachine();
  machine.disk.put(PATH, "x", mode);
  return machine;
}

for (const [what, answer, said] of [
  ["has no interpreter", "ENOENT", "no such file or directory: its interpreter"],
  ["is on a file system mounted noexec", "EACCES", "permission denied"],
  ["lacks a library", { exitCode: 127, stderr: "x.so: not found\n" }, "x.so: not found"],
  ["is cut off", { exitCode: 135 }, "it ended with code 135"],
  ["cannot be started for lack of memory", "ENOMEM", undefined],
] as const) {
  test(`a plugin that ${what}: ${said ?? "nothing to say"}`, async (t) => {
    const message = said && `the plugin cannot be started: ${said}`;
    t.same(askedOn(machineWith(), answer), [message, 1]);
  });
}

const DIRECTORY = "/opt/cni";

for (const [what, change, own] of [
  ["that another user may write to", (machine) => machine.disk.give(PATH, { mode: 0o775 })],
  ["of another user", (machine) => machine.disk.give(PATH, { user: 1000 })],
  ["below the directory of another user", (machine) => machine.disk.give(DIRECTORY, { user: 1 })],
  ["below one that all may write to", (machine) => machine.disk.give(DIRECTORY, { mode: 0o1777 })],
  ["in a container", (machine) => Object.assign(machine.kernel, { seesFirstProcess: false })],
  ["asked for by another user than root", () => {}, { userId: () => 1000 }],
] as readonly (readonly [
  string,
  (machine: MemoryMachine) => unknown,
  Partial<OperatorSystem>?,
])[]) {
  test(`a plugin ${what} is not started`, async (t) => {
    const machine = machineWith();
    change(machine);
    t.same(askedOn(machine, "ENOEXEC", own), [undefined, 0]);
  });
}

test("a plugin behind a link is not started", async (t) => {
  const machine = new MemoryMachine();
  machine.disk.put("/srv/plugin", "x", 0o755);
  machine.disk.putLink(PATH, "/srv/plugin");
  t.same(askedOn(machine), [undefined, 0]);
});

test("nor is one of a relative path", async (t) => {
  const machine = machineWith();
  machine.disk.put("bin/plugin", "x", 0o755);
  t.same(askedOn(machine, "ENOEXEC", {}, "bin/plugin"), [undefined, 0]);
});
