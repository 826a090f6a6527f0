import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "./network.ts";

const subnet = { subnet: "10.0.0.0/29" };

function networkWith(reservations: Readonly<Record<string, string>>): Network {
  const network = new Network(new MemoryMachine(), subnet);
  for (const [address, content] of Object.entries(reservations)) network.put(address, content);
  return network;
}

const everyKind = {
  "10.0.0.2": "c1\r\neth0",
  "10.0.0.3": "c1\r\neth1",
  "10.0.0.4": "c2\r\neth0",
  "10.0.0.5": "c1",
  "10.0.0.6": "c3",
  "10.0.0.7": "",
  "10.0.0.8": "some garbage",
  "10.9.9.9": "c1\r\neth0\n",
};

test("GC releases what is not listed, in and outside the ranges, and keeps files that name no container", (t) => {
  const network = networkWith(everyKind);

  const { exitCode, stdout, stderr } = network.gc(["c1 eth0"]);

  t.same([exitCode, stdout, stderr], [0, "", ""]);
  t.same(Object.keys(network.reservations()), [
    "10.0.0.2",
    "10.0.0.5",
    "10.0.0.7",
    "10.0.0.8",
    "10.9.9.9",
  ]);
  t.end();
});

test("a file from before interfaces were recorded stays while any interface of its container is listed", (t) => {
  const network = networkWith({ "10.0.0.2": "c1" });

  network.gc(["c1 eth7"]);
  t.same(Object.keys(network.reservations()), ["10.0.0.2"]);

  network.gc(["c10 eth0"]);
  t.same(Object.keys(network.reservations()), []);
  t.end();
});

test("an empty list, which a Go runtime encodes as null, means that nothing is valid", (t) => {
  for (const top of [
    { "cni.dev/valid-attachments": [] },
    { "cni.dev/valid-attachments": null },
    { "cni.dev/valid-attachments": undefined, "cni.dev/attachments": [] },
  ]) {
    const network = networkWith(everyKind);

    t.equal(network.gc([], { top }).exitCode, 0);

    t.same(Object.keys(network.reservations()), ["10.0.0.7", "10.0.0.8"]);
  }
  t.end();
});

test("the older key is a fallback for the newer", (t) => {
  const older = [{ containerID: "c1", ifname: "eth0" }];
  const cases = [
    [{ "cni.dev/valid-attachments": undefined, "cni.dev/attachments": older }, ["10.0.0.2"]],
    [{ "cni.dev/attachments": older }, ["10.0.0.4"]],
  ] as const;

  for (const [top, kept] of cases) {
    const network = networkWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.4": "c2\r\neth0" });

    network.gc(["c2 eth0"], { top });

    t.same(Object.keys(network.reservations()), kept);
  }
  t.end();
});

test("GC without a list releases nothing, and says so on standard error", (t) => {
  const network = networkWith(everyKind);

  const { exitCode, stdout, stderr } = network.call("GC", "", {});

  t.same([exitCode, stdout], [0, ""]);
  t.equal(stderr, "host-local: GC without cni.dev/valid-attachments; nothing was released\n");
  t.same(network.reservations(), everyKind);
  t.end();
});

test("a list of the wrong form is an error, and nothing is released", (t) => {
  const cases = [
    "x",
    {},
    [null],
    [{}],
    [{ containerID: "c1" }],
    [{ ifname: "eth0" }],
    [{ containerID: 1, ifname: "eth0" }],
    [{ containerID: "c1", ifname: "eth0" }, "x"],
  ];

  for (const list of cases) {
    const network = networkWith(everyKind);

    const { error } = network.gc([], { top: { "cni.dev/valid-attachments": list } });

    t.equal(error?.code, 7, JSON.stringify(list));
    t.same(network.reservations(), everyKind);
  }
  t.end();
});

test("GC continues after a file that it cannot remove, then reports it", (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2\r\neth0" });

  const { error } = network.gc([], {
    interrupt: refuse("unlink", "EROFS", `${network.directory}/10.0.0.2`),
  });

  t.same(error, {
    code: 5,
    msg: "failed to release 1 of 2 addresses",
    details: "unlink /var/lib/cni/networks/net/10.0.0.2: read-only file system",
  });
  t.same(Object.keys(network.reservations()), ["10.0.0.2"]);
  t.end();
});

test("GC keeps a file that cannot be read, since it may be a reservation", (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });

  t.equal(network.gc([], { interrupt: refuse("readFile", "EIO") }).exitCode, 0);

  t.same(Object.keys(network.reservations()), ["10.0.0.2"]);
  t.end();
});

test("GC needs no ranges", (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });

  t.equal(network.gc([], { ipam: { subnet: "garbage" } }).exitCode, 0);

  t.same(network.reservations(), {});
  t.end();
});

test("GC without a valid data directory reports an invalid configuration", (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });

  t.equal(network.gc([], { ipam: { dataDir: 5 } }).error?.code, 7);
  t.same(Object.keys(network.reservations()), ["10.0.0.2"]);
  t.end();
});

test("GC works on a disk that has no room for a lock", (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });

  t.equal(network.gc([], { interrupt: refuse("lock", "ENOSPC") }).exitCode, 0);

  t.same(network.reservations(), {});
  t.end();
});

test("GC works under the lock", (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });
  network.machine.locks.set("/var/lib/cni/networks/.host-local/net/lock", "process 7 (ADD)");

  t.equal(network.gc([], { ipam: { lockTimeoutSeconds: 0 } }).error?.code, 11);

  t.same(Object.keys(network.reservations()), ["10.0.0.2"]);
  t.end();
});

test("GC removes old temporary files from both directories", (t) => {
  const network = networkWith({ ".host-local-1.0": "" });
  const own = "/var/lib/cni/networks/.host-local/net/new/1.0";
  network.machine.disk.put(own, "");
  network.machine.wait(60_001);

  network.gc([]);

  t.notOk(network.machine.disk.has(`${network.directory}/.host-local-1.0`));
  t.notOk(network.machine.disk.has(own));
  t.end();
});

test("GC where nothing was ever reserved creates nothing", (t) => {
  const network = new Network(new MemoryMachine(), subnet);

  t.equal(network.gc([]).exitCode, 0);

  t.same(network.machine.disk.list("/"), []);
  t.end();
});

test("in the chain after a main plugin, GC releases addresses", (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2\r\neth0" });

  t.equal(network.gc(["c2 eth0"], { top: { gcOnly: true } }).exitCode, 0);

  t.same(Object.keys(network.reservations()), ["10.0.0.3"]);
  t.end();
});

test("GC reads its list before the configuration: without one, nothing else matters", (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });

  const { exitCode, stderr } = network.call("GC", "", { top: { ipam: null } });

  t.equal(exitCode, 0);
  t.equal(stderr, "host-local: GC without cni.dev/valid-attachments; nothing was released\n");
  t.same(Object.keys(network.reservations()), ["10.0.0.2"]);
  t.end();
});

test("GC reports a failed system call", (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });

  const { error } = network.gc([], {
    interrupt: refuse("readFiles", "EIO", "/var/lib/cni/networks/net"),
  });

  t.same(error, { code: 5, msg: "open /var/lib/cni/networks/net: input/output error" });
  t.end();
});
