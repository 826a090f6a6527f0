import { type Test, test } from "tap";
import { parseAddress } from "../../../src/ipam/address.ts";
import { AddressUse } from "../../../src/store/namespaces/address-use.ts";
import { LinkedAddresses } from "../../../src/store/namespaces/linked-addresses.ts";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { machineWith, open, rangeSet } from "../fixtures.ts";

/** A machine with the network namespaces `a`, `b` and so on, which have these addresses. */
function machineOf(...addresses: readonly (readonly string[])[]): MemoryMachine {
  const machine = machineWith();
  addresses.forEach((some, at) => {
    const path = pathOf(at);
    machine.kernel.mount(path);
    machine.kernel.configure(path, ...some);
  });
  return machine;
}

function pathOf(at: number): string {
  return `/run/netns/${"abc"[at]}`;
}

function useOn(machine: MemoryMachine, caller?: string): AddressUse {
  const system = machine.start();
  return new AddressUse(open(system), { linked: new LinkedAddresses(system, caller) });
}

function address(text: string) {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
}

const users = (machine: MemoryMachine, caller?: string) => (text: string) =>
  useOn(machine, caller).userOf(address(text));

test("a container uses an address in a linked namespace, the node its own", async (t) => {
  const machine = machineOf(["10.0.0.2"]);
  machine.kernel.configure("/proc/self/ns/net", "10.0.0.3");
  const userOf = users(machine);
  t.equal(userOf("10.0.0.2"), "container");
  t.equal(userOf("10.0.0.3"), "node");
  t.equal(userOf("10.0.0.4"), undefined);
});

test("a namespace that nothing links is not seen, one for which an ADD was called is", async (t) => {
  const machine = machineWith();
  machine.kernel.mount(pathOf(0));
  machine.kernel.configureUnlinked(pathOf(0), "10.0.0.2");
  t.equal(users(machine)("10.0.0.2"), undefined);
  t.equal(users(machine, pathOf(0))("10.0.0.2"), undefined, "its own is no obstacle");
  t.equal(users(machine)("10.0.0.2"), "container", "the ADD has given the namespace an id");
});

test("what another network of the data directory has reserved is that network's, once for each", async (t) => {
  const machine = machineOf(["10.0.0.2"]);
  machine.disk.makeDirectories("/data/other");
  machine.disk.put("/data/other/10.0.0.2", "c1\r\neth0");
  machine.disk.put("/data/.host-local/10.0.0.2", "c1\r\neth0");
  t.equal(users(machine)("10.0.0.2"), undefined);

  machine.kernel.mount(pathOf(1));
  machine.kernel.configure(pathOf(1), "10.0.0.2");
  t.equal(users(machine)("10.0.0.2"), "container", "of the second one no other network knows");
  t.equal(users(machine, pathOf(1))("10.0.0.2"), undefined);

  machine.disk.makeDirectories("/data/third");
  machine.disk.put("/data/third/10.0.0.2", "c2\r\neth0");
  t.equal(users(machine)("10.0.0.2"), undefined);
  machine.disk.unlink("/data/third/10.0.0.2");
  machine.disk.put("/data/net/10.0.0.2", "c2\r\neth0");
  t.equal(users(machine)("10.0.0.2"), "container", "its own reservation is asked about apart");
});

test("that the kernel cannot be asked is not that an address is unused", async (t) => {
  const machine = machineOf();
  t.equal(useOn(machine).whyKept(address("10.0.0.2")), undefined);
  const use = new AddressUse(
    open(machine.start({ interrupt: refuse("linkedAddresses", "EMFILE") })),
  );
  t.equal(use.userOf(address("10.0.0.2")), undefined);
  t.match(use.whyKept(address("10.0.0.2")), "whether 10.0.0.2 is in use is not known: ");
});

test("from a dead container nothing is taken that a linked namespace, a process or a mount shows", async (t) => {
  const machine = machineOf(["10.0.0.2"]);
  machine.kernel.configure("/proc/self/ns/net", "10.0.0.3");
  machine.kernel.mount(pathOf(1));
  machine.kernel.configureUnlinked(pathOf(1), "10.0.0.4");
  machine.kernel.processes.set(7, { namespace: 70n, first: "there" });
  machine.kernel.addresses.set(70n, ["10.0.0.5"]);
  const why = (text: string, machineNow = machine) => useOn(machineNow).whyKept(address(text));
  t.equal(why("10.0.0.2"), "10.0.0.2 is in use in the network namespace /run/netns/a");
  t.equal(why("10.0.0.3"), "10.0.0.3 is in use by the node itself");
  t.equal(why("10.0.0.4"), "10.0.0.4 is in use in the network namespace /run/netns/b");
  t.equal(why("10.0.0.5"), "10.0.0.5 is in use by process 7");
  t.equal(why("10.0.0.6"), undefined);

  machine.disk.makeDirectories("/data/other");
  machine.disk.put("/data/other/10.0.0.4", "c1\r\neth0");
  t.match(why("10.0.0.4"), "in use", "whatever a file says: that may be of a dead pod");
});

test("the addresses of range sets that are in use", async (t: Test) => {
  const machine = machineOf(["10.0.0.2", "10.0.0.9"], ["2001:db8::2"]);
  machine.kernel.configure("/proc/self/ns/net", "10.0.0.1", "127.0.0.1");
  const sets = [rangeSet("10.0.0.0/29"), rangeSet("2001:db8::/125")];
  t.same(
    [...useOn(machine).inSets(sets)].map(([{ value }, user]) => [value, user]),
    [
      [0x0a000001n, "node"],
      [0x0a000002n, "container"],
      [address("2001:db8::2").value, "container"],
    ],
    "that of the gateway among them",
  );
});

test("an address is reserved where a file has its name", async (t) => {
  const machine = machineWith({ "10.0.0.2": "" });
  const use = useOn(machine);
  t.ok(use.isReserved(address("10.0.0.2")));
  t.notOk(use.isReserved(address("10.0.0.3")));
});
