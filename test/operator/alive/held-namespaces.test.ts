// test: each executable, sees the node, makes namespaces
/** What lives although its path is gone: by a descriptor alone, by a thread, or by a process of which nothing tells whose it is. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { parse } from "yaml";
import { createNodeSystem } from "../../../src/system/node/node-system.ts";
import { injectionObstacle } from "../../faults/executables/injection.ts";
import { executable } from "../../harness/executable.ts";
import { lacking } from "../../harness/needs.ts";
import {
  mountNamespace,
  processWithInterface,
  processWithOpen,
  processWithThreadIn,
  takeNamespace,
} from "../../harness/network-namespaces.ts";
import { ownNetwork } from "../../harness/own-network.ts";
import { inRepository } from "../../harness/repository.ts";
import { withoutHandles } from "../../harness/without-handles.ts";
import { nodeFor } from "../node.ts";

const skip = lacking("sees the node", "makes namespaces");

const skipWithoutHandles =
  skip ||
  (createNodeSystem().namespaceHandle("/proc/self/ns/net") === undefined &&
    "This kernel gives no handles of namespaces, as Linux does since 6.18.");

/** Releases at once what is dead. */
const collect = ["gc", "net", "--grace", "0s", "--now", "--yes"];

/** A node with a network of which a pod has an address, for a mounted network namespace. */
async function nodeWithPod(t: Test, program = executable) {
  const { ipv4 } = await ownNetwork(t);
  const node = nodeFor(t);
  const ipam = { subnet: `${ipv4}.0/24` };
  node.network("net", ipam);
  const netns = join(node.root, "pod");
  mountNamespace(t, netns);
  const cniArgs = "IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=pod";
  node.add("net", ipam, "pod", { netns, cniArgs, program });
  const address = `${ipv4}.2`;
  return {
    ...node,
    netns,
    address,
    isReserved: () => existsSync(join(node.dataDir, "net", address)),
    /** What `show` says of the pod, by a program. */
    shown: (start: readonly string[] = [executable]): string => {
      const [file = "", ...words] = start;
      const line = node.line([...words, "show", address, "--json"]);
      return spawnSync(file, line, { encoding: "utf8" }).stdout;
    },
  };
}

/** Starts a program with the capabilities of a list, as `SYS_ADMIN`, and no others. */
function limitedTo(capabilities: readonly string[]): readonly string[] {
  const set = capabilities.map((name) => `+${name.toLowerCase()}`);
  return ["setpriv", "--no-new-privs", `--bounding-set=-all,${set.join(",")}`, executable];
}

const manifest = parse(readFileSync(inRepository("deploy/base/daemonset.yaml"), "utf8"));
const [agent] = manifest.spec.template.spec.containers;
const ofAgent: readonly string[] = agent.securityContext.capabilities.add;

test("to the DaemonSet, what only a descriptor holds lives", {
  skip: skipWithoutHandles,
}, async (t) => {
  const node = await nodeWithPod(t);
  const { netns } = node;
  const [id = ""] = spawnSync("stat", ["--format=net:[%i]", netns], {
    encoding: "utf8",
  }).stdout.split("\n");
  await processWithOpen(t, netns);
  takeNamespace(netns);
  const [program = "", ...bounds] = limitedTo(ofAgent);

  const { document } = node.json([...bounds, "show", node.address], { program });
  const reason = `its network namespace ${id} lives, though ${netns} is gone`;
  t.match(JSON.stringify(document), reason);
  t.match(node.tool([...bounds, ...collect], { program }), { exitCode: 0, stdout: / 1 alive\n/ });
  t.ok(node.isReserved());
});

test("who may not ask for it releases nothing, and says so", {
  skip: skipWithoutHandles,
}, async (t) => {
  const node = await nodeWithPod(t);
  await processWithOpen(t, node.netns);
  takeNamespace(node.netns);
  const [program = "", ...bounds] = limitedTo(ofAgent.filter((name) => name !== "SYS_ADMIN"));

  t.match(node.tool([...bounds, ...collect], { program }), {
    exitCode: 1,
    stderr: /a descriptor alone may hold it, of which the kernel tells only who has CAP_SYS_ADMIN/,
  });
  t.match(node.json([...bounds, "list"], { program }).document, {
    reservations: [{ alive: null }],
  });
  t.equal(node.tool([...bounds, "release", node.address, "--yes"], { program }).exitCode, 1);
  t.ok(node.isReserved());
});

test("what the cache names as gone is not dead while a process of nobody known has a namespace", {
  skip,
}, async (t) => {
  const { ipv4 } = await ownNetwork(t);
  const address = `${ipv4}.2`;
  const node = nodeFor(t);
  node.network("net", { subnet: `${ipv4}.0/24` });
  const machine = await processWithInterface(t);
  const ended = spawnSync("sh", ["-c", "echo $$"], { encoding: "utf8" }).stdout.trim();
  for (const netns of [`/proc/${ended}/ns/net`, join(node.root, "unmounted")]) {
    node.write(`net/${address}`, "vm\r\neth0", 3600);
    node.remember("net", "vm", "default/vm", { netns, addresses: [`${address}/24`] });

    t.match(node.findings(), [{ code: "leaks-unknown" }], netns);
    t.match(node.tool(collect), {
      exitCode: 1,
      stderr: `its network namespace ${netns} is gone; `,
    });
    t.match(node.tool(["release", address, "--yes"]), { exitCode: 1, stdout: /is not known/ });
    t.equal(node.read(`net/${address}`), "vm\r\neth0", `process ${machine} may be its own`);
  }
});

test("as before Linux 6.18, a namespace in which only a later thread is lives", {
  skip: skip || (injectionObstacle() ?? false),
}, async (t) => {
  const program = withoutHandles(t);
  const node = await nodeWithPod(t, program);
  const processId = await processWithThreadIn(t, node.netns, node.root);
  takeNamespace(node.netns);

  t.match(node.shown([program]), `process ${processId} has one with its number`);
  node.tool(collect, { program });
  t.ok(node.isReserved());
});
