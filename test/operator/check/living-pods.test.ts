// test: each executable, one if short, slow
/** What `check` finds about pods that live: each has a network namespace of its own. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { Pod } from "../../e2e/pod.ts";
import { scenario } from "../../e2e/scenario.ts";
import { runAsPrinted } from "../../harness/tool.ts";
import { type Node, nodeFor } from "../node.ts";

const tests: (readonly [name: string, body: (t: Test) => void, skip: string | false])[] = [];

/** Declares a test; all run in the namespaces of one scenario, and each leaves no pod and no process behind. */
function test(name: string, body: (t: Test) => void): void {
  tests.push([name, body, false]);
}

const GRACE = 10 * 60;

function codesOf(node: Node): readonly string[] {
  return node.findings().map(({ code, severity }) => `${severity} ${code}`);
}

/** A node with the network `net` of thirteen addresses. */
function makeNode(t: Test): Node {
  const node = nodeFor(t);
  node.network("net", { subnet: "10.7.12.0/28" });
  return node;
}

function makePod(t: Test, containerId: string): Pod {
  const pod = new Pod(containerId);
  t.teardown(() => {
    if (existsSync(pod.netns)) pod.remove();
  });
  return pod;
}

/** A container with an address, as the runtime leaves it after ADD: in libcni's cache with its namespace. */
function run(t: Test, node: Node, pod: string, containerId: string, address: string): Pod {
  const container = makePod(t, containerId);
  node.add("net", { subnet: "10.7.12.0/28" }, containerId, { cniArgs: `IP=${address}` });
  const addresses = [`${address}/28`];
  node.remember("net", containerId, pod, { netns: container.netns, addresses });
  return container;
}

/** The same with a runtime whose libcni notes no namespace: only a process shows that the container lives. */
function runUnnoted(t: Test, node: Node, pod: string, containerId: string, address: string): Pod {
  const container = run(t, node, pod, containerId, address);
  node.remember("net", containerId, pod, { addresses: [`${address}/28`] });
  execFileSync("ip", ["-n", containerId, "link", "set", "lo", "up"]);
  execFileSync("ip", ["-n", containerId, "address", "add", `${address}/28`, "dev", "lo"]);
  const { pid } = keepRunning(t, ["ip", "netns", "exec", containerId, "sleep", "600"]);
  const own = readlinkSync("/proc/self/ns/net");
  for (let tries = 0; readlinkSync(`/proc/${pid}/ns/net`) === own; tries++) {
    if (tries > 1000) throw new Error(`process ${pid} does not enter its network namespace`);
    execFileSync("sleep", ["0.01"]);
  }
  return container;
}

function keepRunning(t: Test, [program = "", ...words]: readonly string[]) {
  const child = spawn(program, words, { stdio: "ignore" });
  const ended = once(child, "exit");
  t.teardown(() => {
    child.kill("SIGKILL");
    return ended;
  });
  return child;
}

function loseReservation({ dataDir }: Node, address: string): void {
  rmSync(join(dataDir, "net", address));
}

const runtimes = {
  "whose namespace is in the cache": run,
  "whose namespace only its processes show": runUnnoted,
};

