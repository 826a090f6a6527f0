/** Addresses that an administrator keeps: what calls do with them when something goes wrong. */

import { test } from "tap";
import type { NetworkName } from "../../src/cni/call.ts";
import { keep as keepAddress } from "../../src/operator/reservations/keep.ts";
import { openNetwork } from "../../src/store/files/network-files.ts";
import { withLock } from "../../src/store/lock.ts";
import { parsePodName } from "../../src/store/reservations/owner.ts";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";
import { address } from "../ipam/parsed.ts";

const five = { subnet: "10.0.0.0/29" };
const db0 = { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=db-0" };
const forDb0 = "kept by host-local reserve for default/db-0";

/** Keeps an address for a pod, as `host-local reserve` does. */
function keep({ machine }: Network, what = "10.0.0.4", pod = "default/db-0"): void {
  const files = openNetwork(machine.start(), machine.dataDirectory, "net" as NetworkName);
  withLock(files, { timeoutSeconds: 1 }, (network) =>
    keepAddress(network, address(what), parsePodName(pod)),
  );
}

function networkWithKept(ipam: object = five): Network {
  const network = new Network(new MemoryMachine(), ipam);
  keep(network);
  return network;
}

test("an empty file, which nobody would ever release, is replaced once it is old enough", (t) => {
  for (const [age, text] of [
    [5_000, ""],
    [11_000, forDb0],
  ] as const) {
    const network = new Network(new MemoryMachine(), five);
    network.add("c1");
    network.machine.disk.put("/var/lib/cni/networks/net/10.0.0.4", "");
    network.machine.wait(age);

    keep(network);

    t.equal(network.reservations()["10.0.0.4"], text, `${age} ms`);
  }
  t.end();
});

test("an ADD that fails after it has taken a kept address keeps it again", (t) => {
  const network = networkWithKept({ ranges: [[five], [{ subnet: "10.1.0.0/30" }]] });
  network.add("last");

  t.match(network.add("db", db0).error?.msg, "failed to allocate for range 1");

  t.equal(network.reservations()["10.0.0.4"], forDb0);
  network.del("last");
  t.same(network.add("db", db0).addresses, ["10.0.0.4", "10.1.0.2"]);
  t.end();
});

test("an ADD whose result cannot be delivered keeps it again", (t) => {
  const network = networkWithKept();

  t.equal(
    network.add("db", { ...db0, interrupt: refuse("writeStandardOutput", "EPIPE") }).exitCode,
    1,
  );

  t.equal(network.reservations()["10.0.0.4"], forDb0);
  t.end();
});

test("a DEL that cannot make a file frees the address, and the pod's next ADD gets it again", (t) => {
  for (const operation of ["createFile", "rename"] as const) {
    const network = networkWithKept();
    network.add("db", db0);

    t.equal(network.del("db", { interrupt: refuse(operation, "ENOSPC") }).exitCode, 0);

    t.same(network.reserved(), [], operation);
    network.add("other");
    t.same(network.add("db", db0).addresses, ["10.0.0.4"], operation);
    network.del("db");
    t.equal(network.reservations()["10.0.0.4"], forDb0, operation);
  }
  t.end();
});

test("GC keeps again what it releases, and leaves the rest alone", (t) => {
  const network = networkWithKept();
  network.gc([]);
  t.same(network.reservations(), { "10.0.0.4": forDb0 });
  network.add("db", db0);
  network.machine.wait(1000);

  network.gc([]);

  t.same(network.reservations(), { "10.0.0.4": forDb0 });
  t.end();
});

test("after a boot only the pod gets the address of its former sandbox, and at once", (t) => {
  const network = networkWithKept();
  network.add("db", db0);
  network.machine.boot();

  const others = [1, 2, 3, 4, 5].map((at) => network.add(`c${at}`).addresses[0]);
  t.same(others, ["10.0.0.5", "10.0.0.6", "10.0.0.2", "10.0.0.3", undefined]);
  t.same(network.add("db-again", db0).addresses, ["10.0.0.4"]);
  network.del("db");
  t.equal(network.reservations()["10.0.0.4"], "db-again\r\neth0");
  t.end();
});

test("a second sandbox of the pod gets another address while the first has the kept one", (t) => {
  const network = networkWithKept();
  t.same(network.add("db-1", db0).addresses, ["10.0.0.4"]);
  t.same(network.add("db-2", db0).addresses, ["10.0.0.5"]);
  network.del("db-1");
  network.del("db-2");
  t.same(network.add("db-3", db0).addresses, ["10.0.0.4"]);
  t.end();
});

test("a call reads what is kept only where the journal says that anything is", (t) => {
  const reads = (network: Network): number =>
    [network.add("c2", db0), network.del("c2")].flatMap(({ calls }) =>
      calls.filter(({ path }) => path.endsWith("/kept")),
    ).length;
  const without = new Network(new MemoryMachine(), five);
  without.add("c1");
  t.equal(reads(without), 0);

  const kept = networkWithKept();
  kept.add("c1");
  t.equal(reads(kept), 2);
  t.equal(kept.add("c3").calls.filter(({ operation }) => operation === "readFiles").length, 0);
  t.end();
});

test("where what is kept cannot be read a call does without it, and changes nothing of it", (t) => {
  const network = networkWithKept();
  const record = "/var/lib/cni/networks/.host-local/net/kept";
  const text = network.machine.disk.readFile(record, 1000);
  const failing = { interrupt: refuse("readFile", "EIO", record) };

  t.same(network.add("db", { ...db0, ...failing }).addresses, ["10.0.0.2"]);
  network.del("db");

  t.equal(network.machine.disk.readFile(record, 1000), text);
  t.same(network.reservations(), { "10.0.0.4": forDb0 });
  t.same(network.add("db", db0).addresses, ["10.0.0.4"]);
  t.end();
});

test("the pod gets its address back after a boot also where others are free, and no other pod's", (t) => {
  const network = networkWithKept();
  keep(network, "10.0.0.6", "default/db-1");
  network.add("c1");
  network.add("db", db0);
  network.machine.wait(5000);
  network.machine.boot();

  t.same(network.add("db-again", db0).addresses, ["10.0.0.4"]);
  t.same(Object.keys(network.reservations()), ["10.0.0.2", "10.0.0.4", "10.0.0.6"]);
  t.end();
});

test("nobody else gets a kept address, and each range set only what is its own", (t) => {
  const network = networkWithKept({ ranges: [[{ subnet: "fd00::/125" }], [five]] });
  const others = [1, 2, 3, 4, 5].map((at) => network.add(`c${at}`).addresses.at(-1));
  t.same(others, ["10.0.0.2", "10.0.0.3", "10.0.0.5", "10.0.0.6", undefined]);
  t.same(network.add("db", db0).addresses, ["fd00::7", "10.0.0.4"]);
  t.end();
});

test("the pod gets a kept address that the runtime requests, and no other pod does", (t) => {
  const network = networkWithKept();
  keep(network, "10.0.0.6");
  keep(network, "10.0.0.3", "default/db-1");
  const ofDb1 = "K8S_POD_NAMESPACE=default;K8S_POD_NAME=db-1";
  for (const others of ["IgnoreUnknown=1", `IgnoreUnknown=1;${ofDb1}`]) {
    const { error } = network.add("c1", { cniArgs: `${others};IP=10.0.0.6` });
    t.match(error?.msg, "requested IP address 10.0.0.6 is not available");
  }
  const ofDb0 = { cniArgs: `${db0.cniArgs};IP=10.0.0.6` };
  t.same(network.add("db", ofDb0).addresses, ["10.0.0.6"]);
  t.end();
});

test("of a full range only what nobody keeps is reclaimed for others after a boot", (t) => {
  const network = networkWithKept();
  for (const at of [1, 2, 3, 4]) network.add(`c${at}`);
  network.add("db", db0);
  network.machine.wait(5000);
  network.machine.boot();

  const others = [1, 2, 3, 4, 5].map((at) => network.add(`n${at}`).addresses[0]);

  t.same(others, ["10.0.0.2", "10.0.0.3", "10.0.0.5", "10.0.0.6", undefined]);
  t.end();
});
