// test: each executable, one if short, sees the node, makes namespaces, acts as others
/** `gc` beside pods that live: with network namespaces of their own, whatever the list says. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { shellQuote } from "../../../src/cli/output/shell-word.ts";
import { executable } from "../../harness/executable.ts";
import { lacking } from "../../harness/needs.ts";
import { mountNamespace, processWith, startStranger } from "../../harness/network-namespaces.ts";
import { ownNetwork } from "../../harness/own-network.ts";
import { handOver, withoutPrivileges } from "../../harness/unprivileged.ts";
import type { Node } from "../node.ts";
import { listOf, type NodeWithPods, nodeWithPods } from "./pods-on-node.ts";

const skip = lacking("sees the node", "makes namespaces", "acts as others");

/** A program that is the executable without one capability. */
function without(node: Node, capability: string): string {
  const program = join(node.root, `without-${capability}`);
  const start = `#!/bin/sh\nexec setpriv --bounding-set=-${capability} ${shellQuote(executable)} "$@"\n`;
  writeFileSync(program, start, { mode: 0o755 });
  return program;
}

const listed = ["gc", "net", "--live-command", listOf("listed"), "--now", "--yes"];

test("a list that one process contradicts condemns nobody, whatever it lacks besides", {
  skip,
}, async (t) => {
  const { ipv4 } = await ownNetwork(t);
  const node = nodeWithPods(t, ipv4, ["listed", "mounted", "process", "unknown"]);
  mountNamespace(t, join(node.root, "mounted"), `${ipv4}.3/24`);
  const processId = await processWith(t, `${ipv4}.4/24`);
  node.remember("net", "process", "default/web");
  await startStranger(t);

  const { exitCode, stdout, stderr } = node.tool(listed);

  t.equal(exitCode, 1);
  t.match(stdout, "4 reservations: 3 alive, 1 undecided");
  t.match(stderr, `default/web (container process) with ${ipv4}.4: process ${processId} runs`);
  t.equal(node.reserved().length, 4);
  t.match(node.json(listed), {
    document: {
      networks: [{ alive: 3, unknown: 1, refused: /lacks a running container/ }],
    },
  });
});

for (const [who, optionsOf, message, alive] of [
  [
    "without CAP_SYS_ADMIN",
    (node: Node) => ({ program: without(node, "sys_admin") }),
    / cannot be entered, which takes CAP_SYS_ADMIN\. A list /,
    1,
  ],
  [
    "without CAP_SYS_PTRACE",
    (node: Node) => ({ program: without(node, "sys_ptrace") }),
    /are not seen from here, which takes CAP_SYS_PTRACE/,
    2,
  ],
  [
    "as another user",
    (node: NodeWithPods, t: Test) => {
      const reservations = node.reserved().map((address) => `net/${address}`);
      for (const path of ["", "net", ...reservations]) handOver(join(node.dataDir, path));
      return withoutPrivileges(t);
    },
    /are not seen from here, which takes CAP_SYS_PTRACE/,
    1,
  ],
] as const) {
  test(`${who} nothing unseen is released, and a process still shows that its pod lives`, {
    skip,
  }, async (t) => {
    const { ipv4 } = await ownNetwork(t);
    const node = nodeWithPods(t, ipv4, ["mounted", "process", "dead"]);
    mountNamespace(t, join(node.root, "mounted"), `${ipv4}.2/24`);
    await processWith(t, `${ipv4}.3/24`);
    await startStranger(t);

    const { exitCode, stdout, stderr } = node.tool(["gc", "--now", "--yes"], optionsOf(node, t));

    t.equal(exitCode, 1);
    t.match(stderr, message);
    t.match(stdout, `3 reservations: ${alive} alive, ${3 - alive} undecided`);
    t.equal(node.reserved().length, 3);
  });
}