for (const [name, start] of Object.entries(runtimes)) {
  test(`a living pod ${name}, and whose address was released`, (t) => {
    const node = makeNode(t);
    start(t, node, "default/web", "c1", "10.7.12.2");
    t.same(codesOf(node), []);

    loseReservation(node, "10.7.12.2");
    const [finding, ...others] = node.findings();
    t.same(others, []);
    t.match(finding, {
      code: "live-without-reservation",
      severity: "error",
      path: join(node.dataDir, "net/10.7.12.2"),
      message: "default/web (container c1) uses 10.7.12.2, for which there is no reservation",
    });

    t.match(runAsPrinted(t, finding?.commands[0] ?? "false"), { exitCode: 0, stderr: "" });
    t.equal(node.read("net/10.7.12.2"), "c1\r\neth0");
    t.same(codesOf(node), []);
  });

  test(`two living pods ${name}, with one address`, (t) => {
    const node = makeNode(t);
    start(t, node, "default/web", "c1", "10.7.12.2");
    loseReservation(node, "10.7.12.2");
    start(t, node, "default/db", "c2", "10.7.12.2");

    const [twice, unreserved, ...others] = node.findings();
    t.same(others, []);
    for (const user of ["default/web (container c1)", "default/db (container c2)"]) {
      t.match(twice?.message, user);
    }
    t.match(twice, { code: "address-in-use-twice", severity: "error" });
    t.match(unreserved, {
      code: "live-without-reservation",
      severity: "error",
      message: "default/web (container c1) uses 10.7.12.2, which is held by c2",
      commands: [],
    });
    t.match(node.tool(["check"]), { exitCode: 1, stdout: /\bdefault\/web\b/ });
  });
}

test("findings on living pods are sorted by address", (t) => {
  const node = makeNode(t);
  const addresses = ["10.7.12.10", "10.7.12.3", "10.7.12.2", "10.7.12.4"];
  for (const [at, address] of addresses.entries()) run(t, node, "default/web", `c${at}`, address);
  for (const address of addresses) loseReservation(node, address);

  t.strictSame(
    node.findings().map(({ path }) => path.slice(path.lastIndexOf("/") + 1)),
    ["10.7.12.2", "10.7.12.3", "10.7.12.4", "10.7.12.10"],
  );
});

test("an empty reservation whose address a pod uses is not repaired", (t) => {
  const node = makeNode(t);
  run(t, node, "default/web", "c1", "10.7.12.2");
  node.write("net/10.7.12.2", "", 60);
  node.write("net/10.7.12.9", "", 60);

  node.tool(["check", "--repair"]);

  t.equal(node.read("net/10.7.12.2"), "");
  t.throws(() => node.read("net/10.7.12.9"), { code: "ENOENT" });
  t.same(codesOf(node), ["error empty-reservation"]);
  const [empty] = node.findings();
  t.match(empty?.message, /; default\/web uses the address$/);
  t.match(empty?.remedy, /^write its container back/);
  t.notMatch(node.tool(["check"]).stdout, "remove it");

  const [command = "false"] = empty?.commands ?? [];
  t.match(runAsPrinted(t, command), { exitCode: 0, stderr: "" });
  t.equal(node.read("net/10.7.12.2"), "c1\r\neth0");
  t.same(codesOf(node), []);
  t.equal(runAsPrinted(t, command).exitCode, 1, "what has been written is not overwritten");
});

test("the second address of a living pod is released as its finding says", async (t) => {
  const node = makeNode(t);
  run(t, node, "default/web", "c1", "10.7.12.2");
  node.write("net/10.7.12.9", "c1\r\neth0");

  t.match(node.tool(["check"]).stdout, "release the other one, with --force if the container is");
  t.equal(node.tool(["release", "10.7.12.9", "--yes"]).exitCode, 1);
  t.equal(node.tool(["release", "10.7.12.9", "--yes", "--force"]).exitCode, 0);
  t.same(codesOf(node), []);
});

test("an empty reservation whose address some process has", (t) => {
  const node = makeNode(t);
  runUnnoted(t, node, "default/web", "c1", "10.7.12.2");
  rmSync(join(node.cacheDir, "results/net-c1-eth0"));
  node.write("net/10.7.12.2", "", 60);

  const [finding] = node.findings();
  t.match(finding, { code: "empty-reservation", severity: "error", commands: [] });
  t.match(finding?.message, /a process has the address, and its container is not known$/);
});

test("a living pod whose network's directory is gone", (t) => {
  const node = makeNode(t);
  run(t, node, "default/web", "c1", "10.7.12.2");
  rmSync(join(node.dataDir, "net"), { recursive: true });

  const [finding] = node.findings();
  t.match(finding, { code: "live-without-reservation" });
  t.match(runAsPrinted(t, finding?.commands[0] ?? "false"), { exitCode: 0, stderr: "" });
  t.equal(node.read("net/10.7.12.2"), "c1\r\neth0");
  t.same(codesOf(node), []);
});

