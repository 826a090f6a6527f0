// test: each executable, one if short
/** `gc` beside pods that live: with network namespaces of their own, whatever the list says. */

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { executable } from "../../harness/executable.ts";
import {
  mountNamespace,
  processWith,
  skipOutsideHost,
  startStranger,
} from "../../harness/network-namespaces.ts";
import { tool } from "../../harness/tool.ts";
import { handOver, withoutPrivileges } from "../../harness/unprivileged.ts";
import { exampleOf, formOf } from "../json-examples.ts";
import { type Node, nodeFor } from "../node.ts";
import { HOUR, listOf, type NodeWithPods, nodeWithPods } from "./pods-on-node.ts";

/** The reason for tap to skip what needs a process with fewer capabilities, or false where there can be one. */
const skipWithoutSetpriv: string | false =
  spawnSync("setpriv", ["--bounding-set=-sys_ptrace", "true"]).status === 0
    ? false
    : "Taking a capability away takes root, and the program setpriv.";

function podsOn(t: Test, ...ids: readonly string[]): NodeWithPods {
  return nodeWithPods(t, "10.7.6", ids);
}

/** A directory for network namespaces. */
function namespacesOf(node: Node): string {
  const directory = join(node.root, "netns");
  mkdirSync(directory);
  return directory;
}

/** A program that is the executable without one capability. */
function without(node: Node, capability: string): string {
  const program = join(node.root, `without-${capability}`);
  const start = `#!/bin/sh\nexec setpriv --bounding-set=-${capability} ${executable} "$@"\n`;
  writeFileSync(program, start, { mode: 0o755 });
  return program;
}

const listed = ["gc", "net", "--live-command", listOf("listed"), "--now", "--yes"];

test("a list that one process contradicts condemns nobody, whatever it lacks besides", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = podsOn(t, "listed", "mounted", "process", "unknown");
  const directory = namespacesOf(node);
  mountNamespace(t, join(directory, "mounted"), "10.7.6.3/24");
  const processId = await processWith(t, "10.7.6.4/24");
  node.remember("net", "process", "default/web");
  await startStranger(t);

  const { exitCode, stdout, stderr } = node.tool(listed);

  t.equal(exitCode, 1);
  t.match(stdout, /10\.7\.6\.3 .* alive, though not in the list: .* no process runs there\n/);
  t.match(stdout, /10\.7\.6\.4 .* alive, though not in the list: process/);
  t.match(stdout, "4 reservations: 3 alive, 0 in the grace period, 1 unknown");
  t.equal(
    stderr,
    `host-local: net: the list is wrong: it lacks the holder of 10.7.6.4 (default/web, container process), which is alive: process ${processId} runs in a network namespace with this address. Nothing is released by the list there\n`,
  );
  t.equal(node.reserved().length, 4);
  t.match(node.json(listed), {
    document: { networks: [{ inUse: 2, alive: 1, unknown: 1, refused: /the list is wrong/ }] },
  });
});

test("a cut list releases nothing while processes run in more namespaces than it has containers left for", {
  skip: skipOutsideHost,
}, async (t) => {
  // Virtual machines: the kernel has no address of theirs.
  const node = podsOn(t, "one", "two", "three");
  for (let pod = 0; pod < 3; pod++) await startStranger(t);
  const words = ["gc", "net", "--live-command", "printf 'one\\ntwo\\n'", "--now", "--yes"];

  t.match(node.tool(words), {
    exitCode: 1,
    stderr:
      /^host-local: net: [0-9]+ network namespaces with processes, such as \/proc\/[0-9]+\/ns\/net, belong to no known container, but the list has only 2 whose /,
  });
  t.equal(node.reserved().length, 3);
  t.equal(node.tool([...words, "--force"]).exitCode, 0);
  t.same(node.reserved(), ["10.7.6.2", "10.7.6.3"]);
});

test("what is dead without the list is released beside one that is wrong", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = podsOn(t, "listed", "process", "gone");
  const directory = namespacesOf(node);
  node.remember("net", "gone", "", { netns: join(directory, "gone") });
  await processWith(t, "10.7.6.3/24");

  t.equal(node.tool(listed).exitCode, 1);
  t.same(node.reserved(), ["10.7.6.2", "10.7.6.3"]);
});

test("a list is believed again once nothing contradicts it, and from then on counted", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = podsOn(t, "listed", "process", "unknown");
  await processWith(t, "10.7.6.3/24");
  await startStranger(t);
  const run = (...ids: readonly string[]) =>
    node.json(["gc", "net", "--live-command", listOf(...ids), "--yes"]);

  t.match(run("listed", "process"), { document: { dead: [{ address: "10.7.6.4" }] } });
  node.letTimePass(HOUR);
  t.match(run("listed"), { exitCode: 1, document: { dead: [] } }, "the list is wrong");
  t.match(run("listed", "process"), { document: { dead: [{ state: "waiting" }] } });
  node.letTimePass(HOUR);
  t.match(run("listed", "process"), { document: { dead: [{ state: "released" }] } });
});

test("a sandbox that the runtime has lost is kept, also by two runs: its address still answers", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = podsOn(t, "listed", "lost");
  const directory = namespacesOf(node);
  mountNamespace(t, join(directory, "lost"), "10.7.6.3/24");
  const words = ["gc", "net", "--live-command", listOf("listed"), "--grace", "0s", "--yes"];

  for (let run = 0; run < 2; run++) {
    t.match(node.tool([...words, "--now"]).stdout, /alive, though not in the list: .* no process/);
  }
  t.same(node.reserved(), ["10.7.6.2", "10.7.6.3"]);
});

