// test: each executable, one if short, Go plugin
/** reserve: an address is kept for a pod, or for nobody, by both plugins, until it is kept no longer. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { reservedAddresses } from "../../harness/data-directory.ts";
import { executable, run } from "../../harness/executable.ts";
import { goPlugin, skipWithoutGoPlugin } from "../../harness/go-plugin.ts";
import { attachmentCall, configuration, networkCall } from "../../harness/runtime-call.ts";
import { type Node, nodeFor } from "../node.ts";

const ipam = { subnet: "10.7.5.0/29" };

/** All addresses of the range. */
const all = ["10.7.5.2", "10.7.5.3", "10.7.5.4", "10.7.5.5", "10.7.5.6"];

const forDb0 = "kept by host-local reserve for default/db-0";

/** A node with the network `net`, whose range has five addresses. */
function emptyNode(t: Test): Node {
  const node = nodeFor(t);
  node.network("net", ipam);
  return node;
}

function reserve(node: Node, ...words: readonly string[]): [number | null, string] {
  const { exitCode, stdout } = node.tool(["reserve", ...words]);
  return [exitCode, stdout];
}

/** The address that an ADD gets, or the error's message. */
function add(node: Node, containerId: string, pod = "", program = executable): string {
  const document = { ...configuration(node.dataDir, ipam, { name: "net" }), cniVersion: "1.0.0" };
  const [namespace, name] = pod.split("/");
  const cniArgs =
    pod === "" ? "" : `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name}`;
  const { stdout } = run(program, attachmentCall("ADD", { containerId, cniArgs }, document));
  const { ips, msg } = JSON.parse(stdout);
  return ips?.[0].address.replace("/29", "") ?? msg;
}

/** Adds containers of no pod until the range is full. */
function fill(node: Node, program = executable): readonly string[] {
  const given = all.map((_, at) => add(node, `filler-${at}`, "", program));
  return given.filter((text) => all.includes(text)).toSorted();
}

function codesOf(node: Node): readonly string[] {
  return node.findings(["net"]).map(({ code }) => code);
}

test("an address is kept for a pod, which gets it each time, until it is kept no longer", async (t) => {
  const node = emptyNode(t);
  t.same(reserve(node, "10.7.5.4", "--for", "default/db-0"), [
    0,
    "10.7.5.4 of net is kept for default/db-0.\n",
  ]);
  t.equal(node.read("net/10.7.5.4"), forDb0);

  t.same(fill(node), ["10.7.5.2", "10.7.5.3", "10.7.5.5", "10.7.5.6"]);
  t.equal(
    add(node, "other", "default/db-1"),
    "failed to allocate for range 0: no IP addresses available in range set: 10.7.5.1-10.7.5.6",
  );
  for (const round of [1, 2, 3]) {
    t.equal(add(node, `db-${round}`, "default/db-0"), "10.7.5.4");
    t.equal(node.read("net/10.7.5.4"), `db-${round}\r\neth0`);
    node.call("DEL", "net", `db-${round}`);
  }
  t.equal(node.read("net/10.7.5.4"), forDb0);

  t.same(reserve(node, "10.7.5.4", "--unreserve"), [
    0,
    "10.7.5.4 of net is kept no longer: it is free.\n",
  ]);
  t.equal(add(node, "other", "default/db-1"), "10.7.5.4");
  node.call("DEL", "net", "other");
  t.notOk(reservedAddresses(node.dataDir, "net").includes("10.7.5.4"));
});

test("an address that is kept for nobody is refused on request, too", async (t) => {
  const node = emptyNode(t);
  reserve(node, "10.7.5.2");
  reserve(node, "10.7.5.3", "--for", "default/db-0");
  const document = { ...configuration(node.dataDir, ipam, { name: "net" }), cniVersion: "1.0.0" };
  const request = (address: string, name: string) => {
    const cniArgs = `IP=${address};IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name}`;
    const { stdout } = run(
      executable,
      attachmentCall("ADD", { containerId: name, cniArgs }, document),
    );
    return JSON.parse(stdout);
  };

  t.match(request("10.7.5.2", "db-1"), { code: 999, details: "10.7.5.2 is kept for nobody" });
  t.match(request("10.7.5.3", "db-1"), { code: 999, details: "10.7.5.3 is kept for default/db-0" });
  t.match(request("10.7.5.3", "db-0"), { ips: [{ address: "10.7.5.3/29" }] });
});

test("an address that somebody has is kept from its release on, and may be kept for somebody else", async (t) => {
  const node = emptyNode(t);
  t.equal(add(node, "web", "default/web"), "10.7.5.2");
  t.same(reserve(node, "10.7.5.2", "--for", "default/db-0"), [
    0,
    "10.7.5.2 of net is kept for default/db-0 from its release on: it is held by container web, interface eth0.\n",
  ]);
  t.equal(node.read("net/10.7.5.2"), "web\r\neth0");
  t.equal(add(node, "db", "default/db-0"), "10.7.5.3", "not before");
  node.call("DEL", "net", "web");
  node.call("DEL", "net", "db");
  t.same(reserve(node, "10.7.5.2", "--for", "default/db-1"), [
    0,
    "10.7.5.2 of net is kept for default/db-1.\n",
  ]);

  t.not(add(node, "db-0", "default/db-0"), "10.7.5.2");
  t.equal(add(node, "db-1", "default/db-1"), "10.7.5.2");
  t.same(reserve(node, "10.7.5.2", "--unreserve"), [
    0,
    "10.7.5.2 of net is kept no longer: it is held by container db-1, interface eth0.\n",
  ]);
  node.call("DEL", "net", "db-1");
  t.notOk(reservedAddresses(node.dataDir, "net").includes("10.7.5.2"));
});

