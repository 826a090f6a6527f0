import { test } from "tap";
import { type NetworkFiles, openNetwork } from "../../../src/store/files/network-files.ts";
import { refuse } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { filesOf, location, machineWith, open } from "../fixtures.ts";

test("a network's paths lie in the data directory, the state apart from the Go plugin's files", async (t) => {
  const files = openNetwork(
    new MemoryMachine().start(),
    "/var/lib/cni//networks/",
    location.network,
  );

  const directory = "/var/lib/cni/networks/net";
  const stateDirectory = "/var/lib/cni/networks/.host-local/net";
  t.match(files, { network: "net", dataDir: "/var/lib/cni/networks", directory, stateDirectory });
  t.equal(files.lockFile, `${directory}/lock`);
  t.equal(files.pathOf("10.0.0.2"), `${directory}/10.0.0.2`);
  t.equal(files.state?.pathOf("journal"), `${stateDirectory}/journal`);
  t.equal(files.state?.temporary.directory, `${stateDirectory}/new`);
});

const NEW = "/data/.host-local/net/new";

/** Puts `content` at `/data/net/goal` by way of a temporary file; returns that file's path. */
function place(files: NetworkFiles, content = "content"): string {
  return files.withTemporary(content, (temporary) => {
    files.system.link(temporary, "/data/net/goal");
    return temporary;
  });
}

test("a temporary file is in the state directory, named after the process, and is removed", async (t) => {
  const machine = machineWith();
  machine.disk.makeDirectories(NEW);

  t.equal(place(open(machine.start({ processId: 7 }))), `${NEW}/7-0`);

  t.same(filesOf(machine), { goal: "content" });
  t.equal(machine.disk.modeOf("/data/net/goal"), 0o600);
  t.same(machine.disk.filesUnder(NEW), {});
});

test("where the network's directory is on another file system, the temporary file is made there", async (t) => {
  const machine = machineWith();
  machine.disk.mount(location.directory);

  t.equal(place(open(machine.start({ processId: 7 }))), "/data/net/.host-local-7-0");

  t.same(filesOf(machine), { goal: "content" });
  t.same(machine.disk.filesUnder(NEW), {});
});

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

test("a full sweep also removes old ones in the network's directory, and nothing else there", async (t) => {
  const machine = machineWithLeftOvers();

  open(machine.start()).sweepAll();

  t.same(machine.disk.filesUnder(NEW), { "2-0": "" });
  t.same(Object.keys(filesOf(machine)), [".host-local-2-0", "10.0.0.2"]);
});
