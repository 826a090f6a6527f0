/**
 * Reservations of pod sandboxes whose network namespace is gone are reclaimed where an ADD would fail without that;
 * containerd#12130, rke2#3361, k3s#4682, podman#2767.
 */

import { type Test, test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { type CallOptions, Network } from "../harness/network.ts";

const JOURNAL = "/var/lib/cni/networks/.host-local/net/journal";

/** A node on which each pod has a network namespace of its own. */
class Node {
  readonly network: Network;
  readonly machine = new MemoryMachine();
  #lastInode = 4026532000n;

  constructor(ipam: object = { subnet: "10.0.0.0/29" }) {
    this.network = new Network(this.machine, ipam);
  }

  pathOf(id: string): string {
    return `/run/netns/${id}`;
  }

  /** ADD of the sandbox of a pod, in a new namespace, with the number of another one or a new one. */
  run(
    id: string,
    { inode, ...options }: CallOptions & { readonly inode?: bigint | undefined } = {},
  ) {
    this.machine.wait(1000);
    this.machine.namespaces.set(this.pathOf(id), inode ?? ++this.#lastInode);
    return this.network.add(id, {
      netns: this.pathOf(id),
      cniArgs: `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${id}`,
      ...options,
    });
  }

  /** The runtime removes the namespace, and never calls DEL. */
  lose(...ids: readonly string[]): void {
    for (const id of ids) this.machine.namespaces.delete(this.pathOf(id));
  }

  /** Pods p2 to p6, which have all addresses. */
  static full(ipam?: object): Node {
    const node = new Node(ipam);
    for (let last = 2; last <= 6; last++) node.run(`p${last}`);
    return node;
  }
}

function noneGivesWay(t: Test, node: Node, why: string): void {
  t.match(node.run("none").error?.msg, "no IP addresses available", why);
  t.match(node.network.strictStatus().error?.code, 50, why);
  node.lose("none");
}

test("an address of the node itself is handed out to nobody, nor any while that is not known", async (t) => {
  const node = Node.full();
  node.lose("p2", "p3");
  node.machine.kernel.configure("/proc/self/ns/net", "10.0.0.2");
  const interrupt = refuse("linkedAddresses", "EMFILE");
  t.match(node.run("none", { interrupt }).error?.msg, "no IP addresses available");
  node.lose("none");
  t.same(node.run("p7").addresses, ["10.0.0.3"]);
  t.match(node.run("none").error?.msg, "no IP addresses available");
});

test("a pod, and no other, gets its reserved address from a dead sandbox, though others are free", async (t) => {
  const reserved = { "10.0.0.4": "default/db-0" };
  const node = new Node({ subnet: "10.0.0.0/29", reserved });
  const cniArgs = (id: string): string =>
    `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=db-0;K8S_POD_INFRA_CONTAINER_ID=${id}`;
  const start = (id: string) => node.run(id, { cniArgs: cniArgs(id) });
  t.same(start("old").addresses, ["10.0.0.4"]);
  t.match(start("new").error?.msg, "no IP addresses available", "the old one lives");
  node.lose("old");

  for (const last of [2, 3, 5, 6]) t.same(node.run(`p${last}`).addresses, [`10.0.0.${last}`]);
  t.match(node.run("late").error?.msg, "no IP addresses available");
  t.same(start("new").addresses, ["10.0.0.4"]);
  t.equal(node.network.reservations()["10.0.0.4"], "new\r\neth0");
});

test("what a container holds for a namespace that is gone is its own, also if it is no pod's", async (t) => {
  for (const cniArgs of [undefined, "", "K8S_POD_INFRA_CONTAINER_ID=other;IgnoreUnknown=1"]) {
    const node = new Node();
    node.run("p2", cniArgs === undefined ? {} : { cniArgs });
    t.match(
      node.network.add("p2", { netns: node.pathOf("p2") }).error?.msg,
      "duplicate allocation is not allowed",
    );
    node.lose("p2");
    t.match(
      node.network.add("p2", { ipam: { reclaim: "never" } }).error?.msg,
      "duplicate allocation is not allowed",
    );
    t.same(node.run("p2").addresses, ["10.0.0.2"]);
    t.same(Object.keys(node.network.reservations()), ["10.0.0.2"]);
  }
});

test("what another one holds whose id ends as the caller's is not the caller's own", async (t) => {
  const node = new Node({ subnet: "10.0.0.0/30" });
  node.run("ingress-of-this-node", { cniArgs: "" });
  node.lose("ingress-of-this-node");

  const { error } = node.run("sandbox-of-this-node", { cniArgs: "" });

  t.match(error?.msg, "no IP addresses available");
  t.equal(node.network.reservations()["10.0.0.2"], "ingress-of-this-node\r\neth0");
});

test("what need not be a container's stays: no pod's, without a namespace, by another program", async (t) => {
  const node = new Node();
  node.run("ingress", { cniArgs: "" });
  node.run("webhook", { netns: "/dev/null" });
  node.run("cnitool", { cniArgs: "IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=other" });
  node.run("space", { netns: "/run/netns/a b" });
  node.network.put("10.0.0.6", "go\r\neth0");
  node.lose("ingress", "webhook", "cnitool", "space");

  noneGivesWay(t, node, "nothing is proven");
});

test("nothing is reclaimed where namespaces are not seen, or with reclaim never", async (t) => {
  const doubts: Readonly<Record<string, (node: Node) => void>> = {
    "another PID namespace": ({ machine }) => {
      machine.kernel.seesProcesses = false;
    },
    "no /proc": ({ machine }) => {
      machine.bootId = undefined;
    },
    "a journal that was lost": ({ machine }) => machine.disk.unlink(JOURNAL),
  };
  for (const [what, doubt] of Object.entries(doubts)) {
    const node = Node.full();
    node.lose("p3");
    doubt(node);
    t.match(node.network.add("new").error?.msg, "no IP addresses available", what);
  }
  const node = Node.full({ subnet: "10.0.0.0/29", reclaim: "never" });
  node.lose("p3");
  noneGivesWay(t, node, "never");
});

test("of two containers in one namespace neither tells what became of the other's lost path", async (t) => {
  for (const order of [
    ["p2", "p3"],
    ["p3", "p2"],
  ] as const) {
    const node = new Node({ subnet: "10.0.0.0/29", rangeEnd: "10.0.0.3" });
    for (const id of order) node.run(id, { inode: 4026532900n });
    node.lose(order[0]);
    noneGivesWay(t, node, "the other one has it");
    node.lose(order[1]);
    t.same(node.run("new").addresses, ["10.0.0.2"], "both are gone");
  }
});

test("a repeated ADD records its namespace anew", async (t) => {
  const node = new Node({ subnet: "10.0.0.0/30", repeatedAdd: "same" });
  node.run("p2");
  node.lose("p2");
  t.same(node.run("p2").addresses, ["10.0.0.2"]);
  noneGivesWay(t, node, "it lives again");
  node.lose("p2");
  t.same(node.run("new").addresses, ["10.0.0.2"]);

  node.network.add("new", { netns: "/dev/null" });
  node.lose("new");
  noneGivesWay(t, node, "nothing is known of it");
});
