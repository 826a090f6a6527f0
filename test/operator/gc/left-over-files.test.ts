/** `gc --yes` removes the temporary files of killed calls, which runtimes that send no GC leave forever. */

import { test } from "tap";
import { gc } from "../../../src/operator/gc/gc.ts";
import { filesOf, location } from "../../store/fixtures.ts";
import { configureNet, memoryNode, runOn } from "../memory-node.ts";

for (const [what, words, left] of [
  ["with --yes", { "--yes": "" }, [".host-local-2-0", "10.0.0.2", "lock"]],
  ["without --yes", {}, [".host-local-1-0", ".host-local-2-0", "10.0.0.2"]],
] as const) {
  test(`gc ${what}, where nothing is dead: what is left of temporary files`, async (t) => {
    const machine = memoryNode({ "10.0.0.2": "c1\r\neth0", ".host-local-1-0": "" });
    machine.wait(61_000);
    machine.disk.put(`${location.directory}/.host-local-2-0`, "");

    runOn(machine, gc, { options: words });

    t.same(Object.keys(filesOf(machine)), left);
  });
}

test("gc makes no directory for a network that has none", async (t) => {
  const machine = memoryNode({});
  configureNet(machine, "10.0.0.0/29");
  machine.disk.makeDirectories(location.temporaryDirectory);
  machine.disk.put(`${location.temporaryDirectory}/1.0`, "");
  machine.disk.removeDirectory(location.directory);
  machine.wait(61_000);

  runOn(machine, gc, { options: { "--yes": "" } });

  t.notOk(machine.disk.has(location.directory));
});
