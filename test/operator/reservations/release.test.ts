// test: each executable, one if short, sees the node, makes namespaces
/** release: releases what it was asked to, after a confirmation, and nothing else. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { t as root, test } from "tap";
import { reservedAddresses } from "../../harness/data-directory.ts";
import { holdLock } from "../../harness/held-lock.ts";
import { lacking } from "../../harness/needs.ts";
import { mountNamespace, processWith, startStranger } from "../../harness/network-namespaces.ts";
import { ownNetwork } from "../../harness/own-network.ts";
import { converse, skipWithoutTerminal } from "../../harness/terminal.ts";
import { belowRoot, type Node, nodeFor } from "../node.ts";

// What nothing shows to be alive is not known to be dead.
await startStranger(root);

/** The IPAM configuration of the network `net`. */
const ipamWith = (ipv6: string) => ({
  ranges: [[{ subnet: "198.51.100.0/24" }], [{ subnet: `${ipv6}::/64` }]],
});

/** What is reserved in it. */
const allWith = (ipv6: string): string[] => [
  ...["198.51.100.2", "198.51.100.3", "198.51.100.4"],
  ...[`${ipv6}::2`, `${ipv6}::3`, `${ipv6}::4`],
];

const ipam = ipamWith("2001:db8");
const all = allWith("2001:db8");

/**
 * A node whose network `net` has two containers, one of them with two interfaces.
 *
 * @param ipv6 the first groups of the /48 that the network has
 */
function busyNode(t: Parameters<typeof nodeFor>[0], ipv6 = "2001:db8"): Node {
  const node = nodeFor(t);
  const ipam = ipamWith(ipv6);
  node.add("net", ipam, "aaa");
  node.add("net", ipam, "bbb");
  node.add("net", ipam, "bbb", { interfaceName: "net1" });
  node.remember("net", "aaa", "default/web");
  for (const name of allWith(ipv6)) node.age(`net/${name}`, 7300);
  return node;
}

function release(node: Node, ...words: string[]): [number | null, string, string] {
  const { exitCode, stdout, stderr } = node.tool(["release", ...words]);
  return [exitCode, belowRoot(node, stdout), belowRoot(node, stderr)];
}

function left(node: Node, network = "net"): string[] {
  return reservedAddresses(node.dataDir, network);
}

test("an address is released, and reported", async (t) => {
  const node = busyNode(t);
  t.strictSame(release(node, "198.51.100.2", "--yes", "--force"), [
    0,
    `Released:
NETWORK  ADDRESS       CONTAINER  INTERFACE  AGE  POD
net      198.51.100.2  aaa        eth0       2h   default/web
`,
    "",
  ]);
  t.strictSame(left(node), all.slice(1));
});

const ofWeb = ["198.51.100.2", "2001:db8::2", "198.51.100.4", "2001:db8::4"];

for (const [what, words, released] of [
  ["a container in one network", ["aaa", "--network", "net"], ["198.51.100.2", "2001:db8::2"]],
  ["one in every network that it is in", ["aaa"], ["198.51.100.2", "2001:db8::2", "203.0.113.2"]],
  ["a pod with all its sandboxes", ["default/web"], ofWeb],
  ["a pod by its name alone", ["web"], ofWeb],
  ["podman's, which has no namespace", ["q1"], ["198.51.100.77"]],
  ["the same with an empty one", ["/q1"], ["198.51.100.77"]],
  ["a container without an interface", ["old"], ["198.51.100.77"]],
  ["a file that names no container", ["198.51.100.78"], ["198.51.100.78"]],
  [
    "several",
    ["198.51.100.3", "2001:db8::2", "old"],
    ["198.51.100.3", "2001:db8::2", "198.51.100.77"],
  ],
  ["one that is named twice", ["198.51.100.2", "web"], ofWeb],
] as const) {
  test(`release ${words.join(" ")}: ${what}, and nothing else`, async (t) => {
    const node = busyNode(t);
    node.add("other", { subnet: "203.0.113.0/24" }, "aaa");
    node.write("net/198.51.100.77", "old");
    node.write("net/198.51.100.78", "a note");
    node.remember("net", "bbb", "default/web", { interfaceName: "net1" });
    node.remember("net", "old", "q1");
    const reserved = () => new Set([...left(node), ...left(node, "other")]);
    const before = reserved();

    t.equal(release(node, ...words, "--yes", "--force")[0], 0);
    t.same(before.difference(reserved()), new Set(released));
  });
}

