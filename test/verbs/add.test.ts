import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";

const subnet = { subnet: "10.0.0.0/29" };
const LOCK = "/var/lib/cni/networks/.host-local/net/lock";
const dualStack = { ranges: [[subnet], [{ subnet: "2001:db8::/125" }]] };

function networkWith(ipam: object = subnet): Network {
  return new Network(new MemoryMachine(), ipam);
}

test("an ADD in a full range leaves the journal as it is", async (t) => {
  for (const mounted of [false, true]) {
    const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/30" });
    if (mounted) network.machine.disk.mount(network.directory);
    network.add("c1");
    network.machine.wait(1000);
    // A temporary file in the directory itself takes a new seal, which is the first line.
    const lines = (): string =>
      network.machine.disk
        .readFile("/var/lib/cni/networks/.host-local/net/journal", 1e6)
        .slice(mounted ? 256 : 0);
    network.del("none");
    const before = lines();
    t.match(network.add("c2").error?.msg, "no IP addresses available");
    t.equal(lines(), before, mounted ? "on another file system" : "");
  }
});

test("the first ADD on a node makes all directories and prints the result", async (t) => {
  const network = networkWith();

  const { exitCode, stdout, stderr } = network.add("c1");

  t.equal(exitCode, 0);
  t.equal(
    stdout,
    `{
    "cniVersion": "1.1.0",
    "ips": [
        {
            "address": "10.0.0.2/29",
            "gateway": "10.0.0.1"
        }
    ]
}`,
  );
  t.equal(stderr, "");
  const { disk } = network.machine;
  const { ".host-local/net/journal": journal, ...files } = disk.filesUnder("/var/lib/cni/networks");
  t.match(
    journal,
    /^host-local-journal 8 [0-9a-f-]{36} [0-9a-f]{32} \S+ \S+ 273 256 +\nc1 eth0 10\.0\.0\.2\n$/,
  );
  t.same(files, {
    "net/10.0.0.2": "c1\r\neth0",
    "net/last_reserved_ip.0": "10.0.0.2",
    "net/lock": "",
  });
  t.equal(disk.modeOf(network.directory), 0o755);
  t.equal(disk.modeOf("/var/lib/cni/networks/.host-local"), 0o700);
  t.equal(disk.modeOf("/var/lib/cni/networks/.host-local/net/journal"), 0o600);
});

test("ADD takes the lock once, around all range sets", async (t) => {
  const network = networkWith(dualStack);
  network.add("c0");
  const { calls } = network.add("c1");
  const operations = calls.map(({ operation }) => operation);

  const ordered = ["lock", "link", "overwriteFile", "extendFile", "unlock", "writeStandardOutput"];
  t.same(
    operations.filter((operation) => ordered.includes(operation)),
    [
      ...["lock", "link", "overwriteFile", "link", "overwriteFile"],
      ...["extendFile", "unlock", "writeStandardOutput"],
    ],
  );
});

test("ADD waits for the lock as long as configured, then names its holder and changes nothing", async (t) => {
  const network = networkWith();
  network.add("c1");
  network.machine.locks.set(LOCK, "process 7 (GC)");
  const files = network.machine.disk.filesUnder(network.machine.dataDirectory);
  const before = network.machine.time;

  const { error } = network.add("c2", { ipam: { lockTimeoutSeconds: 2.5 } });

  t.equal(error?.code, 11);
  t.match(error?.details, "is held by process 7 (GC); nothing was changed");
  t.equal(network.machine.time - before, 2500);
  t.same(network.machine.disk.filesUnder(network.machine.dataDirectory), files);
});

test("an error of a system call is its message with code 999, without details", async (t) => {
  const { error } = networkWith().add("c1", { interrupt: refuse("makeDirectories", "EACCES") });

  t.same(error, { code: 999, msg: "mkdir /var/lib/cni/networks/net: permission denied" });
});

test("ADD removes temporary files of killed calls that are older than a minute", async (t) => {
  const network = networkWith();
  const leftOver = "/var/lib/cni/networks/.host-local/net/new/1-0";
  network.machine.disk.put(leftOver, "killed\r\neth0");
  network.machine.wait(60_001);

  network.add("c1");

  t.notOk(network.machine.disk.has(leftOver));
});

test("where only the result cannot be printed, the error says so", async (t) => {
  const network = networkWith();
  let writes = 0;

  const { error } = network.add("c1", {
    interrupt: ({ operation }) =>
      operation === "writeStandardOutput" && ++writes === 1
        ? { kind: "fail", code: "EIO" }
        : undefined,
  });

  t.same(error, {
    code: 5,
    msg: "cannot deliver the result: write /dev/stdout: input/output error",
  });
  t.same(network.reservations(), {});
});

test("an ADD that can neither print nor undo its result says so, and leaves the address to a DEL", async (t) => {
  const network = networkWith({ ...subnet, lockTimeoutSeconds: 0 });
  let writes = 0;

  const { error } = network.add("c1", {
    interrupt: ({ operation }) => {
      if (operation !== "writeStandardOutput" || ++writes > 1) return undefined;
      network.machine.locks.set(LOCK, "process 7 (DEL c2 eth0)");
      return { kind: "fail", code: "EIO" };
    },
  });

  t.match(error, { code: 5, msg: "cannot deliver the result: write /dev/stdout" });
  t.same(network.reserved(), ["10.0.0.2"]);
});

test("an ADD that repeats nothing passes over an unreadable file, as the Go plugin does", async (t) => {
  const network = networkWith();
  network.add("c1");

  const { addresses } = network.add("c1", {
    interrupt: refuse("readFile", "EIO", `${network.directory}/10.0.0.2`),
  });

  t.same(addresses, ["10.0.0.3"]);
});