test("the Go plugin does not hand out what is kept, and cannot release it", {
  skip: skipWithoutGoPlugin,
}, async (t) => {
  const node = emptyNode(t);
  reserve(node, "10.7.5.3");
  reserve(node, "10.7.5.4", "--for", "default/db-0");

  t.same(fill(node, goPlugin?.path), ["10.7.5.2", "10.7.5.5", "10.7.5.6"]);
  node.call("DEL", "net", "nobody", goPlugin?.path);
  node.call("DEL", "net", "kept", goPlugin?.path);
  t.same(reservedAddresses(node.dataDir, "net"), all);
  t.equal(add(node, "db", "default/db-0"), "10.7.5.4");
});

test("what the Go plugin has released check names, and the pod's next ADD keeps", {
  skip: skipWithoutGoPlugin,
}, async (t) => {
  const node = emptyNode(t);
  reserve(node, "10.7.5.4", "--for", "default/db-0");
  add(node, "db", "default/db-0");
  node.call("DEL", "net", "db", goPlugin?.path);
  t.same(reservedAddresses(node.dataDir, "net"), []);
  t.same(codesOf(node), ["half-kept-address"]);

  add(node, "other");
  t.equal(add(node, "db", "default/db-0"), "10.7.5.4");
  node.call("DEL", "net", "db");

  t.equal(node.read("net/10.7.5.4"), forDb0);
  t.same(codesOf(node), []);
});

test("GC, gc, check, capacity and release know that it is no container's", async (t) => {
  const node = emptyNode(t);
  reserve(node, "10.7.5.3");
  reserve(node, "10.7.5.4", "--for", "default/db-0");
  node.age("net/10.7.5.3", 7200);
  node.age("net/10.7.5.4", 7200);
  const before = node.everything();

  const document = { ...configuration(node.dataDir, ipam, { name: "net" }), cniVersion: "1.1.0" };
  t.equal(
    run(executable, networkCall("GC", { ...document, "cni.dev/valid-attachments": [] })).exitCode,
    0,
  );
  t.equal(
    node.tool(["gc", "net", "--live-command", "echo", "--now", "--force", "--yes"]).exitCode,
    0,
  );
  t.same(reservedAddresses(node.dataDir, "net"), ["10.7.5.3", "10.7.5.4"]);
  t.same(codesOf(node), []);
  t.match(node.json(["capacity", "net"]).document, {
    networks: [{ ranges: [{ used: 2, unowned: 0 }] }],
  });
  t.match(node.tool(["metrics"]).stdout, /cni_ipam_reservations_unowned\{.*\} 0\n/);
  t.match(node.json(["release", "10.7.5.4", "--yes", "--force"]), {
    exitCode: 1,
    document: { released: [], hints: [{ reason: "kept" }] },
  });
  t.same(
    node.everything().filter(({ path }) => path.startsWith("net/1")),
    before.filter(({ path }) => path.startsWith("net/1")),
  );
});

test("list and show name the pod for which it is kept", async (t) => {
  const node = emptyNode(t);
  reserve(node, "10.7.5.3");
  reserve(node, "10.7.5.4", "--for", "default/db-0");

  t.match(node.json(["list", "net"]).document, {
    reservations: [
      { address: "10.7.5.3", owner: "kept", pod: "", alive: null },
      { address: "10.7.5.4", owner: "kept", pod: "default/db-0", alive: null },
    ],
  });
  t.match(
    node.tool(["show", "10.7.5.4"]).stdout,
    /held by +kept for default\/db-0\n +pod +default\/db-0\n/,
  );
  t.match(node.json(["show", "default/db-0"]).document, {
    reservations: [{ address: "10.7.5.4" }],
  });
});

test("where the state directory was removed nobody gets the address until it is kept again", async (t) => {
  const node = emptyNode(t);
  reserve(node, "10.7.5.4", "--for", "default/db-0");
  rmSync(join(node.dataDir, ".host-local"), { recursive: true });

  t.notOk(fill(node).includes("10.7.5.4"));
  const [finding] = node.findings(["net"]);
  t.match(finding, { code: "half-kept-address" });
  t.match(finding?.commands, [/reserve 10\.7\.5\.4 --network net --for default\/db-0/]);

  reserve(node, "10.7.5.4", "--for", "default/db-0");
  t.notOk(codesOf(node).includes("half-kept-address"));
  t.equal(add(node, "db", "default/db-0"), "10.7.5.4");
});

test("what cannot be kept is refused, and nothing is changed", async (t) => {
  const node = emptyNode(t);
  node.network("same", ipam);
  node.call("ADD", "net", "c1");
  const before = node.everything();
  for (const [words, exitCode, text] of [
    [["10.7.5.4"], 1, "It is in several networks: net ("],
    [["10.7.5.1", "--network", "net"], 1, "It is the gateway"],
    [["10.9.9.9", "--network", "net"], 1, "It is outside all IPv4 ranges"],
    [["10.7.5.4", "--unreserve"], 1, "No network keeps it."],
    [["10.7.5.2", "--unreserve", "--network", "net"], 1, "No network keeps it."],
    [["web"], 2, "expected an address"],
    [["10.7.5.4", "--for", "web"], 2, "expected a pod as NAMESPACE/NAME, found"],
    [["10.7.5.4", "--for", "a/b c"], 2, "expected a pod as NAMESPACE/NAME, found"],
    [["10.7.5.4", "--for", "a/b", "--unreserve"], 2, "exclude each other"],
  ] as const) {
    const outcome = node.tool(["reserve", ...words]);
    t.equal(outcome.exitCode, exitCode, words.join(" "));
    t.match(`${outcome.stdout}${outcome.stderr}`, text);
  }
  t.same(node.everything(), before);
});
