import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";

const subnet = { subnet: "10.0.0.0/29" };

function networkWith(reservations: Readonly<Record<string, string>>): Network {
  const network = new Network(new MemoryMachine(), subnet);
  for (const [address, content] of Object.entries(reservations)) network.put(address, content);
  return network;
}

test("GC releases what it can, then fails while it cannot read what may be a reservation that is not listed", async (t) => {
  for (const code of ["EIO", "EACCES", "EMFILE"]) {
    const network = networkWith({});
    for (const id of ["c1", "c2", "c3"]) network.add(id);
    const path = `${network.directory}/10.0.0.2`;

    const { error } = network.gc(["c3 eth0"], { interrupt: refuse("readFile", code, path) });

    t.equal(error?.code, 5);
    t.equal(error?.msg, "cannot read 1 of the reservations that are not listed");
    t.match(error?.details, `open ${path}: `);
    t.same(Object.keys(network.reservations()), ["10.0.0.2", "10.0.0.4"]);
    t.equal(network.gc(["c3 eth0"]).exitCode, 0);
    t.same(Object.keys(network.reservations()), ["10.0.0.4"], "it is released by the next one");
  }
});

test("GC names a file that it cannot read, and ignores one that the journal lists for a listed attachment", async (t) => {
  const network = networkWith({});
  network.add("c1");
  network.add("c2");
  network.put("10.0.0.6", "stranger\r\neth0");
  const refused = ["10.0.0.3", "10.0.0.6"].map((name) => `${network.directory}/${name}`);

  const { exitCode, stderr } = network.gc(["c2 eth0"], {
    interrupt: (call) =>
      refused.map((path) => refuse("readFile", "EIO", path)(call)).find((one) => one !== undefined),
  });

  t.equal(exitCode, 0);
  t.same(
    stderr,
    refused
      .map((path) => `host-local: open ${path}: input/output error; GC left it alone\n`)
      .join(""),
  );
  t.same(Object.keys(network.reservations()), ["10.0.0.3", "10.0.0.6"]);
});

test("GC fails while it has no file descriptor to read a file that the journal does not list", async (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2\r\neth0" });
  const interrupt = refuse("readFile", "EMFILE", `${network.directory}/10.0.0.2`);

  t.equal(network.gc([], { interrupt }).error?.code, 5);

  t.same(Object.keys(network.reservations()), ["10.0.0.2"]);
});

test("GC works on a disk that has no room for a lock", async (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });

  t.equal(network.gc([], { interrupt: refuse("lock", "ENOSPC") }).exitCode, 0);

  t.same(network.reservations(), {});
});

test("GC looks at the processes of the node only for what the list lacks, and without the lock", async (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });
  const looks: string[] = [];
  const collect = (...valid: readonly string[]) =>
    network.gc(valid, {
      interrupt: ({ path }) => {
        if (path === "/proc") looks.push([...network.machine.locks.values()].join() || "no lock");
        return undefined;
      },
    });

  collect("c1 eth0");
  t.same(looks, []);
  collect();
  t.same(looks, ["no lock"]);
  t.same(network.reservations(), {});
});

test("GC works under the lock", async (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });
  network.machine.locks.set("/var/lib/cni/networks/.host-local/net/lock", "process 7 (ADD)");

  t.equal(network.gc([], { ipam: { lockTimeoutSeconds: 0 } }).error?.code, 11);

  t.same(Object.keys(network.reservations()), ["10.0.0.2"]);
});

test("GC removes old temporary files from both directories", async (t) => {
  const network = networkWith({ ".host-local-1.0": "" });
  const own = "/var/lib/cni/networks/.host-local/net/new/1.0";
  network.machine.disk.put(own, "");
  network.machine.wait(60_001);

  network.gc([]);

  t.notOk(network.machine.disk.has(`${network.directory}/.host-local-1.0`));
  t.notOk(network.machine.disk.has(own));
});

test("GC reports a failed system call", async (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });

  const { error } = network.gc([], {
    interrupt: refuse("readFiles", "EIO", "/var/lib/cni/networks/net"),
  });

  t.same(error, { code: 5, msg: "open /var/lib/cni/networks/net: input/output error" });
});

/** A node on which process 7 has 10.0.0.2, and the node itself 10.0.0.3. */
function withProcesses(network: Network): Network {
  const { disk } = network.machine;
  disk.putLink("/proc/self/ns/pid", "pid:[4026531836]");
  for (const [id, namespace, address] of [
    ["1", 1, "10.0.0.3"],
    ["7", 70, "10.0.0.2"],
  ]) {
    disk.putLink(`/proc/${id}/ns/net`, `net:[${namespace}]`);
    disk.put(`/proc/${id}/net/fib_trie`, `|-- ${address}\n   /32 host LOCAL\n`);
  }
  return network;
}

test("GC keeps what a process or the node has and what is newer than the list, and says so", async (t) => {
  const network = withProcesses(networkWith({}));
  for (const last of [2, 3, 5]) network.put(`10.0.0.${last}`, `c${last}\r\neth0`);
  network.machine.wait(10);
  network.put("10.0.0.4", "c4\r\neth0");
  network.machine.wait(-5);

  const { exitCode, stderr } = network.gc([], {
    interrupt: refuse("linkStatus", "EIO", `${network.directory}/10.0.0.5`),
  });

  t.equal(exitCode, 0);
  t.same(Object.keys(network.reservations()), ["10.0.0.2", "10.0.0.3", "10.0.0.4"]);
  const reasons =
    "10.0.0.2 is in use by process 7; 10.0.0.3 is in use by the node itself; 10.0.0.4 was reserved after the call had begun";
  t.equal(
    stderr,
    `host-local: GC kept 3 of 4 reservations that the list lacks in network net: ${reasons}\n`,
  );
});

test("GC keeps everything while it cannot read the addresses of some process", async (t) => {
  const network = withProcesses(networkWith({ "10.0.0.2": "c1\r\neth0" }));

  const { stderr } = network.gc([], {
    interrupt: refuse("readFile", "EIO", "/proc/7/net/fib_trie"),
  });

  t.same(Object.keys(network.reservations()), ["10.0.0.2"]);
  t.match(
    stderr,
    "whether 10.0.0.2 is in use is not known: open /proc/7/net/fib_trie: input/output error",
  );
});

test("GC of a network without a directory takes no lock", async (t) => {
  const { exitCode, calls } = new Network(new MemoryMachine(), subnet).gc([]);

  t.equal(exitCode, 0);
  t.notOk(calls.some(({ operation }) => operation === "lock"));
});