test("the address of a live container is refused, with how that is known", {
  skip: lacking("sees the node", "makes namespaces"),
}, async (t) => {
  const { ipv6 } = await ownNetwork(t);
  const node = busyNode(t, ipv6);
  const all = allWith(ipv6);
  const path = join(node.root, "netns");
  mountNamespace(t, path);
  node.remember("net", "aaa", "default/web", { netns: path });
  const processId = await processWith(t, `${ipv6}::3/64`);

  for (const operand of ["198.51.100.2", "default/web"]) {
    const [exitCode, stdout] = release(node, operand, "--yes");
    t.equal(exitCode, 1);
    t.match(
      stdout,
      /\nThe container that holds 198\.51\.100\.2 of net is alive, since its network namespace \/netns exists\.\n(?:.*\n)?Nothing was released\. What is released is handed out again while it may be in use; to release it nevertheless, add --force\.\n$/,
    );
  }
  const [exitCode, stdout] = release(node, "198.51.100.3", "--yes");
  t.equal(exitCode, 1, "its other half is in use");
  t.match(
    stdout,
    `is alive, since process ${processId} runs in a network namespace with another address of its container`,
  );
  t.strictSame(left(node), all);

  node.add("other", { subnet: "203.0.113.0/24" }, "bbb");
  node.age("other/203.0.113.2", 7300);
  t.match(
    release(node, "203.0.113.2", "--yes", "--network", "other"),
    [1, "another address of its container"],
    "what it has of another network is in use",
  );
  t.strictSame(left(node, "other"), ["203.0.113.2"]);

  t.equal(release(node, "198.51.100.2", "--yes", "--force")[0], 0);
  t.strictSame(left(node), all.slice(1));
});

test("the document has what was released, what was left, and why", async (t) => {
  const node = busyNode(t);
  const run = (...words: string[]): unknown =>
    node.json(["release", "198.51.100.2", "--data-dir", node.dataDir, ...words]).document;
  const left = [{ address: "198.51.100.2", alive: null }];

  const counts = (document: unknown) =>
    ["released", "left", "hints"].map(
      (name) => (document as Readonly<Record<string, unknown[]>>)[name]?.length,
    );

  for (const words of ["--yes", "--force"]) {
    const refused = run(words);
    t.match(refused, { left });
    t.same(counts(refused), [0, 1, 0], words);
  }
  const done = run("--force", "--yes");
  t.match(done, { released: left });
  t.same(counts(done), [1, 0, 0]);
  const again = run("--force", "--yes");
  t.match(again, { hints: [{ reason: "unknown" }] });
  t.same(counts(again), [0, 0, 1]);
});

for (const [why, words, text] of [
  [
    "it is not confirmed",
    ["aaa", "--force"],
    `NETWORK  ADDRESS       CONTAINER  INTERFACE  AGE  POD
net      198.51.100.2  aaa        eth0       2h   default/web
net      2001:db8::2   aaa        eth0       2h   default/web
Nothing was released. Use --yes, or answer y at a terminal.
`,
  ],
  [
    "the container id is not complete",
    ["bb", "--yes", "--force"],
    `bb means container bbb: name one, with the complete id, NAMESPACE/NAME, --network or --data-dir.
Nothing was released. Correct this first.
`,
  ],
] as const) {
  test(`nothing is freed where ${why}`, async (t) => {
    const node = busyNode(t);
    t.strictSame(release(node, ...words), [1, text, ""]);
    t.strictSame(left(node), all);
  });
}

test("of several nothing is freed unless each is found, and none is alive", {
  skip: lacking("sees the node", "makes namespaces"),
}, async (t) => {
  const { ipv6 } = await ownNetwork(t);
  const node = busyNode(t, ipv6);
  const all = allWith(ipv6);
  t.strictSame(release(node, "198.51.100.2", "nobody", "198.51.100.99", "--yes", "--force"), [
    1,
    `NETWORK  ADDRESS       CONTAINER  INTERFACE  AGE  POD
net      198.51.100.2  aaa        eth0       2h   default/web
No reservation of nobody is known. Only libcni's cache names pods; see: host-local list --conf-dir /net.d --data-dir /networks --cache-dir /cache
198.51.100.99 has no reservation in net. It is in no range that is known.
Nothing was released. Correct this first.
`,
    "",
  ]);
  t.strictSame(left(node), all);

  await processWith(t, `${ipv6}::3/64`);
  const [exitCode, stdout] = release(node, "198.51.100.2", `${ipv6}::3`, "--yes");
  t.equal(exitCode, 1);
  t.match(stdout, `The container that holds ${ipv6}::3 of net is alive`);
  t.strictSame(left(node), all);
});

