// test: each executable, one if short, sees the node, makes namespaces
/** What the commands say of addresses that this plugin has reserved: it knows for which network namespaces. */

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { createNodeSystem } from "../../../src/system/node/node-system.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { lacking } from "../../harness/needs.ts";
import {
  mountNamespace,
  processWith,
  startStranger,
  takeNamespace,
  withHighNumber,
} from "../../harness/network-namespaces.ts";
import { ownNetwork } from "../../harness/own-network.ts";
import { runAsPrinted } from "../../harness/tool.ts";
import { nodeFor } from "../node.ts";

const skip = lacking("sees the node", "makes namespaces");

/** A node with the network `net`, which no other test has, and pods with namespaces as a runtime mounts them. */
async function makeNode(t: Test) {
  const { ipv4 } = await ownNetwork(t);
  const ipam = { subnet: `${ipv4}.0/24` };
  const node = nodeFor(t);
  node.network("net", ipam);
  const namespaces = scratchDirectory(t);
  const pathOf = (id: string): string => join(namespaces, id);
  const ofPod = (id: string): string => `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${id}`;
  const add = (id: string, netns: string, cniArgs = ofPod(id)): void =>
    node.add("net", ipam, id, { netns, cniArgs });
  return {
    ...node,
    ipv4,
    pathOf,
    add,
    /** ADD for a pod, whose namespace has these addresses. */
    run: (id: string, ...addresses: readonly string[]): void => {
      mountNamespace(t, pathOf(id), ...addresses);
      add(id, pathOf(id));
    },
    /** Takes the namespace of a pod away; what is returned waits until no process has its number. */
    lose: (id: string): (() => void) => takeNamespace(pathOf(id)),
    /** What `gc` releases by a list that has these ids only, at once. */
    collect: (...ids: readonly string[]): string => {
      const list = `printf '%s\\n' ${ids.join(" ")}`;
      const words = ["gc", "net", "--live-command", list, "--grace", "0s", "--now", "--yes"];
      return node.tool([...words, "--force"]).stdout;
    },
    reserved: () =>
      [2, 3, 4, 5].filter((at) => existsSync(join(node.dataDir, `net/${ipv4}.${at}`))),
  };
}

test("with its namespace a container keeps its address, without process, kernel address or list", {
  skip,
}, async (t) => {
  const { run, pathOf, collect, reserved, json } = await makeNode(t);
  const elsewhere = await ownNetwork(t);
  run("tap");
  run("moved", `${elsewhere.ipv4}.9/24`);
  await startStranger(t);

  const printed = collect("another");

  t.same(reserved(), [2, 3]);
  t.match(printed, "2 reservations: 2 alive");
  const reservations = ["tap", "moved"].map((id) => ({
    alive: true,
    reason: `its network namespace ${pathOf(id)} exists`,
  }));
  t.match(json(["list"]).document, { reservations });
});

test("a pod's sandbox whose namespace is gone is dead without a list, and without libcni's cache", {
  skip,
}, async (t) => {
  const { ipv4, run, lose, pathOf, json, tool, reserved } = await makeNode(t);
  withHighNumber(() => run("gone"));
  run("alive");
  const waitUntilGone = lose("gone");
  await startStranger(t);

  waitUntilGone();
  const { document } = json(["show", `${ipv4}.2`]);
  t.match(JSON.stringify(document), `its network namespace ${pathOf("gone")} is gone`);
  waitUntilGone();
  t.match(tool(["gc", "--grace", "0s", "--now", "--yes"]), { exitCode: 0, stderr: "" });
  t.same(reserved(), [3]);
});