test("without the right to enter namespaces, one that is only mounted makes unknown, not dead", {
  skip: skipOutsideHost || skipWithoutSetpriv,
}, async (t) => {
  const node = podsOn(t, "mounted", "other");
  const directory = namespacesOf(node);
  mountNamespace(t, join(directory, "mounted"), "10.7.6.2/24");

  const outcome = node.tool(["gc", "--now", "--yes"], { program: without(node, "sys_admin") });

  t.match(outcome, {
    exitCode: 1,
    stderr:
      /of 2 of 2 reservations it is not known .* cannot be entered, which takes CAP_SYS_ADMIN\. A list /,
  });
  t.equal(node.reserved().length, 2);
});

test("a process that may not be inspected shows, too, that its pod lives", {
  skip: skipOutsideHost || skipWithoutSetpriv,
}, async (t) => {
  const node = podsOn(t, "listed", "process", "dead");
  await processWith(t, "10.7.6.3/24");

  const { stdout } = node.tool(listed, { program: without(node, "sys_ptrace") });

  t.match(stdout, /10\.7\.6\.3 .* alive, though not in the list: process/);
  t.equal(node.reserved().length, 3);
});

test("the document has the form of its example", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = podsOn(t, "listed", "process", "gone");
  node.remember("net", "gone", "", { netns: "/run/netns/cni-gone" });
  await processWith(t, "10.7.6.3/24");

  const { document } = node.json(["gc", "net", "--live-command", listOf("listed")]);

  t.same(formOf(document), formOf(exampleOf("gc")));
});

test("an empty list is wrong, too, if a pod lives", { skip: skipOutsideHost }, async (t) => {
  const node = podsOn(t, "process");
  await processWith(t, "10.7.6.2/24");

  t.match(node.tool(["gc", "--live-command", "true", "--now", "--yes", "--force"]), {
    exitCode: 1,
    stderr: /^host-local: net: the list is wrong: .*\n$/,
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

test("what is gone by its network namespace, too, is not too much", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = podsOn(t, "listed", "c2", "c3", "c4");
  for (const id of ["c2", "c3", "c4"]) {
    node.remember("net", id, "", { netns: `/run/netns/cni-${id}` });
  }

  t.equal(node.tool(listed).exitCode, 0);
  t.same(node.reserved(), ["10.7.6.2"]);
});

/** The id of a process that has ended. */
const endedProcess = spawnSync("true").pid;

test("the namespace of a process is that of a container only while it has its addresses", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = podsOn(t, "alive", "ended", "of-node", "of-other");
  await startStranger(t);
  const processId = await processWith(t, "10.7.6.2/24");
  for (const [id, named, address] of [
    ["alive", processId, "10.7.6.2/24"],
    ["ended", endedProcess, "10.7.6.3/24"],
    ["of-node", process.pid, "10.7.6.4/24"],
    ["of-other", processId, "10.7.6.5/24"],
  ] as const) {
    node.remember("net", id, "", { netns: `/proc/${named}/ns/net`, addresses: [address] });
  }

  t.match(node.json(["gc", "--now", "--yes"]), {
    exitCode: 1,
    document: {
      networks: [{ alive: 1, released: 2, unknown: 1 }],
      dead: [{ container: "ended" }, { container: "of-node" }],
      undecided: [{ container: "of-other", reason: /now has other addresses/ }],
    },
  });
});

test("without privileges gc keeps the pods of others, and says what it takes", {
  skip: skipOutsideHost,
}, async (t) => {
  const node = podsOn(t, "c1");
  const processId = await processWith(t);
  node.remember("net", "c1", "", { netns: `/proc/${processId}/ns/net` });
  for (const path of ["", "net", "net/10.7.6.2"]) handOver(join(node.dataDir, path));

  t.match(node.tool(["gc", "--now", "--yes"], withoutPrivileges(t)), {
    exitCode: 1,
    stderr: /are not seen from here, which takes CAP_SYS_PTRACE/,
  });
  t.same(node.reserved(), ["10.7.6.2"]);
});

test("a dry run proposes the command that decided", { skip: skipOutsideHost }, async (t) => {
  const node = podsOn(t, "gone");
  node.remember("net", "gone", "", { netns: "/run/netns/cni-gone" });
  const place = `--conf-dir ${node.confDir} --data-dir ${node.dataDir} --cache-dir ${node.cacheDir}`;

  t.match(node.tool(["gc", "net", "--now"]), {
    exitCode: 1,
    stdout: `To release: host-local gc --yes net --now ${place}\n`,
  });
  t.match(
    node.tool(["gc", "net", "--live-command", "echo c9", "--grace", "5m"]).stdout,
    `To release: host-local gc --yes net --live-command 'echo c9' --grace 5m ${place}\n`,
  );
  t.match(
    tool(["gc", "--now", "--data-dir", node.dataDir, "--cache-dir", node.cacheDir, "--", "net"], {
      environment: { NETCONFPATH: node.confDir },
    }).stdout,
    `gc --yes --conf-dir ${node.confDir} --now --data-dir ${node.dataDir} --cache-dir ${node.cacheDir} -- net\n`,
  );
  node.tool(["release", "10.7.6.2", "--yes"]);
  t.notMatch(node.tool(["gc", "net"]).stdout, "To release:", "there is nothing to release");
});