test("a network without a configuration whose pods run", (t) => {
  const node = makeNode(t);
  run(t, node, "default/web", "c1", "10.7.12.2");
  run(t, node, "default/db", "c2", "10.7.12.3");
  run(t, node, "default/gone", "c3", "10.7.12.4").remove();
  rmSync(join(node.confDir, "net.conf"));

  const [finding, ...others] = node.findings();
  t.same(others, []);
  t.match(finding, { code: "unconfigured-network", severity: "warning" });
  t.equal(
    finding?.message,
    "no configuration names this network, which has 2 running pods: default/web, default/db",
  );
  t.notMatch(finding?.remedy, /release/);
});

test("the address of a pod that ended is used by the next one", (t) => {
  const node = makeNode(t);
  node.remember("net", "c1", "default/web", { addresses: ["10.7.12.2/28"] });
  node.remember("net", "c0", "default/old", {
    netns: "/run/netns/c0",
    addresses: ["10.7.12.2/28"],
  });
  runUnnoted(t, node, "default/db", "c2", "10.7.12.2");

  t.same(codesOf(node), [], "entries that the runtime has not removed are no pods");
});

test("a pod whose attachment is noted for two networks, as with multus", (t) => {
  const node = makeNode(t);
  const { netns } = run(t, node, "default/web", "c1", "10.7.12.2");
  node.remember("multus-cni-network", "c1", "default/web", { netns, addresses: ["10.7.12.2/28"] });

  t.same(codesOf(node), []);
});

test("an address of another IPAM plugin needs no reservation", (t) => {
  const node = makeNode(t);
  const { netns } = run(t, node, "default/web", "c1", "10.7.12.2");
  node.remember("net", "c1", "default/web", { netns, addresses: ["10.7.12.2/28", "192.0.2.7/24"] });

  t.same(codesOf(node), []);
});

test("a network that has changed to another IPAM plugin", (t) => {
  const node = makeNode(t);
  const { netns } = run(t, node, "default/web", "c1", "10.7.12.2");
  rmSync(join(node.confDir, "net.conf"));
  loseReservation(node, "10.7.12.2");
  node.remember("net", "c1", "default/web", { netns, addresses: ["192.0.2.7/24"] });

  t.same(codesOf(node), ["info unconfigured-network"]);
});

test("a DEL under way: the address is released, and the attachment still noted", (t) => {
  const node = makeNode(t);
  run(t, node, "default/web", "c1", "10.7.12.2");
  loseReservation(node, "10.7.12.2");
  keepRunning(t, ["sh", "-c", `sleep 0.5; rm ${join(node.cacheDir, "results/net-c1-eth0")}`]);

  t.same(codesOf(node), []);
});

test("a network that was renamed while its pods live", (t) => {
  const node = makeNode(t);
  const web = run(t, node, "default/web", "c1", "10.7.12.2");
  run(t, node, "default/db", "c2", "10.7.12.3").remove();
  const file = join(node.confDir, "net.conf");
  writeFileSync(file, readFileSync(file, "utf8").replace('"net"', '"pods"'));

  const found = node.findings();
  t.match(found, [
    {
      code: "unconfigured-network",
      severity: "error",
      path: join(node.dataDir, "net"),
      message:
        "no configuration names this network, but pods hands out its addresses, too: 10.7.12.2 (default/web)",
    },
  ]);
  t.equal(found.length, 1, "nothing suggests to remove the directory");
  for (const command of found.flatMap(({ commands }) => commands)) {
    t.match(runAsPrinted(t, command), { exitCode: 0, stdout: /default\/web/ });
  }
  mkdirSync(join(node.dataDir, "pods"));
  t.equal(node.findings(["pods"]).length, 1, "the new network alone shows it, too");

  const { netns } = makePod(t, "another");
  node.add("pods", { subnet: "10.7.12.0/28" }, "another", { cniArgs: "IP=10.7.12.2" });
  node.remember("pods", "another", "default/new", { netns, addresses: ["10.7.12.2/28"] });
  t.match(
    node.findings().find(({ code }) => code === "address-in-use-twice")?.message,
    /^10\.7\.12\.2 is used by default\/\w+ \(container \w+\) and default\/\w+ \(container \w+\)$/,
  );

  web.remove();
  for (const last of [2, 3]) node.age(`net/10.7.12.${last}`, 300);
  t.same(codesOf(node), ["info unconfigured-network"], "no pod is left from before");
});

