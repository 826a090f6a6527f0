// test: each executable, one if short
/** `gc` beside pods that live: with network namespaces of their own, whatever the list says. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { executable } from "../../harness/executable.ts";
import {
  mountNamespace,
  processWith,
  skipOutsideHost,
  startStranger,
} from "../../harness/network-namespaces.ts";
import { handOver, withoutPrivileges } from "../../harness/unprivileged.ts";
import type { Node } from "../node.ts";
import { listOf, type NodeWithPods, nodeWithPods } from "./pods-on-node.ts";

/** The reason for tap to skip what needs a process with fewer capabilities, or false where there can be one. */
const skipWithoutSetpriv: string | false =
  spawnSync("setpriv", ["--bounding-set=-sys_ptrace", "true"]).status === 0
    ? false
    : "Taking a capability away takes root, and the program setpriv.";

function podsOn(t: Test, ...ids: readonly string[]): NodeWithPods {
  return nodeWithPods(t, "10.7.6", ids);
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
  mountNamespace(t, join(node.root, "mounted"), "10.7.6.3/24");
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
    (node: Node, t: Test) => {
      for (const path of ["", "net", ...pods.map((at) => `net/10.7.6.${at}`)]) {
        handOver(join(node.dataDir, path));
      }
      return withoutPrivileges(t);
    },
    /are not seen from here, which takes CAP_SYS_PTRACE/,
    1,
  ],
] as const) {
  test(`${who} nothing is released of what is not seen, and a process still shows that its pod lives`, {
    skip: skipOutsideHost || skipWithoutSetpriv,
  }, async (t) => {
    const node = podsOn(t, "mounted", "process", "dead");
    mountNamespace(t, join(node.root, "mounted"), "10.7.6.2/24");
    await processWith(t, "10.7.6.3/24");
    await startStranger(t);

    const { exitCode, stdout, stderr } = node.tool(["gc", "--now", "--yes"], optionsOf(node, t));

    t.equal(exitCode, 1);
    t.match(stderr, message);
    t.match(stdout, `3 reservations: ${alive} alive, 0 in the grace period, ${3 - alive} unknown`);
    t.equal(node.reserved().length, 3);
  });
}

/** The last parts of the pods' addresses. */
const pods = [2, 3, 4];
