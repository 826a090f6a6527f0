import { test } from "tap";
import { type NetworkFiles, openNetwork } from "../../../src/store/files/network-files.ts";
import { isSystemError } from "../../../src/system/system.ts";
import { failDiskFrom, refuse } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { filesOf, location, machineWith, open } from "../fixtures.ts";

test("a network's paths lie in the data directory, the state directory apart from the Go plugin's", async (t) => {
  const system = new MemoryMachine().start();
  const files = openNetwork(system, "/var/lib/cni//networks/", location.network);

  t.equal(files.system, system);
  t.equal(files.network, "net");
  t.equal(files.dataDir, "/var/lib/cni/networks");
  t.equal(files.directory, "/var/lib/cni/networks/net");
  t.equal(files.lockFile, "/var/lib/cni/networks/net/lock");
  t.equal(files.pathOf("10.0.0.2"), "/var/lib/cni/networks/net/10.0.0.2");
  t.equal(files.stateDirectory, "/var/lib/cni/networks/.host-local/net");
  t.equal(files.state?.path, files.stateDirectory);
  t.equal(files.state?.pathOf("journal"), "/var/lib/cni/networks/.host-local/net/journal");
  t.equal(files.state?.temporary.directory, "/var/lib/cni/networks/.host-local/net/new");
});

test("openNetwork creates nothing, and finds no state directory where it may not be used", async (t) => {
  const machine = new MemoryMachine();
  t.ok(open(machine.start()).state);
  t.same(machine.disk.list("/"), []);

  machine.disk.putLink("/data/.host-local", "/elsewhere");
  t.equal(open(machine.start()).state, undefined);
});

test("the id of the running boot is read once; where it cannot be read, it is asked for again", async (t) => {
  const machine = machineWith();
  const process = machine.start({ interrupt: refuse("readFile", "EMFILE") });
  const refused = open(process);
  t.equal(refused.boot, undefined);
  t.throws(() => refused.requireBoot(), { code: "EMFILE" });

  const system = machine.start();
  const files = open(system);
  t.equal(files.boot, machine.bootId?.trimEnd());
  t.equal(files.requireBoot(), files.boot);
  t.equal(system.calls.filter(({ operation }) => operation === "readFile").length, 1);
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

  t.equal(place(open(machine.start({ processId: 7 }))), `${NEW}/7.0`);

  t.same(filesOf(machine), { goal: "content" });
  t.equal(machine.disk.modeOf("/data/net/goal"), 0o600);
  t.same(machine.disk.filesUnder(NEW), {});
});

test("the directory for temporary files is made where it is missing", async (t) => {
  const machine = machineWith();

  place(open(machine.start()));

  t.same(filesOf(machine), { goal: "content" });
});

test("a file of a killed process with the same id is left alone", async (t) => {
  const machine = machineWith();
  machine.disk.put(`${NEW}/7.0`, "theirs");

  place(open(machine.start({ processId: 7 })));

  t.same(filesOf(machine), { goal: "content" });
  t.same(machine.disk.filesUnder(NEW), { "7.0": "theirs" });
});

test("the temporary file is removed even if it could not be placed", async (t) => {
  const machine = machineWith({ goal: "theirs" });

  t.throws(() => place(open(machine.start())), { code: "EEXIST" });

  t.same(machine.disk.filesUnder(NEW), {});
});

test("where the network's directory is on another file system, the temporary file is made there", async (t) => {
  const machine = machineWith();
  machine.disk.mount(location.directory);

  t.equal(place(open(machine.start({ processId: 7 }))), "/data/net/.host-local-7.0");

  t.same(filesOf(machine), { goal: "content" });
  t.same(machine.disk.filesUnder(NEW), {});
});

test("a temporary file that cannot be removed is not an error", async (t) => {
  const machine = machineWith();

  place(open(machine.start({ interrupt: refuse("unlink", "EIO") })));

  t.same(filesOf(machine), { goal: "content" });
});

test("a temporary file that cannot be written is an error", async (t) => {
  const machine = machineWith();
  machine.disk.makeDirectories(NEW);

  t.throws(() => place(open(machine.start({ interrupt: refuse("createFile", "ENOSPC") }))), {
    message: "open /data/net/.host-local-1001.0: no space left on device",
  });
});

test("where the state directory is not writable, the temporary file is made in the network's directory", async (t) => {
  for (const code of ["ENOSPC", "EROFS", "EACCES", "ENOTDIR", "ENAMETOOLONG"]) {
    const machine = machineWith();
    const interrupt = refuse("createFile", code, `${NEW}/7.0`);

    t.equal(
      place(open(machine.start({ processId: 7, interrupt }))),
      "/data/net/.host-local-7.0",
      code,
    );

    t.same(filesOf(machine), { goal: "content" });
  }
});

test("where the state directory is not used, nothing is made or removed in it", async (t) => {
  const machine = machineWithLeftOvers();
  const interrupt = refuse("linkStatus", "EACCES", location.stateDirectory);

  open(machine.start({ interrupt })).sweepTemporary();
  open(machine.start({ interrupt })).sweepAll();
  t.equal(place(open(machine.start({ processId: 7, interrupt }))), "/data/net/.host-local-7.0");

  t.same(machine.disk.filesUnder(NEW), { "1.0": "", "2.0": "" });
  t.equal(machine.disk.readFile("/data/net/goal", 100), "content");
  machine.wait(60_000);
  t.same(open(machine.start({ interrupt })).abandonedFiles(), ["/data/net/.host-local-2.0"]);
});

/** A machine with an old and a young temporary file in either place, and an old reservation. */
function machineWithLeftOvers(): MemoryMachine {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0", ".host-local-1.0": "" });
  machine.disk.put(`${NEW}/1.0`, "");
  machine.wait(30_000);
  machine.disk.put(`${NEW}/2.0`, "");
  machine.disk.put("/data/net/.host-local-2.0", "");
  machine.wait(31_000);
  return machine;
}

test("a sweep removes temporary files of the state directory that are older than a minute", async (t) => {
  const machine = machineWithLeftOvers();

  open(machine.start()).sweepTemporary();

  t.same(machine.disk.filesUnder(NEW), { "2.0": "" });
  t.same(Object.keys(filesOf(machine)), [".host-local-1.0", ".host-local-2.0", "10.0.0.2"]);
});

test("a full sweep also removes old ones in the network's directory, and nothing else there", async (t) => {
  const machine = machineWithLeftOvers();

  open(machine.start()).sweepAll();

  t.same(machine.disk.filesUnder(NEW), { "2.0": "" });
  t.same(Object.keys(filesOf(machine)), [".host-local-2.0", "10.0.0.2"]);
});

test("a sweep without directories makes none", async (t) => {
  const machine = machineWith();

  open(machine.start()).sweepAll();

  t.notOk(machine.disk.has(location.stateDirectory));
});

test("a sweep ignores failed system calls", async (t) => {
  // The first three open the network.
  for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    const interrupt = failDiskFrom(number, "EIO");

    t.doesNotThrow(() => open(machineWithLeftOvers().start({ interrupt })).sweepTemporary());
    t.doesNotThrow(() => open(machineWithLeftOvers().start({ interrupt })).sweepAll());
  }
});

test("only another file system moves the temporary file to the network's directory", async (t) => {
  const machine = machineWith();
  const system = machine.start({ interrupt: refuse("link", "EIO") });

  try {
    place(open(system));
    t.fail("it throws");
  } catch (error) {
    t.ok(isSystemError(error, "EIO"));
  }

  t.same(filesOf(machine), {});
});
