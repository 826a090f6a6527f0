import { test } from "tap";
import { callerText } from "../../src/verbs/caller-text.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";

/** What a process with the id 7 finds of itself and its ancestors. */
function callerBy(stats: Readonly<Record<string, string>>): string {
  const machine = new MemoryMachine();
  for (const [id, stat] of Object.entries(stats)) machine.disk.put(`/proc/${id}/stat`, stat);
  return callerText(machine.start({ processId: 7 }));
}

const own = "7 (host-local) R 6 7 7 0 -1";

for (const [name, stats, text] of [
  [
    "the runtime and the main plugin",
    { 7: own, 6: "6 (bridge) S 5 6 6", 5: "5 (containerd) S 1 5 5" },
    "containerd/bridge",
  ],
  ["an orphan's adopter", { 7: own, 6: "6 (systemd) S 0 6 6" }, "systemd"],
  [
    "names with spaces, parentheses and line ends",
    { 7: own, 6: "6 (a) R 1 (b\n) S 5 6 6", 5: "5 () S 1 5 5" },
    "/a) R 1 (b\n",
  ],
  [
    "found by ids of several digits",
    { 7: "7 (host-local) R 16 7 7", 16: "16 (bridge) S 15 6 6", 15: "15 (containerd) S 1 5 5" },
    "containerd/bridge",
  ],
  ["nothing of a line with anything before the id", { 7: own, 6: "x6 (bridge) S 5 6 6" }, ""],
  ["nothing of what is not a stat", { 7: "garbage" }, ""],
  ["nothing without /proc", {}, ""],
] as const) {
  test(`the caller is ${name}`, async (t) => {
    t.equal(callerBy(stats), text);
  });
}
