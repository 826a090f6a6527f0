// test: each executable, one if short, sees the node, makes namespaces, acts as others
/** list: every reservation of one network or of all. */

import { chmodSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { t as root, type Test, test } from "tap";
import { shellCommand } from "../../../src/operator/next-command.ts";
import { executable, run } from "../../harness/executable.ts";
import { lacking } from "../../harness/needs.ts";
import {
  mountNamespace,
  processWith,
  startStranger,
  takeNamespace,
  withHighNumber,
} from "../../harness/network-namespaces.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { skipWithoutTerminal } from "../../harness/terminal.ts";
import { withoutPrivileges } from "../../harness/unprivileged.ts";
import { type Node, nodeFor } from "../node.ts";

// What nothing shows to be alive is not known to be dead.
await startStranger(root);

const LONG_ID = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

test("reservations are sorted by address, IPv4 first, with their ages and pods", async (t) => {
  const node = nodeFor(t);
  for (const [address, content, age] of [
    ["198.51.100.2", "a\r\neth0", 3 * 3600],
    ["198.51.100.9", "legacy", 3 * 3600],
    ["198.51.100.12", "", 3 * 3600],
    ["203.0.113.2", `${LONG_ID}\r\nnet1`, 100],
    ["2001:db8::a", "b\r\neth0", 3 * 86400],
    ["2001:db8::2", "a\r\neth0", 3 * 86400],
  ] as const) {
    node.write(`net/${address}`, content, age);
  }
  node.remember("net", "a", "default/web");
  node.remember("net", "legacy", "kube-system/dns");

  const answer = node.tool(["list", "net"]);
  // A busy machine may take some seconds from the one line to the other.
  t.strictSame(
    { ...answer, stdout: answer.stdout.replace(/\b10\ds\b/, "100s") },
    {
      exitCode: 0,
      stdout: `NETWORK  ADDRESS        CONTAINER                                                         INTERFACE  AGE   POD
net      198.51.100.2   a                                                                 eth0       3h    default/web
net      198.51.100.9   legacy                                                            -          3h    kube-system/dns
net      198.51.100.12  -                                                                 -          3h    -
net      203.0.113.2    ${LONG_ID}  net1       100s  -
net      2001:db8::2    a                                                                 eth0       3d    default/web
net      2001:db8::a    b                                                                 eth0       3d    -
`,
      stderr: "",
    },
  );
});

test("the document names network, address, owner, time, range and path", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "198.51.100.0/24" });
  const path = node.write("net/198.51.100.2", "c1\r\neth0");
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  node.remember("net", "c1", "default/web");

  const reservation = {
    ...{ network: "net", address: "198.51.100.2", container: "c1", interface: "eth0" },
    ...{ pod: "default/web", owner: "attachment", since: "2023-11-14T22:13:20.000Z" },
    ...{
      range: { first: "198.51.100.1", last: "198.51.100.254" },
      alive: null,
      path,
    },
  };
  t.match(node.json(["list"]), { exitCode: 0, document: { reservations: [reservation] } });
});

test("the headings can be left out, so that grep and sort take the lines", async (t) => {
  const node = nodeWithPods(t);
  t.match(node.tool(["list", "--no-headers"]).stdout, /^net {2}198\.51\.100\.2 .*\n.*\n.*\n$/);
});

test("an empty data directory gives the headings alone", async (t) => {
  const node = nodeFor(t);
  t.strictSame(node.tool(["list"]), {
    exitCode: 0,
    stdout: "NETWORK  ADDRESS  CONTAINER  INTERFACE  AGE  POD\n",
    stderr: "",
  });
  t.strictSame(node.json(["list"]).document, { reservations: [] });
});

test("reservations that may not be read are listed, and the error is logged", {
  skip: lacking("acts as others"),
}, async (t) => {
  const node = nodeFor(t);
  node.add("net", { subnet: "198.51.100.0/24" }, "c1");
  node.add("net", { subnet: "198.51.100.0/24" }, "c2");
  chmodSync(join(node.cacheDir, "results"), 0o700);
  chmodSync(join(node.dataDir, "net/198.51.100.3"), 0o644);
  node.age("net/198.51.100.2", 7300);
  node.age("net/198.51.100.3", 7300);

  const answer = node.tool(["list"], withoutPrivileges(t));

  t.strictSame(answer, {
    exitCode: 0,
    stdout: `NETWORK  ADDRESS       CONTAINER  INTERFACE  AGE  POD
net      198.51.100.2  ?          -          2h   -
net      198.51.100.3  c2         eth0       2h   -
`,
    stderr: `host-local: pods are unknown: open ${node.cacheDir}/results: permission denied
host-local: cannot read all reservations: open ${node.dataDir}/net/198.51.100.2: permission denied
`,
  });
});

/** A node with pods of two namespaces, and a container without a pod. */
function nodeWithPods(t: Pick<Test, "teardown">): Node {
  const node = nodeFor(t);
  node.write("net/198.51.100.2", `${LONG_ID}\r\neth0`, 7300);
  node.write("net/198.51.100.3", "b\r\neth0", 3 * 3600);
  node.write("net/198.51.100.4", "c\r\neth0", 4 * 3600);
  node.remember("net", LONG_ID, "kube-system/coredns-7d89d9b6b8-x7k2p");
  node.remember("net", "b", "default/web");
  return node;
}

test("whether containers are alive is a column where it is known", {
  skip: lacking("sees the node", "makes namespaces"),
}, async (t) => {
  const node = nodeWithPods(t);
  const processId = await processWith(t);
  node.remember("net", "b", "default/web", { netns: `/proc/${processId}/ns/net` });
  // Its namespace was recorded: no other namespace of this machine may be its own.
  rmSync(join(node.dataDir, "net/198.51.100.4"));
  const netns = join(node.root, "pod");
  withHighNumber(() => mountNamespace(t, netns));
  const cniArgs = "IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=c";
  node.add("net", { subnet: "198.51.100.0/24" }, "c", { netns, cniArgs });
  takeNamespace(netns);

  t.match(
    node.tool(["list", "net"]).stdout,
    /AGE +ALIVE +POD\n.* - +kube-system.*\n.* b .* yes +default\/web\n.* c .* no +-\n/,
  );
  const { reservations } = JSON.parse(node.tool(["list", "net", "--json"]).stdout);
  t.match(reservations, [
    { address: "198.51.100.2", alive: null },
    { address: "198.51.100.3", alive: true },
    { address: "198.51.100.4", alive: false },
  ]);
});

test("the width is the terminal's own without COLUMNS", {
  skip: skipWithoutTerminal,
}, async (t) => {
  const node = nodeWithPods(t);
  const command = shellCommand([executable, ...node.line(["list", "net"])]);

  const { stdout } = run("script", {
    environment: { ...runtimeEnvironment, TERM: "xterm" },
    stdin: "",
    arguments: ["-qec", `stty cols 60; ${command}`, "/dev/null"],
  });

  t.equal(
    stdout.replaceAll("\r\n", "\n"),
    `ADDRESS       CONTAINER      AGE  POD
198.51.100.2  0123456789abc  2h   kube-system/
                                  coredns-7d89d9b6b8-x7k2p
198.51.100.3  b              3h   default/web
198.51.100.4  c              4h   -
`,
  );
});
