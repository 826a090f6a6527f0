// test: each executable, one if short
/** `agent` as a process: what it serves, what it runs, and how it ends. */

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { type Test, test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { isNative } from "../../harness/executable.ts";
import { tool } from "../../harness/tool.ts";
import { exampleOf, formOf } from "../json-examples.ts";
import { type Node, nodeFor } from "../node.ts";
import { eventually, freePort, get, peakMemory, startAgent } from "./running-agent.ts";

const skipWithoutProcessNamespaces: string | false =
  spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0
    ? false
    : "Making a process id namespace takes root, and the program unshare.";

/** A node with a network and a pod, and the options that confine the agent to it. */
function nodeWithPod(t: Pick<Test, "teardown">): { node: Node; place: readonly string[] } {
  const node = nodeFor(t);
  node.network("mynet", { subnet: "10.213.91.0/24" });
  node.call("ADD", "mynet", "c1");
  const place = ["--conf-dir", node.confDir, "--data-dir", node.dataDir];
  return { node, place: [...place, "--cache-dir", node.cacheDir] };
}

/** Waits for a state of the agent, and returns what it says about it. */
function healthOf(port: number, pattern: RegExp): Promise<string> {
  return eventually(`${pattern}`, async () => {
    const health = await get(port, "/healthz");
    return health !== undefined && pattern.test(health.body) ? health.body : undefined;
  });
}

/** The ids of the processes whose command line contains a text. */
function processesWith(text: string): readonly string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^[0-9]+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`it serves metrics and its state, until ${signal}`, async (t) => {
    const { place } = nodeWithPod(t);
    const port = await freePort();
    const agent = startAgent(t, [...place, "--gc", "--listen", `127.0.0.1:${port}/m`]);

    const health = await healthOf(port, /metrics ok/);
    const metrics = await get(port, "/m");
    const sent = Date.now();
    agent.process.kill(signal);

    t.equal(health, "[+]http ok\n[+]gc ok\n[+]metrics ok\nhealthz check passed\n");
    t.match(metrics, { status: 200, body: /^cni_ipam_addresses_used\{network="mynet",.*\} 1$/m });
    t.equal(await agent.ended, 0);
    t.ok(Date.now() - sent < 1000, "within a second");
    t.match(agent.output(), {
      stdout: /^PART +EVERY +COMMAND\ngc +15m +host-local gc /,
      stderr: "",
    });
  });
}

test("as the first process of a container it ends at once, with the command that runs", {
  skip: skipWithoutProcessNamespaces,
}, async (t) => {
  const { place } = nodeWithPod(t);
  const port = await freePort();
  const mark = `sleep 30.${port}`;
  const words = [...place, "--gc", "--live-command", mark, "--listen", `127.0.0.1:${port}`];
  const container = startAgent(t, words, ["unshare", "--pid", "--fork", "--mount-proc"]);
  await eventually("the command runs", () => processesWith(`sleep\u000030.${port}`)[0]);
  const [first = ""] = readFileSync(
    `/proc/${container.process.pid}/task/${container.process.pid}/children`,
    "utf8",
  ).split(" ");

  t.match(await get(port, "/healthz"), { status: 200, body: /gc has not run yet/ });
  const sent = Date.now();
  process.kill(Number(first), "SIGTERM");

  t.equal(await container.ended, 0);
  t.ok(Date.now() - sent < 1000, "within a second");
  t.same(processesWith(`sleep\u000030.${port}`), []);
});

test("a command that hangs is ended with the agent", async (t) => {
  const { place } = nodeWithPod(t);
  const mark = `31.${await freePort()}`;
  const agent = startAgent(t, [...place, "--gc", "--live-command", `sleep ${mark}`]);
  await eventually("the command runs", () => processesWith(`sleep\u0000${mark}`)[0]);

  agent.process.kill("SIGTERM");

  t.equal(await agent.ended, 0);
  await eventually("it has ended", () =>
    processesWith(`sleep\u0000${mark}`)[0] ? undefined : true,
  );
});

