/** A directory in which another user may have written is named, with what mends it. */

import { test } from "tap";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { location } from "../../store/fixtures.ts";
import { configureNet, findingsOn, memoryNode } from "../memory-node.ts";
import type { PrintedFinding } from "../node.ts";

const ROOT = "/data/.host-local";

function nodeWithState(): MemoryMachine {
  const machine = memoryNode({ "10.1.2.3": "c1\r\neth0" });
  configureNet(machine, "10.1.2.0/24");
  machine.disk.makeDirectories(location.temporaryDirectory, 0o700);
  return machine;
}

function found(machine: MemoryMachine): readonly PrintedFinding[] {
  return findingsOn(machine).filter(({ code }) => code === "state-directory-unused");
}

for (const [path, given, reason] of [
  [location.stateDirectory, { user: 7 }, "it belongs to user 7"],
  ["/run/host-local", { mode: 0o777 }, "group or others can write to it (mode 0777)"],
] as const) {
  test(`${path} is not used: ${reason}`, async (t) => {
    const machine = nodeWithState();
    t.same(found(machine), []);
    machine.disk.give(path, given);

    const [one, ...others] = found(machine);
    t.same(others, []);
    const isOfCalls = path === "/run/host-local";
    t.match(one, { severity: "warning", network: isOfCalls ? "" : "net", path });
    const consequence = isOfCalls ? "no call that fails is kept" : "no call uses what is in it: ";
    t.match(one?.message, `${reason}, so ${consequence}`);
    t.same(one?.commands, [`rm -r ${path} && mkdir -m 700 ${path}`]);
  });
}

test("that of the user to whom the data directory belongs is used by that user's calls", async (t) => {
  const machine = nodeWithState();
  for (const path of ["/data", ROOT]) machine.disk.give(path, { user: 1000 });

  t.same(found(machine), []);
});

test("one that is a link, or a file, is used by no call", async (t) => {
  const machine = nodeWithState();
  machine.disk.rename(ROOT, "/data/.elsewhere");
  machine.disk.putLink(ROOT, "/data/.elsewhere");
  t.match(found(machine), [{ path: ROOT, message: /^it is a link, or no directory, so no call/ }]);
});

test(`${location.directory}, in which anybody can write, is named`, async (t) => {
  const machine = nodeWithState();
  machine.disk.give(location.directory, { mode: 0o777 });
  const all = findingsOn(machine).filter(({ code }) => code === "writable-by-others");
  t.match(all, [
    {
      ...{ severity: "warning", path: location.directory },
      commands: [`chmod go-w ${location.directory}`],
      message:
        "group or others can write to it (mode 0777), and so release the addresses of living pods",
    },
  ]);
  t.equal(all.length, 1);
});