const wasJustStarted = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) <= GRACE;

/** As `test`, of leaks, which are not reported right after a restart. */
function testOfLeaks(name: string, body: (t: Test) => void): void {
  tests.push([name, body, wasJustStarted && "This machine was started a moment ago."]);
}

testOfLeaks("addresses that leaked", (t) => {
  const node = makeNode(t);
  for (const id of ["c1", "c2", "c3"]) node.call("ADD", "net", id);
  run(t, node, "default/gone", "c4", "10.7.12.5").remove();
  run(t, node, "default/alive", "c5", "10.7.12.6");
  run(t, node, "default/alive", "c6", "10.7.12.7");
  t.same(codesOf(node), [], "young reservations are not reported");

  for (const address of [3, 4, 5, 6, 7]) node.age(`net/10.7.12.${address}`, GRACE + 5);
  node.age("net/10.7.12.2", GRACE + 60);
  node.age("net/10.7.12.6", GRACE + 60);
  const found = node.findings();

  t.match(found, [
    {
      code: "leaked-reservation",
      severity: "warning",
      path: join(node.dataDir, "net/10.7.12.5"),
      message:
        "10.7.12.5 is held by c4 of default/gone: its network namespace /run/netns/c4 is gone",
    },
    { code: "leaks-unknown", message: /^whether 3 of 6 reservations leaked cannot be seen: / },
  ]);
  t.equal(found.length, 2);
  t.match(found[0]?.commands, [/^host-local gc net --conf-dir /]);
});

testOfLeaks("where leaks cannot be seen, that is said", (t) => {
  const node = makeNode(t);
  for (const id of ["c1", "c2"]) node.call("ADD", "net", id);
  t.match(node.tool(["check"]), { exitCode: 0, stdout: "No problems found.\n" });

  node.age("net/10.7.12.2", GRACE + 60);
  t.match(node.findings(), [
    {
      code: "leaks-unknown",
      severity: "info",
      message:
        /^whether 1 of 1 reservation leaked cannot be seen: no process has the address, and the namespace of its container is not known; /,
    },
  ]);
  const { exitCode, stdout } = node.tool(["check"]);
  t.equal(exitCode, 0);
  t.notMatch(stdout, "No problems found");
});

testOfLeaks("a sandbox in which no process runs, as one that the runtime has lost", (t) => {
  const node = makeNode(t);
  run(t, node, "default/lost", "c1", "10.7.12.2");
  execFileSync("ip", ["-n", "c1", "link", "set", "lo", "up"]);
  execFileSync("ip", ["-n", "c1", "address", "add", "10.7.12.2/28", "dev", "lo"]);
  t.same(codesOf(node), [], "a young one is not reported");

  node.age("net/10.7.12.2", GRACE + 60);
  t.match(node.findings(), [
    {
      code: "sandbox-without-process",
      severity: "info",
      path: join(node.dataDir, "net/10.7.12.2"),
      message:
        "10.7.12.2 is held by c1 of default/lost: the network namespace /run/netns/c1 has this address; no process runs there",
      remedy: /if the runtime does not list the sandbox any more/,
      commands: [/ip netns delete c1/],
    },
  ]);
});

scenario("what check finds about living pods", { plugins: [], cniVersion: "1.0.0" }, async (t) => {
  for (const [name, body, skip] of tests) await t.test(name, { skip }, async (t) => body(t));
});