test("a failing part is reported, and the others go on", async (t) => {
  const { node, place } = nodeWithPod(t);
  const bin = scratchDirectory(t);
  const port = await freePort();
  tool(["install", bin, "--yes"]);
  const every = ["--interval", "1s", "--gc-interval", "1s"];
  const parts = ["--gc", "--keep-installed", bin, "--listen", `127.0.0.1:${port}`];
  const agent = startAgent(t, [...place, ...every, ...parts]);
  await healthOf(port, /metrics ok/);

  renameSync(node.dataDir, `${node.dataDir}.away`);
  const reason = `--data-dir: ${node.dataDir}: no such file or directory`;
  await healthOf(port, /gc failed[\s\S]*metrics failed/);
  const failed = await get(port, "/healthz");
  const metrics = await get(port, "/metrics");
  writeFileSync(join(bin, "host-local"), "#!/bin/sh\nexit 1\n");
  await eventually("it is installed again", () => isOurs(join(bin, "host-local")) || undefined);
  renameSync(`${node.dataDir}.away`, node.dataDir);
  await healthOf(port, /gc ok[\s\S]*metrics ok/);

  t.match(failed, {
    status: 503,
    body: `[+]http ok\n[+]install ok\n[-]gc failed: ${reason}\n[-]metrics failed: ${reason}\nhealthz check failed\n`,
  });
  t.match(metrics, { status: 503 });
  const { stderr } = agent.output();
  t.equal(stderr.split(`host-local: gc: ${reason}\n`).length - 1, 1, "logged once");
  t.match(
    stderr,
    `host-local: install: installed ${bin}/host-local again; the file that was there is`,
  );
  t.match(stderr, "host-local: gc: succeeded again\n");
});

function isOurs(path: string): boolean {
  return spawnSync(path, ["version"], { encoding: "utf8" }).stdout.startsWith("host-local v");
}

test("a dead container's address is released, and that is logged", async (t) => {
  const { node, place } = nodeWithPod(t);
  node.call("ADD", "mynet", "c2");
  for (const address of ["10.213.91.2", "10.213.91.3"]) node.age(`mynet/${address}`, 60);
  const source = ["--gc", "--live-command", "echo c2", "--grace", "1s", "--gc-interval", "1s"];

  const agent = startAgent(t, [...place, ...source]);

  await eventually("it is logged", () =>
    agent.output().stderr.includes("host-local: gc: released 10.213.91.2 of mynet, held by c1\n")
      ? true
      : undefined,
  );
  t.match(node.json(["list"]).document, { reservations: [{ address: "10.213.91.3" }] });
});

test("files are written again and again, while a client keeps its connection", async (t) => {
  const { node, place } = nodeWithPod(t);
  const port = await freePort();
  const file = join(node.root, "ipam.prom");
  const parts = ["--output", file, "--node-feature", node.root, "--listen", `127.0.0.1:${port}`];
  startAgent(t, [...place, "--interval", "1s", ...parts]);
  await healthOf(port, /metrics ok/);
  const client = net.connect(port, "127.0.0.1");
  t.teardown(() => client.destroy());
  client.write("GET /metrics HTT");

  for (const path of [file, join(node.root, "host-local.mynet")]) {
    const { ino } = statSync(path);
    await eventually(`${path} is replaced`, () => (statSync(path).ino === ino ? undefined : true));
  }
  client.end("P/1.1\r\n\r\n");
  let response = "";
  for await (const chunk of client) response += chunk;

  t.match(response, /^HTTP\/1.1 200 OK\r\n/);
});

test("its memory does not grow", { skip: !isNative && "Node.js needs more." }, async (t) => {
  const { place } = nodeWithPod(t);
  const port = await freePort();
  const parts = ["--gc", "--gc-interval", "1s", "--listen", `127.0.0.1:${port}`];
  const { process } = startAgent(t, [...place, "--interval", "1s", ...parts]);
  await healthOf(port, /metrics ok/);
  const rounds = async (count: number): Promise<number> => {
    for (let round = 0; round < count; round++) await get(port, "/metrics");
    return peakMemory(process.pid ?? 0);
  };

  const before = await rounds(50);
  const after = await rounds(500);

  t.ok(after < 8 * 1024, `${after} KiB`);
  t.ok(after - before < 128, `from ${before} to ${after} KiB`);
});

