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

test("GC releases what it can, then fails if an unreadable file may be an unlisted reservation", async (t) => {
  const network = networkWith({});
  for (const id of ["c1", "c2", "c3"]) network.add(id);
  const path = `${network.directory}/10.0.0.2`;

  const { error } = network.gc(["c3 eth0"], { interrupt: refuse("readFile", "EIO", path) });

  t.equal(error?.code, 5);
  t.equal(error?.msg, "cannot read 1 of the reservations that are not listed");
  t.match(error?.details, `open ${path}: `);
  t.same(Object.keys(network.reservations()), ["10.0.0.2", "10.0.0.4"]);
  t.equal(network.gc(["c3 eth0"]).exitCode, 0);
  t.same(Object.keys(network.reservations()), ["10.0.0.4"], "it is released by the next one");
});

test("GC names an unreadable file, unless the journal lists it for a listed attachment", async (t) => {
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
  t.strictSame([...new Set(looks)], ["no lock"]);
  t.same(network.reservations(), {});
});

test("GC removes old temporary files from both directories", async (t) => {
  const network = networkWith({ ".host-local-1-0": "" });
  const own = "/var/lib/cni/networks/.host-local/net/new/1-0";
  network.machine.disk.put(own, "");
  network.machine.wait(60_001);

  network.gc([]);

  t.notOk(network.machine.disk.has(`${network.directory}/.host-local-1-0`));
  t.notOk(network.machine.disk.has(own));
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

test("GC keeps, and names, what a process or the node has, or is younger than two seconds", async (t) => {
  const network = withProcesses(networkWith({}));
  for (const last of [2, 3, 5]) network.put(`10.0.0.${last}`, `c${last}\r\neth0`);
  network.machine.wait(10);
  network.put("10.0.0.4", "c4\r\neth0");
  network.machine.wait(1900);

  const { exitCode, stderr } = network.gcNow([], {
    interrupt: refuse("linkStatus", "EIO", `${network.directory}/10.0.0.5`),
  });

  t.equal(exitCode, 0);
  t.equal(Object.keys(network.reservations()).length, 4);
  const reasons = `10.0.0.2 is in use by process 7; 10.0.0.3 is in use by the node itself; 10.0.0.4 was reserved only just now; when it was reserved is not known: lstat ${network.directory}/10.0.0.5: input/output error`;
  t.equal(
    stderr,
    `host-local: GC kept 4 of 4 reservations that the list lacks in network net: ${reasons}\n`,
  );
});

/** A network of pods, each with a mounted network namespace; none has a process. */
function withPods(...ids: readonly string[]): Network {
  const network = networkWith({});
  for (const [at, id] of ids.entries()) {
    const netns = `/run/netns/${id}`;
    network.machine.namespaces.set(netns, BigInt(4026532001 + at));
    network.add(id, {
      netns,
      cniArgs: `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${id}`,
    });
  }
  network.machine.wait(5000);
  return network;
}

test("GC keeps a pod whose namespace lives, whatever the list, and releases one whose is gone", async (t) => {
  const network = withPods("a", "b", "c");
  network.machine.namespaces.delete("/run/netns/b");

  const { stderr } = network.gcNow(["c eth0"]);

  t.same(network.reserved(), ["10.0.0.2", "10.0.0.4"]);
  t.equal(
    stderr,
    "host-local: GC kept 1 of 2 reservations that the list lacks in network net: 10.0.0.2: its network namespace /run/netns/a exists\n",
  );
  t.equal(network.gcNow(["a eth0", "c eth0"]).stderr, "");
});

test("GC that cannot see the processes of the node releases nothing by its list, and says so", async (t) => {
  const network = withPods("a", "b");
  network.machine.namespaces.delete("/run/netns/b");
  network.put("10.0.0.6", "go\r\neth0");
  network.machine.wait(5000);
  network.machine.kernel.seesProcesses = false;

  const { stderr, exitCode } = network.gcNow([]);

  t.equal(exitCode, 0);
  t.same(network.reserved(), ["10.0.0.2", "10.0.0.3", "10.0.0.6"]);
  t.match(stderr, "the processes of the node are not seen from here");
});

test("GC keeps what a merely mounted namespace has, and everything while one cannot be entered", async (t) => {
  const network = networkWith({ "10.0.0.2": "go\r\neth0", "10.0.0.3": "go2\r\neth0" });
  network.machine.wait(5000);
  network.machine.namespaces.set("/run/netns/x", 4026532001n);
  network.machine.kernel.configure("/run/netns/x", "10.0.0.2");
  const refused = network.gcNow([], { interrupt: refuse("readFileIn", "EPERM") });
  t.match(refused.stderr, "/run/netns/x cannot be entered, which takes CAP_SYS_ADMIN");
  t.same(network.reserved(), ["10.0.0.2", "10.0.0.3"]);

  const { stderr } = network.gcNow([]);

  t.same(network.reserved(), ["10.0.0.2"]);
  t.match(stderr, "10.0.0.2 is in use in the network namespace /run/netns/x");
});

test("GC without a list, or with null, releases dead pods alone, and with reclaim never nothing", async (t) => {
  for (const top of [{}, { "cni.dev/valid-attachments": null, "cni.dev/attachments": null }]) {
    const network = withPods("a", "b");
    network.add("ingress", { netns: "/run/netns/b" });
    network.put("10.0.0.6", "go\r\neth0");
    network.machine.namespaces.delete("/run/netns/b");
    network.machine.wait(5000);

    const never = network.call("GC", "", { top, ipam: { reclaim: "never" } });
    t.same(network.reserved().length, 4);
    t.match(never.stderr, "nothing was released");
    const { stderr, exitCode } = network.call("GC", "", { top });

    t.equal(exitCode, 0);
    t.same(network.reserved(), ["10.0.0.2", "10.0.0.4", "10.0.0.6"]);
    t.equal(
      stderr,
      "host-local: GC without cni.dev/valid-attachments; released 1 reservation of dead pods alone\n",
    );
  }
});

test("GC without a list keeps an address in another namespace, as of a moved interface", async (t) => {
  const network = withPods("a", "b");
  network.machine.namespaces.delete("/run/netns/b");
  network.machine.kernel.configure("/run/netns/a", "10.0.0.3");
  const { stderr, exitCode } = network.call("GC", "");
  t.equal(exitCode, 0);
  t.same(network.reserved(), ["10.0.0.2", "10.0.0.3"]);
  t.equal(
    stderr,
    "host-local: GC kept 1 of 1 reservations of dead pods in network net: 10.0.0.3 is in use in the network namespace /run/netns/a\nhost-local: GC without cni.dev/valid-attachments; nothing was released\n",
  );
});

test("what is dated ahead of the clock, by hours or years, is not of just now", async (t) => {
  const network = withProcesses(networkWith({}));
  const { machine } = network;
  const hour = 3_600_000_000_000n;
  for (const [last, ahead] of [
    [4, 1n],
    [5, hour],
    [6, 9000n * hour],
  ] as const) {
    network.put(`10.0.0.${last}`, `c${last}\r\neth0`);
    const { modified } = machine.disk.linkStatus(`${network.directory}/10.0.0.${last}`);
    machine.disk.setModified(`${network.directory}/10.0.0.${last}`, modified + ahead);
  }
  t.match(network.gcNow([]).stderr, "10.0.0.4 was reserved only just now");
  t.same(network.reserved(), ["10.0.0.4"]);
});

test("GC without a list releases what is from before this boot", async (t) => {
  const network = withPods("a", "b");
  network.add("last");
  network.machine.boot();

  t.equal(network.call("GC", "").exitCode, 0);

  t.same(network.reserved(), []);
});
