// test: each executable, one if short
/** `gc` beside pods that live: with network namespaces of their own, whatever the list says. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { executable } from "../../harness/executable.ts";
import {
  mountNamespace,
  processWith,
  skipOutsideHost,
  skipWithoutNamespaces,
} from "../../harness/network-namespaces.ts";
import { handOver, withoutPrivileges } from "../../harness/unprivileged.ts";
import { exampleOf, formOf } from "../json-examples.ts";
import { type Node, nodeFor } from "../node.ts";

const HOUR = 3600;

/** The reason for tap to skip what needs a process with fewer capabilities, or false where there can be one. */
const skipWithoutSetpriv: string | false =
  spawnSync("setpriv", ["--bounding-set=-sys_ptrace", "true"]).status === 0
    ? false
    : "Taking a capability away takes root, and the program setpriv.";

/** A node with the network `net` and these pods, all of them an hour old. */
function nodeWithPods(t: Test, ...ids: readonly string[]): Node {
  const node = nodeFor(t);
  node.network("net", { subnet: "10.7.6.0/24" });
  ids.forEach((id, index) => {
    node.call("ADD", "net", id);
    node.age(`net/10.7.6.${index + 2}`, HOUR);
  });
  return node;
}

/** Which of the first addresses are reserved. */
function reservedOn({ dataDir }: Node): readonly string[] {
  return [2, 3, 4, 5, 6]
    .map((last) => `10.7.6.${last}`)
    .filter((name) => existsSync(join(dataDir, "net", name)));
}

/** A directory with network namespaces at these names. */
function namespacesOf(t: Test, node: Node, ...names: readonly string[]): string {
  const directory = join(node.root, "netns");
  mkdirSync(directory);
  for (const name of names) mountNamespace(t, join(directory, name));
  return directory;
}

/** A node with two pods by libcni's cache, of which the second, 10.7.6.3, has no network namespace any more. */
function nodeWithGonePod(t: Test): Node {
  const node = nodeWithPods(t, "alive", "gone");
  const directory = namespacesOf(t, node, "alive");
  for (const id of ["alive", "gone"]) {
    node.remember("net", id, "", { netns: join(directory, id) });
  }
  return node;
}

const listed = ["gc", "net", "--live-command", "echo listed", "--now", "--yes"];

test("a list that was cut releases no pod whose network namespace exists", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = nodeWithPods(t, "listed", "mounted", "process", "dead");
  const directory = namespacesOf(t, node, "mounted");
  node.remember("net", "mounted", "default/web", { netns: join(directory, "mounted") });
  const processId = await processWith(t, "10.7.6.4/24");

  const { exitCode, stdout, stderr } = node.tool(listed);

  t.equal(exitCode, 1);
  t.match(stdout, /10\.7\.6\.3 .* kept: listed as dead, but its network namespace still exists\n/);
  t.match(stdout, /10\.7\.6\.4 .* kept: listed as dead, but its network namespace still exists\n/);
  t.match(stderr, /2 of 4 reservations are listed as dead, but their network namespaces still/);
  t.same(reservedOn(node), ["10.7.6.2", "10.7.6.3", "10.7.6.4"]);
  t.match(node.json(listed), {
    exitCode: 1,
    document: {
      networks: [{ inUse: 2, alive: 1, due: 0 }],
      undecided: [
        { container: "mounted", state: "inUse", reason: /network namespace .*mounted exists/ },
        { container: "process", state: "inUse", reason: new RegExp(`process ${processId} runs`) },
      ],
    },
  });
  t.equal(node.tool([...listed, "--ignore-netns"]).exitCode, 0);
  t.same(reservedOn(node), ["10.7.6.2"]);
});

test("a process that may not be inspected shows, too, that its pod lives", {
  skip: skipOutsideHost || skipWithoutSetpriv,
}, async (t) => {
  const node = nodeWithPods(t, "listed", "process", "dead");
  await processWith(t, "10.7.6.3/24");
  const program = join(node.root, "without-ptrace");
  const start = `#!/bin/sh\nexec setpriv --bounding-set=-sys_ptrace ${executable} "$@"\n`;
  writeFileSync(program, start, { mode: 0o755 });

  t.match(node.tool(listed, { program }).stdout, /10\.7\.6\.3 .* kept: listed as dead, but its/);
  t.same(reservedOn(node), ["10.7.6.2", "10.7.6.3"]);
});

test("the document has the form of the example in docs/operator-json.md", {
  skip: skipWithoutNamespaces,
}, (t) => {
  const node = nodeWithPods(t, "listed", "mounted", "dead");
  const directory = namespacesOf(t, node, "mounted");
  node.remember("net", "mounted", "", { netns: join(directory, "mounted") });

  const { document } = node.json(["gc", "net", "--live-command", "echo listed"]);

  t.same(formOf(document), formOf(exampleOf("gc")));
  t.end();
});

test("an empty list is refused, also if every pod lives", { skip: skipOutsideHost }, async (t) => {
  const node = nodeWithPods(t, "process");
  await processWith(t, "10.7.6.2/24");

  t.match(node.tool(["gc", "--live-command", "true", "--now", "--yes"]), {
    exitCode: 1,
    stderr: /^host-local: the list of live containers is empty; nothing was released\..*\n$/,
  });
});

test("a pod whose namespace has one of its addresses keeps the other, too", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = nodeFor(t);
  node.network("net", { ranges: [[{ subnet: "10.7.6.0/24" }], [{ subnet: "fd74:6::/64" }]] });
  for (const id of ["listed", "process"]) node.call("ADD", "net", id);
  for (const name of ["10.7.6.2", "10.7.6.3", "fd74:6::2", "fd74:6::3"]) {
    node.age(`net/${name}`, HOUR);
  }
  await processWith(t, "10.7.6.3/24");

  t.match(node.json(listed), { exitCode: 1, document: { networks: [{ alive: 2, inUse: 2 }] } });
});

