/** No ADD gets an address that lives, whatever is reserved; kubernetes#39557, #57280, #43910, rke#340. */

import { test } from "tap";
import { type Interrupt, refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { type CallOptions, Network } from "../harness/network.ts";

const NODE = "/proc/self/ns/net";

/** A node whose pods have the addresses that their ADDs were answered with. */
class Node {
  readonly machine = new MemoryMachine();
  readonly network: Network;

  constructor(ipam: object = { subnet: "10.0.0.0/29" }, ...ids: readonly string[]) {
    this.network = new Network(this.machine, ipam);
    for (const id of ids) this.run(id);
  }

  pathOf(id: string): string {
    return `/run/netns/${id}`;
  }

  /** ADD of a pod in a new network namespace, and what a main plugin does with the answer. */
  run(id: string, options: CallOptions = {}) {
    const { kernel } = this.machine;
    if (!kernel.has(this.pathOf(id))) kernel.mount(this.pathOf(id));
    const cniArgs = `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${id}${options.cniArgs ?? ""}`;
    const answer = this.network.add(id, { netns: this.pathOf(id), ...options, cniArgs });
    if (answer.addresses.length > 0) kernel.configure(this.pathOf(id), ...answer.addresses);
    return answer;
  }

  /** The directory is deleted, or restored as it was in a backup. */
  restore(files: Readonly<Record<string, string>> = {}): void {
    const { disk } = this.machine;
    for (const path of [this.network.directory, "/var/lib/cni/networks/.host-local/net"]) {
      for (const name of Object.keys(disk.filesUnder(path))) disk.unlink(`${path}/${name}`);
    }
    for (const [name, content] of Object.entries(files))
      disk.put(`${this.network.directory}/${name}`, content);
  }
}

test("a backup that is restored under living pods takes nothing from them", async (t) => {
  const node = new Node(undefined, "a", "b", "c");
  node.restore({ "10.0.0.4": "x\r\neth0", "last_reserved_ip.0": "10.0.0.6" });
  t.same(node.run("d").addresses, ["10.0.0.5"]);
  t.same(node.run("e").addresses, ["10.0.0.6"]);
  t.match(node.run("f").error?.details, "2 more, such as 10.0.0.2, are in use");
});

for (const isLinked of [true, false]) {
  const what = isLinked ? "linked with the node's" : "that nothing links with the node's";
  test(`an address that moved to a namespace ${what} is kept, by ADD as by GC`, async (t) => {
    const node = new Node();
    const { kernel } = node.machine;
    kernel.hasOtherEnds = isLinked;
    for (const id of ["a", "b", "c", "d", "e"]) node.run(id);
    kernel.mount("/run/netns/other");
    kernel.moveAddresses(node.pathOf("c"), "/run/netns/other");
    kernel.unmount(node.pathOf("c"));
    t.match(node.run("f").error?.msg, "no IP addresses available");
    t.match(node.run("f", { cniArgs: ";IP=10.0.0.4" }).error?.msg, "10.0.0.4 is not available");
    node.machine.wait(3_600_000);
    const kept = /10\.0\.0\.4 is in use in the network namespace \/run\/netns\/other/;
    const valid = ["a", "b", "d", "e"].map((id) => `${id} eth0`);
    t.match(node.network.gcNow(valid), { exitCode: 0, stderr: kept });
    t.ok(node.network.reservations()["10.0.0.4"], "nor is it GC's");

    kernel.unmount("/run/netns/other");
    t.same(node.run("f").addresses, ["10.0.0.4"]);
  });
}

test("what moved to the network namespace of the call is no obstacle", async (t) => {
  const node = new Node(undefined, "a", "b", "c", "d", "e");
  const { kernel } = node.machine;
  kernel.mount(node.pathOf("f"));
  kernel.moveAddresses(node.pathOf("c"), node.pathOf("f"));
  kernel.unmount(node.pathOf("c"));
  t.same(node.run("f").addresses, ["10.0.0.4"]);
});

test("what a user has configured in a user namespace of their own keeps no dead pod's address", async (t) => {
  const node = new Node(undefined, "a", "b", "c", "d", "e");
  const { kernel } = node.machine;
  kernel.processes.set(7, { namespace: 70n, first: "there", isOfUser: true });
  kernel.addresses.set(70n, ["10.0.0.4"]);
  kernel.unmount(node.pathOf("c"));
  t.same(node.run("f").addresses, ["10.0.0.4"]);
});

test("an empty file at an address that lives is not taken away", async (t) => {
  const node = new Node(undefined, "a", "b", "c", "d", "e");
  const path = `${node.network.directory}/10.0.0.3`;
  node.machine.disk.put(path, "");
  node.machine.wait(60_000);
  t.match(node.run("f").error?.msg, "no IP addresses available");
  node.machine.kernel.unmount(node.pathOf("b"));
  t.same(node.run("f").addresses, ["10.0.0.3"]);
});

test("a requested address that lives is refused, and says who has it", async (t) => {
  const node = new Node(undefined, "a");
  node.restore();
  node.machine.kernel.configure(NODE, "10.0.0.5");
  const requested = (address: string) => node.run("b", { cniArgs: `;IP=${address}` }).error;
  t.match(requested("10.0.0.2"), {
    msg: "requested IP address 10.0.0.2 is not available in range set 10.0.0.1-10.0.0.6",
    details: "10.0.0.2 is in use by a container of this node, and not reserved",
  });
  t.match(requested("10.0.0.5")?.details, "10.0.0.5 is in use by the node itself");
  t.same(node.network.reservations(), {});
});

test("the addresses of the node itself are passed over, and said to be its own", async (t) => {
  const node = new Node({ subnet: "10.0.0.0/30", gateway: "10.0.0.2" });
  node.machine.kernel.configure(NODE, "10.0.0.1", "10.0.0.2");
  const before = node.machine.time;
  t.match(node.run("a").error?.details, "; 1 more of the node itself. Next: ");
  t.ok(node.machine.time - before < 100, "no DEL makes it free");
});

test("ADD waits, without the lock, for the end of a DEL that has released the address", async (t) => {
  const node = new Node(undefined, "a", "b", "c", "d", "e");
  t.equal(node.network.del("b").exitCode, 0);
  let looks = 0;
  const interrupt: Interrupt = ({ operation }) => {
    if (operation !== "linkedAddresses" || ++looks !== 3) return undefined;
    // The third look is the second one after a pause; meanwhile another call has had the lock.
    return { kind: "pause", meanwhile: () => node.machine.kernel.unmount(node.pathOf("b")) };
  };
  const before = node.machine.time;
  t.same(node.run("f", { interrupt }).addresses, ["10.0.0.3"]);
  t.ok(node.machine.time - before >= 100, "after 20 ms, and 80 ms");
  t.equal(looks, 3);
});

test("what does not pass within a second is said", async (t) => {
  const node = new Node(undefined, "a", "b", "c", "d", "e");
  node.network.del("b");
  const before = node.machine.time;
  t.match(
    node.run("f").error?.details,
    "; 10.0.0.3 is in use by containers of this node, and not reserved",
  );
  t.equal(node.machine.time - before, 1000);
});

test("a kernel that cannot be asked changes nothing", async (t) => {
  const node = new Node(undefined, "a", "b");
  node.restore();
  node.machine.kernel.tellsLinked = false;
  t.same(node.run("c").addresses, ["10.0.0.2"], "before Linux 4.20, or without CAP_NET_ADMIN");

  const another = new Node(undefined, "a", "b");
  another.restore();
  const interrupt = refuse("linkedAddresses", "EMFILE");
  t.same(another.run("c", { interrupt }).addresses, ["10.0.0.2"]);
});
