// test: each executable, one if short
/** show: the holder of an address, the addresses of a container or a pod, and what an address is that nobody holds. */

import { test } from "tap";
import { startStranger } from "../../harness/network-namespaces.ts";
import { belowRoot, type Node, nodeFor } from "../node.ts";

const ipam = {
  ranges: [
    [{ subnet: "198.51.100.0/24", rangeStart: "198.51.100.10", rangeEnd: "198.51.100.100" }],
    [{ subnet: "2001:db8::/64" }],
  ],
  exclude: ["198.51.100.20"],
  reserved: {
    "198.51.100.21": null,
    "198.51.100.31": "default/db-0",
    "2001:db8::8/125": "default/db-0",
  },
};

/** A node with the network `net` configured, and reservations of two containers in it. */
function busyNode(t: Parameters<typeof nodeFor>[0]): Node {
  const node = nodeFor(t);
  const section = { type: "host-local", dataDir: node.dataDir, ...ipam };
  node.configure("net.conf", { cniVersion: "1.0.0", name: "net", type: "bridge", ipam: section });
  node.add("net", ipam, "abc123");
  node.add("net", ipam, "abd456", { interfaceName: "net1" });
  node.remember("net", "abc123", "default/web");
  for (const name of ["198.51.100.10", "198.51.100.11", "2001:db8::2", "2001:db8::3"])
    node.age(`net/${name}`, 7300);
  return node;
}

/** `show` on the node, its paths and its clock taken out. */
function show(node: Node, ...words: string[]): [number | null, string, string] {
  const { exitCode, stdout, stderr } = node.tool(["show", ...words]);
  const text = belowRoot(node, stdout)
    .replace(/[0-9-]+T[0-9:.]+Z/g, "TIME")
    .replace(/^( {2}alive +)(?:no|not known): .*$/gm, "$1WHY");
  return [exitCode, text, stderr];
}

const first = `198.51.100.10 of net
  container   abc123
  interface   eth0
  pod         default/web
  alive       WHY
  since       TIME (2h ago)
  address     in range 198.51.100.10-198.51.100.100
  gateway     198.51.100.1
  file        /networks/net/198.51.100.10
  configured  /net.d/net.conf
`;
const second = `2001:db8::2 of net
  container   abc123
  interface   eth0
  pod         default/web
  alive       WHY
  since       TIME (2h ago)
  address     in range 2001:db8::1-2001:db8::ffff:ffff:ffff:ffff
  gateway     2001:db8::1
  file        /networks/net/2001:db8::2
  configured  /net.d/net.conf
`;

const found = [
  ["an address", "198.51.100.10", first],
  ["an address with its prefix length, as in results", "198.51.100.10/24", first],
  ["an address in another spelling", "2001:DB8:0::2", second],
  ["a container id", "abc123", `${first}\n${second}`],
  ["the beginning of a container id", "abc", `${first}\n${second}`],
  ["a pod", "default/web", `${first}\n${second}`],
  ["the name of a pod", "web", `${first}\n${second}`],
] as const;

test("a reservation is found by its address, its container or its pod", async (t) => {
  const node = busyNode(t);
  for (const [by, operand, text] of found) t.strictSame(show(node, operand), [0, text, ""], by);
});

const notReserved = [
  ["198.51.100.50", "free, in range 198.51.100.10-198.51.100.100"],
  ["2001:db8::1", "the gateway"],
  ["198.51.100.20", "excluded (ipam.exclude)"],
  ["198.51.100.21", "reserved for nobody (ipam.reserved)"],
  ["2001:db8::9", "reserved for default/db-0 (ipam.reserved)"],
  ["198.51.100.255", "outside all ranges"],
] as const;

test("of an address without a reservation it says what it is", async (t) => {
  const node = busyNode(t);
  for (const [operand, what] of notReserved) {
    const said = `${operand} has no reservation in net. It is ${what}.\n`;
    t.strictSame(show(node, operand), [1, said, ""]);
  }
});

test("of a container or a pod without a reservation it says what cannot be known", async (t) => {
  const node = busyNode(t);
  const places = "--conf-dir /net.d --data-dir /networks --cache-dir /cache";
  for (const operand of ["gone77", "default/none"]) {
    const said = `No reservation of ${operand} is known. Only libcni's cache names pods; see: host-local list ${places}\n`;
    t.strictSame(show(node, operand), [1, said, ""]);
  }
});

test("for whom an address is reserved is told with its holder", async (t) => {
  const node = busyNode(t);
  node.write("net/198.51.100.31", "other\r\neth0");
  const reserved = /\n {2}address +reserved for default\/db-0 \(ipam\.reserved\)\n/;
  t.match(show(node, "198.51.100.31")[1], reserved);
});

test("a file that names no container is shown", async (t) => {
  const node = nodeFor(t);
  node.write("net/198.51.100.9", "");
  node.age("net/198.51.100.9", 7300);
  t.strictSame(show(node, "198.51.100.9"), [
    0,
    `198.51.100.9 of net
  held by     a file that names no container
  alive       WHY
  since       TIME (2h ago)
  address     in no range that is known
  file        /networks/net/198.51.100.9
`,
    "",
  ]);
});

test("an address may be reserved in several networks, and --network chooses one", async (t) => {
  const node = nodeFor(t);
  for (const network of ["one", "two"])
    node.add(network, { subnet: "198.51.100.0/24" }, `c-${network}`);
  const shown = (...words: string[]): string =>
    show(node, "198.51.100.2", ...words)[1].replaceAll(/^ .*\n/gm, "");
  t.equal(shown(), "198.51.100.2 of one\n\n198.51.100.2 of two\n");
  t.equal(shown("--network", "two"), "198.51.100.2 of two\n");
});

test("the document has the reservations, or the hints", async (t) => {
  // What nothing shows to be alive is not known to be dead.
  await startStranger(t);
  const node = busyNode(t);
  const reservation = {
    network: "net",
    address: "198.51.100.10",
    container: "abc123",
    alive: null,
  };
  const { exitCode, document } = node.json(["show", "198.51.100.10"]);
  t.match({ exitCode, document }, { exitCode: 0, document: { reservations: [reservation] } });
  t.strictSame((document as { hints: unknown }).hints, []);
  const text =
    "198.51.100.50 has no reservation in net. It is free, in range 198.51.100.10-198.51.100.100.";
  t.strictSame(node.json(["show", "198.51.100.50"]), {
    exitCode: 1,
    document: { reservations: [], hints: [{ reason: "free", network: "net", text }] },
  });
});