test("a port in use is logged and tried again, and the other parts go on", async (t) => {
  const { node, place } = nodeWithPod(t);
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  const file = join(node.root, "ipam.prom");
  const bin = scratchDirectory(t);
  tool(["install", bin, "--yes"]);
  rmSync(join(bin, "host-local"));
  const parts = ["--gc", "--output", file, "--keep-installed", bin, "--node-feature", node.root];

  const words = [...parts, "--listen", `127.0.0.1:${port}`, "--interval", "1s"];
  const agent = startAgent(t, [...place, ...words]);

  for (const path of [file, join(bin, "host-local"), join(node.root, "host-local.mynet")]) {
    await eventually(path, () => existsSync(path) || undefined);
  }
  await new Promise((resolve) => server.close(resolve));
  await healthOf(port, /^\[\+\]http ok\n\[\+\]install ok\n\[\+\]gc ok\n/);
  const { stderr } = agent.output();
  t.match(
    stderr.replace(/^host-local: install: .*\n/m, ""),
    `host-local: http: listen 127.0.0.1:${port}: address already in use\nhost-local: http: succeeded again\n`,
  );
});

test("clients that send nothing keep no other one waiting", async (t) => {
  const { place } = nodeWithPod(t);
  const port = await freePort();
  startAgent(t, [...place, "--listen", `127.0.0.1:${port}`]);
  await healthOf(port, /metrics ok/);
  const idle = Array.from({ length: 20 }, () => net.connect(port, "127.0.0.1"));
  t.teardown(() => {
    for (const client of idle) client.destroy();
  });
  await Promise.all(idle.map((client) => once(client, "connect")));

  const asked = Date.now();
  const health = await get(port, "/healthz");

  t.match(health, { status: 200 });
  t.ok(Date.now() - asked < 1000, `after ${Date.now() - asked} ms`);
});

test("it listens on IPv6", async (t) => {
  const { place } = nodeWithPod(t);
  const port = await freePort();
  startAgent(t, [...place, "--listen", `[::1]:${port}`]);

  const body = await eventually("it answers", async () => {
    const response = await fetch(`http://[::1]:${port}/healthz`).catch(() => undefined);
    return response?.text();
  });

  t.match(body, /^\[\+\]http ok\n\[\+\]metrics /);
});

for (const [words, message] of [
  [
    [],
    /^host-local: agent: nothing to do; expected --gc, --output, --listen, --keep-installed or --node-feature\n/,
  ],
  [["--live-command", "true"], /^host-local: agent: --live-command requires --gc\n/],
  [["--gc", "--as", "x"], /^host-local: agent: --as requires --keep-installed\n/],
  [["--gc", "--resource", "a.b/c"], /^host-local: agent: --resource requires --node-feature\n/],
  [
    ["--gc", "--gc-interval", "0s"],
    /^host-local: --gc-interval: expected a duration of at least 1s, found 0s\n/,
  ],
  [
    ["--listen", "localhost:9464"],
    /^host-local: --listen: expected an IP address, a port .* found localhost:9464\n/,
  ],
  [["--listen", "127.0.0.1:65536"], /^host-local: --listen: /],
  [["--listen", "127.0.0.1:1/healthz"], /^host-local: --listen: /],
] as const) {
  test(`agent ${words.join(" ")}: wrong usage`, (t) => {
    t.match(tool(["agent", ...words]), { exitCode: 2, stdout: "", stderr: message });
    t.end();
  });
}

test("the document at the start matches docs/operator-json.md", async (t) => {
  const { node } = nodeWithPod(t);
  const agent = startAgent(t, [
    "--gc",
    "--listen",
    `127.0.0.1:${await freePort()}`,
    "--json",
    "--conf-dir",
    node.confDir,
  ]);

  const document = await eventually("it is printed", () => {
    const { stdout } = agent.output();
    return stdout.endsWith("\n}\n") ? JSON.parse(stdout) : undefined;
  });

  t.strictSame(formOf(document), formOf(exampleOf("agent")));
});
