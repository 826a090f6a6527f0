import { test } from "tap";
import type { NetworkFiles } from "../../../src/store/files/network-files.ts";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { filesOf, location, machineWith, open } from "../fixtures.ts";

const NEW = "/data/.host-local/net/new";

/** Puts a file at `/data/net/goal` by way of a temporary file; returns that file's path. */
function place(files: NetworkFiles): string {
  return files.withTemporary("content", (temporary) => {
    files.system.link(temporary, "/data/net/goal");
    return temporary;
  });
}

/** A machine with an old and a young temporary file in either place, and an old reservation. */
function machineWithLeftOvers(): MemoryMachine {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0", ".host-local-1-0": "" });
  machine.disk.put(`${NEW}/1-0`, "");
  machine.wait(30_000);
  machine.disk.put(`${NEW}/2-0`, "");
  machine.disk.put("/data/net/.host-local-2-0", "");
  machine.wait(31_000);
  return machine;
}

test("where the state directory is not used, nothing is made or removed in it", async (t) => {
  const machine = machineWithLeftOvers();
  const interrupt = refuse("permissions", "EACCES", location.stateDirectory);

  open(machine.start({ interrupt })).sweepTemporary();
  open(machine.start({ interrupt })).sweepAll();
  t.equal(place(open(machine.start({ processId: 7, interrupt }))), "/data/net/.host-local-7-0");

  t.same(machine.disk.filesUnder(NEW), { "1-0": "", "2-0": "" });
  t.equal(machine.disk.readFile("/data/net/goal", 100), "content");
  machine.wait(60_000);
  t.same(open(machine.start({ interrupt })).abandonedFiles(), ["/data/net/.host-local-2-0"]);
});

test("a full sweep also removes old ones in the network's directory, and nothing else there", async (t) => {
  const machine = machineWithLeftOvers();

  open(machine.start()).sweepAll();

  t.same(machine.disk.filesUnder(NEW), { "2-0": "" });
  t.same(Object.keys(filesOf(machine)), [".host-local-2-0", "10.0.0.2"]);
});