test("a pod is kept in every run, not only in the first", { skip: skipOutsideHost }, async (t) => {
  const node = nodeWithPods(t, "listed", "process");
  await processWith(t, "10.7.6.3/24");
  const words = ["gc", "net", "--live-command", "echo listed", "--yes", "--grace", "0s"];

  for (const run of [1, 2, 3]) t.equal(node.tool(words).exitCode, 1, `run ${run}`);
  t.same(reservedOn(node), ["10.7.6.2", "10.7.6.3"]);
});

test("what is gone by its network namespace, too, is not too much", {
  skip: skipWithoutNamespaces,
}, (t) => {
  const node = nodeWithPods(t, "listed", "c2", "c3", "c4");
  const directory = namespacesOf(t, node, "listed");
  for (const id of ["c2", "c3", "c4"]) {
    node.remember("net", id, "", { netns: join(directory, id) });
  }

  t.equal(node.tool(listed).exitCode, 0);
  t.same(reservedOn(node), ["10.7.6.2"]);
  t.end();
});

test("--by-netns releases what has no network namespace where others are mounted", {
  skip: skipWithoutNamespaces,
}, (t) => {
  const node = nodeWithGonePod(t);

  t.equal(node.tool(["gc", "--by-netns", "--now", "--yes"]).exitCode, 0);
  t.same(reservedOn(node), ["10.7.6.2"]);
  t.end();
});

/** The id of a process that has ended. */
const endedProcess = spawnSync("true").pid;

test("--by-netns: the namespace of a process is that of a container only while it has its addresses", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = nodeWithPods(t, "alive", "ended", "of-node", "of-other");
  const processId = await processWith(t, "10.7.6.2/24");
  for (const [id, named, address] of [
    ["alive", processId, "10.7.6.2/24"],
    ["ended", endedProcess, "10.7.6.3/24"],
    ["of-node", process.pid, "10.7.6.4/24"],
    ["of-other", processId, "10.7.6.5/24"],
  ] as const) {
    node.remember("net", id, "", { netns: `/proc/${named}/ns/net`, addresses: [address] });
  }

  t.match(node.json(["gc", "--by-netns", "--now", "--yes"]), {
    exitCode: 1,
    document: {
      networks: [{ alive: 1, released: 2, unknown: 1 }],
      dead: [{ container: "ended" }, { container: "of-node" }],
      undecided: [{ container: "of-other", reason: /now has other addresses$/ }],
    },
  });
});

test("--by-netns without privileges keeps the pods of others, and says what it takes", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = nodeWithPods(t, "c1");
  const processId = await processWith(t);
  node.remember("net", "c1", "", { netns: `/proc/${processId}/ns/net` });
  for (const path of ["", "net", "net/10.7.6.2"]) handOver(join(node.dataDir, path));

  const words = ["gc", "--by-netns", "--now", "--yes"];
  t.match(node.tool(words, withoutPrivileges(t)), {
    exitCode: 1,
    stderr: /exist cannot be seen; run this on the node itself, as root/,
  });
  t.same(reservedOn(node), ["10.7.6.2"]);
});

test("--by-netns keeps what it cannot see, and says so", { skip: skipWithoutNamespaces }, (t) => {
  const node = nodeWithPods(t, "unmounted", "unseen", "relative");
  const directory = namespacesOf(t, node);
  node.write("../netns/unmounted", "");
  node.remember("net", "unmounted", "", { netns: join(directory, "unmounted") });
  node.remember("net", "unseen", "", { netns: join(directory, "none", "unseen") });
  node.remember("net", "relative", "", { netns: "netns/relative" });

  t.match(node.tool(["gc", "--by-netns", "--now", "--yes"]), {
    exitCode: 1,
    stderr: /3 of 3 reservations cannot be decided .* whether their network namespaces exist/,
  });
  t.equal(reservedOn(node).length, 3);
  t.end();
});

test("--by-netns without namespaces in the cache says what to use instead", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = nodeWithPods(t, "c1", "c2", "c3");
  node.remember("net", "c1", "default/web");
  node.remember("net", "c2", "default/db");
  await processWith(t, "10.7.6.3/24");

  t.match(node.tool(["gc", "--by-netns", "--now", "--yes"]), {
    exitCode: 1,
    stdout: /3 reservations: 1 alive, 0 in the grace period, 2 unknown/,
    stderr:
      /1 of 3 reservations .* names no network namespace for them, .* libcni before 1\.3\. Use --live-command 'crictl pods -q'\n.*1 of 3 reservations .* does not know their containers\. Use --live-command 'crictl pods -q'\n/,
  });
  t.equal(reservedOn(node).length, 3);
});

test("without a source it is a dry run by network namespaces", {
  skip: skipWithoutNamespaces,
}, (t) => {
  const node = nodeWithGonePod(t);

  const { exitCode, stdout } = node.tool(["gc", "net", "--now"]);

  t.equal(exitCode, 1);
  t.match(stdout, /10\.7\.6\.3 .* dead; released with --yes\n/);
  t.match(
    stdout,
    `To release: host-local gc net --live-command 'crictl pods -q' --yes --conf-dir ${node.confDir} --data-dir ${node.dataDir} --cache-dir ${node.cacheDir}\n`,
  );
  t.match(node.tool(["gc", "net", "--yes"]), { exitCode: 2, stderr: /--yes needs one of --live/ });
  node.tool(["release", "10.7.6.3", "--yes"]);
  t.notMatch(node.tool(["gc", "net"]).stdout, "To release:", "there is nothing to release");
  t.equal(reservedOn(node).length, 1);
  t.end();
});