test("a name that pods of several namespaces have means none of them", async (t) => {
  const node = busyNode(t);
  node.remember("net", "bbb", "blue/web");
  t.match(release(node, "web", "--yes", "--force"), [
    1,
    /\nweb means pod default\/web, pod blue\/web: name one, with the complete id, NAMESPACE\/NAME, --network or --data-dir\.\nNothing was released\./,
  ]);
  t.strictSame(left(node), all);
});

test("an address in several networks is freed only in the one that is named", async (t) => {
  const node = busyNode(t);
  node.add("other", { subnet: "198.51.100.0/24" }, "ccc");
  node.age("other/198.51.100.2", 7300);
  t.strictSame(release(node, "198.51.100.2", "--yes", "--force"), [
    1,
    `NETWORK  ADDRESS       CONTAINER  INTERFACE  AGE  POD
net      198.51.100.2  aaa        eth0       2h   default/web
other    198.51.100.2  ccc        eth0       2h   -
198.51.100.2 means that of aaa in net (/networks/net), that of ccc in other (/networks/other): name one, with the complete id, NAMESPACE/NAME, --network or --data-dir.
Nothing was released. Correct this first.
`,
    "",
  ]);
  t.equal(release(node, "198.51.100.2", "--yes", "--force", "--network", "other")[0], 0);
  t.strictSame(left(node), all);
  t.strictSame(left(node, "other"), []);
});

for (const [typed, exitCode, freed] of [
  ["y\n", 0, true],
  ["Yes\n", 0, true],
  ["n\n", 1, false],
  ["\n", 1, false],
  ["\u0004", 1, false],
] as const) {
  test(`at a terminal it asks, and ${JSON.stringify(typed)} is ${freed ? "yes" : "no"}`, {
    skip: skipWithoutTerminal,
  }, async (t) => {
    const node = busyNode(t);
    node.write("net/198.51.100.9", "single\r\neth0", 7300);

    const outcome = await converse(node.line(["release", "198.51.100.9"]), () => typed);

    t.equal(outcome.exitCode, exitCode);
    t.match(
      outcome.stdout,
      /net {6}198\.51\.100\.9 {2}single {5}eth0 {7}2h {3}-\r?\nWhether the container that holds 198\.51\.100\.9 of net is alive is not known: no process has the address.*\.\r?\nRelease this address\? \[y\/N\] /,
    );
    t.strictSame(left(node).includes("198.51.100.9"), !freed);
  });
}

test("an address that is written anew before the answer comes is left alone", {
  skip: skipWithoutTerminal,
}, async (t) => {
  const node = busyNode(t);

  const outcome = await converse(node.line(["release", "aaa"]), () => {
    writeFileSync(join(node.dataDir, "net/198.51.100.2"), "aaa\r\neth0");
    return "y\n";
  });

  t.equal(outcome.exitCode, 1);
  t.match(
    outcome.stdout,
    "198.51.100.2 of net changed in the meantime and was not released; try again.\n",
  );
  t.strictSame(
    left(node),
    all.filter((address) => address !== "2001:db8::2"),
  );
});

test("a network that stays locked is an error, and nothing is freed", async (t) => {
  const node = busyNode(t);
  const section = { type: "host-local", dataDir: node.dataDir, ...ipam, lockTimeoutSeconds: 0.2 };
  node.configure("net.conf", { cniVersion: "1.0.0", name: "net", type: "bridge", ipam: section });
  await holdLock(t, node.dataDir);

  const [exitCode, stdout, stderr] = release(node, "aaa", "--yes", "--force");

  t.strictSame([exitCode, stdout], [2, ""]);
  t.match(
    stderr,
    /^host-local: network net is locked; gave up after 0\.2 s; .* nothing was changed/,
  );
  t.strictSame(left(node), all);
});