test("what was reserved for no pod: a list decides only on what may be a container's", {
  skip,
}, async (t) => {
  const { add, lose, pathOf, tool, collect, reserved, json } = await makeNode(t);
  const ids = ["cilium-ingress-n1", `default-${"a".repeat(64)}`, "default-job"];
  for (const id of ids) {
    withHighNumber(() => mountNamespace(t, pathOf(id)));
    add(id, pathOf(id), "");
    lose(id);
  }
  add("claim", "/dev/null", "");

  t.match(tool(["gc", "--grace", "0s", "--now", "--yes"]), {
    exitCode: 1,
    stderr:
      / the address was reserved for no pod sandbox, .*A list of pod sandboxes does not decide on /,
  });
  t.same(reserved(), [2, 3, 4, 5]);
  t.match(collect("another", "default-web"), "1 undecided");
  t.same(reserved(), [2], "an ingress has no container; of the claim nothing is recorded");
  const list = ["--live-command", "echo another", "--grace", "0s"];
  const { exitCode, document } = json(["gc", "net", ...list]);
  t.match(document, {
    undecided: [{ alive: null, reason: /reserved for no pod sandbox/ }],
  });
  t.equal(exitCode, 1);
});

test("a sandbox that the runtime has lost is kept, and named until its namespace is removed", {
  skip,
}, async (t) => {
  const node = await makeNode(t);
  const lost = "4f1d6e0c8b7a".padEnd(64, "0");
  node.run(lost, `${node.ipv4}.2/24`);
  node.age(`net/${node.ipv4}.2`, 3600);
  t.match(node.collect("another"), "1 reservation: 1 alive");
  t.same(node.reserved(), [2]);
  t.match(node.findings(), [{ code: "sandbox-without-process", severity: "info", commands: [] }]);

  node.lose(lost);
  t.match(node.collect("another"), "1 released");
  t.same(node.reserved(), [], "its address is free once it has none");
});

test("an address in two namespaces is found from the kernel alone", {
  skip,
}, async (t) => {
  const node = await makeNode(t);
  const address = `${node.ipv4}.2`;
  node.run("lost", `${address}/24`);
  t.same(node.findings(), [], "in one namespace");
  const process = await processWith(t, `${address}/24`);
  t.same(
    node.findings(),
    [],
    "in one that is not linked with the node's, as of a runtime inside a container",
  );

  linkWithNode(process);
  const [finding] = node.findings();
  t.match(finding, {
    code: "address-in-use-twice",
    remedy: `restart the pod of the network namespace of process ${process}, if a runtime `,
  });
  t.match(runAsPrinted(t, finding?.commands[0] ?? "false").stdout, address);
});

test("an address in the namespaces of two containers of this node is an error", {
  skip,
}, async (t) => {
  const node = await makeNode(t);
  const address = `${node.ipv4}.2`;
  node.run("first", `${address}/24`);
  node.run("second", `${address}/24`);

  const [finding, ...others] = node.findings();
  t.same(others, []);
  t.match(finding, { code: "address-in-use-twice", remedy: "restart container second, which has" });
});

test("an address in two namespaces, as of rootless containers, is not a runtime network's", {
  skip,
}, async (t) => {
  const { ipv4 } = await ownNetwork(t);
  const node = nodeFor(t);
  const { dataDir } = node;
  const bridge = { type: "bridge", bridge: "any0", capabilities: { ipRanges: true } };
  const plugins = [{ ...bridge, ipam: { type: "host-local", dataDir } }];
  node.configure("any.conflist", { cniVersion: "1.1.0", name: "any", plugins });
  mkdirSync(join(node.dataDir, "any"), { recursive: true });
  await processWith(t, `${ipv4}.9/24`);
  await processWith(t, `${ipv4}.9/24`);

  const reservation = { ranges: [[{ subnet: `${ipv4}.0/24` }]] };
  node.add("any", reservation, "c1", { cniArgs: `IP=${ipv4}.9` });
  t.same(node.findings(), []);
});

/** Links the network namespace of a process with this one, as a main plugin does or an ADD. */
function linkWithNode(process: number): void {
  createNodeSystem().linkedAddresses(4, `/proc/${process}/ns/net`);
}
