// test: each executable, one if short
/** show: the holder of an address, the addresses of a container or a pod, and hints if there are none. */

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
  node.remember("net", "gone77", "default/old");
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
  range       198.51.100.10-198.51.100.100
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
  range       2001:db8::1-2001:db8::ffff:ffff:ffff:ffff
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
  ["the name of a pod, if that is unique", "web", `${first}\n${second}`],
] as const;

test("a reservation is found by its address, its container or its pod", async (t) => {
  const node = busyNode(t);
  for (const [by, operand, text] of found) t.strictSame(show(node, operand), [0, text, ""], by);
});

const ipv4 = "range 198.51.100.10-198.51.100.100 of net";
const ipv6 = "range 2001:db8::1-2001:db8::ffff:ffff:ffff:ffff of net";

const notReserved = [
  ["198.51.100.50", `It is free, in ${ipv4}.`],
  ["2001:db8::1", `It is the gateway of ${ipv6}: never handed out.`],
  ["198.51.100.1", `It is the gateway of ${ipv4}: never handed out.`],
  ["198.51.100.20", `It is excluded (ipam.exclude) from ${ipv4}.`],
  ["198.51.100.21", `It is reserved for nobody (ipam.reserved) in ${ipv4}.`],
  ["2001:db8::9", `It is reserved for default/db-0 (ipam.reserved) in ${ipv6}.`],
  ["198.51.100.255", `It is in subnet 198.51.100.0/24, but not in ${ipv4}: never handed out.`],
  ["203.0.113.9", "It is outside all IPv4 ranges: 198.51.100.10-198.51.100.100 of net."],
] as const;

test("for whom an address is reserved is told with its holder, and to who asks for the pod", async (t) => {
  const node = busyNode(t);
  const of = "of net is reserved for it (ipam.reserved).";
  t.strictSame(show(node, "default/db-0"), [
    1,
    `No reservation for pod default/db-0.\n  198.51.100.31 ${of}\n  2001:db8::8-2001:db8::f ${of}\n`,
    "",
  ]);
  node.write("net/198.51.100.31", "other\r\neth0");
  t.match(show(node, "198.51.100.31")[1], /\n {2}range .*\n {2}reserved +for default\/db-0\n/);
});

test("the hint for an address without a reservation says what it is", async (t) => {
  const node = busyNode(t);
  for (const [operand, text] of notReserved) {
    const said = `No reservation for address ${operand}.\n  ${text}\n`;
    t.strictSame(show(node, operand), [1, said, ""]);
  }
});

const places = "--conf-dir /net.d --data-dir /networks --cache-dir /cache";
const released =
  "libcni's cache names container gone77, interface eth0 (pod default/old) in net, but there is no reservation for it.";

const notHolding = [
  ["container ab", "2 container ids start with it: abc123, abd456."],
  ["container gone77", released],
  ["pod default/old", released],
  [
    "container xyz",
    `Neither a reservation nor libcni's cache names it; see: host-local list ${places}`,
  ],
  [
    "pod default/none",
    `libcni's cache does not contain this pod; try its container id, or: host-local list ${places}`,
  ],
] as const;

test("the hint for a container or a pod without a reservation says what is known of it", async (t) => {
  const node = busyNode(t);
  for (const [what, text] of notHolding) {
    const [, operand = ""] = what.split(" ");
    t.strictSame(show(node, operand), [1, `No reservation for ${what}.\n  ${text}\n`, ""]);
  }
});

test("what is in another network, and what a history may know, is said", async (t) => {
  const node = nodeFor(t);
  node.network("one", { subnet: "203.0.113.0/24", history: true });
  node.network("two", { subnet: "198.51.100.0/24" });
  node.call("ADD", "one", "c1");
  node.call("DEL", "one", "c1");
  node.call("ADD", "two", "c2");

  for (const [operand, what] of [
    ["c2", "container c2"],
    ["198.51.100.2", "address 198.51.100.2"],
  ] as const) {
    const text = `No reservation for ${what}.\n  It is in network two.\n`;
    t.match(show(node, operand, "--network", "one")[1], text);
  }
  for (const gone of ["c1", "203.0.113.2"]) {
    t.match(show(node, gone)[1], `\n  What was before: host-local history ${gone} ${places}\n`);
  }
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
  range       unknown
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
  const text = "It is free, in range 198.51.100.10-198.51.100.100 of net.";
  t.strictSame(node.json(["show", "198.51.100.50"]), {
    exitCode: 1,
    document: { reservations: [], hints: [{ reason: "free", network: "net", text }] },
  });
});

for (const [operand, message] of [
  ["a:b", 'expected an address, a container id or a pod as namespace/name, found "a:b"'],
  ["a/b/c", 'expected an address, a container id or a pod as namespace/name, found "a/b/c"'],
  ["300.1.1.1", "expected an address such as 10.88.0.7, found 300.1.1.1"],
] as const) {
  test(`show ${operand} is wrong usage`, async (t) => {
    const text = `host-local: show: ${message}\nRun 'host-local show --help' for usage.\n`;
    t.strictSame(show(nodeFor(t), operand), [2, "", text]);
  });
}
