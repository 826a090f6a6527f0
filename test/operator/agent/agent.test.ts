// test: each executable, one if short, slow, mounts
/** `agent` as a process: what it serves, what it runs, and how it ends. */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { type Test, test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { isNative } from "../../harness/executable.ts";
import { extent } from "../../harness/extent.ts";
import { lacking } from "../../harness/needs.ts";
import { tool } from "../../harness/tool.ts";
import { until } from "../../harness/until.ts";
import { listOf } from "../gc/pods-on-node.ts";
import { exampleOf, formOf } from "../json-examples.ts";
import { nodeFor } from "../node.ts";
import { every, get, heldPort, peakMemory, startAgent } from "./running-agent.ts";

/** A node with a network and a pod, and the tasks for it. */
function nodeWithPod(t: Pick<Test, "teardown">) {
  const node = nodeFor(t);
  node.network("mynet", { subnet: "198.51.100.0/24" });
  node.call("ADD", "mynet", "c1");
  const networks = ["--conf-dir", node.confDir, "--data-dir", node.dataDir];
  const place = [...networks, "--cache-dir", node.cacheDir];
  return {
    node,
    gc: (interval: string, ...source: readonly string[]) =>
      every(interval, "gc", ...place, ...source, "--yes", "--log"),
    metrics: (...words: readonly string[]) => every("1s", "metrics", ...place, ...words),
    feature: every("1s", "capacity", ...networks, "--node-feature", node.root),
  };
}

/** Waits for a state of the agent, and returns what it says about it. */
async function healthOf(port: number, pattern: RegExp, address?: string): Promise<string> {
  let health = "";
  await until(`${pattern}`, async () => {
    health = (await get(port, "/healthz", address))?.body ?? "";
    return pattern.test(health);
  });
  return health;
}

/** A shell command that goes on for longer than any test. */
interface LastingCommand {
  readonly text: string;
  /** Waits until it runs. */
  readonly begun: Promise<unknown>;
  /** Waits until all of its processes have ended. */
  readonly ended: Promise<unknown>;
}

function lastingCommand(t: Pick<Test, "teardown">): LastingCommand {
  const fifo = join(scratchDirectory(t), "fifo");
  execFileSync("mkfifo", [fifo]);
  const reader = createReadStream(fifo);
  t.teardown(() => {
    // Opening waits for a writer, if there was none.
    closeSync(openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK));
    reader.destroy();
  });
  return {
    text: `exec 3> '${fifo}'; echo begun >&3; sleep 3600`,
    begun: once(reader, "data"),
    ended: once(reader, "end"),
  };
}

for (const [signal, host] of [
  ["SIGTERM", "127.0.0.1"],
  ["SIGINT", "::1"],
] as const) {
  test(`it serves metrics and its state on ${host}, until ${signal}`, async (t) => {
    const { gc, metrics } = nodeWithPod(t);
    const port = await heldPort(t, host);
    const address = net.isIPv6(host) ? `[${host}]` : host;
    const words = ["--listen", `${address}:${port}`, ...gc("15m"), ...metrics()];
    const agent = startAgent(t, words);

    const health = await healthOf(port, /passed/, address);
    const served = await get(port, "/metrics", address);
    agent.process.kill(signal);

    t.equal(health, "[+]http ok\n[+]gc ok\n[+]metrics ok\nhealthz check passed\n");
    t.match(served, { status: 200, body: /^cni_ipam_addresses_used\{network="mynet",.*\} 1$/m });
    t.equal(await agent.ended, 0);
    t.match(agent.output(), {
      stdout: /^TASK +EVERY +COMMAND\ngc +15m +host-local gc /,
      stderr: "",
    });
  });
}

test("as the first process of a container it ends at once, with the command that runs", {
  skip: lacking("mounts"),
}, async (t) => {
  const { gc } = nodeWithPod(t);
  const port = await heldPort(t);
  const command = lastingCommand(t);
  const words = ["--listen", `127.0.0.1:${port}`, ...gc("15m", "--live-command", command.text)];
  const container = startAgent(t, words, ["unshare", "--pid", "--fork", "--mount-proc"]);
  await command.begun;
  const [first = ""] = readFileSync(
    `/proc/${container.process.pid}/task/${container.process.pid}/children`,
    "utf8",
  ).split(" ");

  t.match(await get(port, "/healthz"), { status: 503, body: /gc has not run yet/ });
  process.kill(Number(first), "SIGTERM");

  t.equal(await container.ended, 0);
  await command.ended;
});

test("a command that hangs is ended with the agent", async (t) => {
  const command = lastingCommand(t);
  const agent = startAgent(t, nodeWithPod(t).gc("15m", "--live-command", command.text));
  await command.begun;

  agent.process.kill("SIGTERM");

  t.equal(await agent.ended, 0);
  await command.ended;
});

test("while a gc hangs the last metrics are served, and it is no success", async (t) => {
  const { node, gc, metrics } = nodeWithPod(t);
  const port = await heldPort(t);
  const command = lastingCommand(t);
  const words = ["--listen", `127.0.0.1:${port}`];
  startAgent(t, [...words, ...metrics(), ...gc("15m", "--live-command", command.text)]);
  await command.begun;
  node.call("ADD", "mynet", "c9");

  t.match(await get(port, "/metrics"), {
    status: 200,
    body: /^cni_ipam_addresses_used\{.*\} 1$/m,
  });
  t.match(await get(port, "/healthz"), {
    status: 503,
    body: "[+]http ok\n[+]metrics ok\n[-]gc has not run yet\nhealthz check failed\n",
  });
});

test("a failing task is reported, and the others go on", async (t) => {
  const { node, gc, metrics } = nodeWithPod(t);
  const bin = scratchDirectory(t);
  const port = await heldPort(t);
  tool(["install", bin, "--yes"]);
  const agent = startAgent(t, [
    ...["--listen", `127.0.0.1:${port}`],
    ...every("1s", "install", bin, "--if-replaced", "--yes"),
    ...gc("1s"),
    ...metrics(),
  ]);
  await healthOf(port, /metrics ok/);

  renameSync(node.dataDir, `${node.dataDir}.away`);
  const health = await healthOf(port, /gc failed[\s\S]*metrics failed/);
  const served = await get(port, "/metrics");
  // Not over the file, which install may be running.
  writeFileSync(join(bin, "other"), "#!/bin/sh\nexit 1\n");
  renameSync(join(bin, "other"), join(bin, "host-local"));
  await agent.written("stderr", `\nInstalled ${bin}/host-local, which supports CNI 0.1.0, `);
  renameSync(`${node.dataDir}.away`, node.dataDir);
  await agent.written("stderr", "host-local: gc: succeeded again\n");
  await agent.written("stderr", "host-local: metrics: succeeded again\n");

  const expected =
    "[+]http ok\n[+]install ok\n[-]gc failed: exit code 2\n[-]metrics failed: exit code 2\n";
  t.equal(health, `${expected}healthz check failed\n`);
  t.match(served, { status: 503 });
  const reason = `--data-dir: ${node.dataDir}: no such file or directory`;
  const said = `host-local: gc: ${reason}\nhost-local: gc: failed: exit code 2\n`;
  t.match(agent.output().stderr, said);
});

/** In short, only that they are logged. */
const releases = extent === "short" ? 2 : 1200;

test("releases are logged whatever their number, and need no memory", async (t) => {
  const { node, gc } = nodeWithPod(t);
  node.network("large", { subnet: "2001:db8::/64" });
  node.call("ADD", "large", "alive");
  const addressOf = (index: number): string => `2001:db8::${index.toString(16)}`;
  const dead = Array.from({ length: releases }, (_, index) => ({
    address: addressOf(256 + index),
    id: `c${index}-${"x".repeat(4000)}`,
  }));
  for (const [index, { address, id }] of dead.entries()) {
    node.write(`large/${address}`, `${id}\r\neth0`, 60);
    // As many live ones: gc would refuse to release more than half.
    node.write(`large/${addressOf(4096 + index)}`, "alive\r\neth0", 60);
  }

  const agent = startAgent(t, gc("1s", "--live-command", listOf("alive", "c1"), "--grace", "1s"));
  const lines = dead.map(
    ({ address, id }) => `host-local: gc: released ${address} of large, held by ${id}\n`,
  );
  await agent.written("stderr", lines.at(-1) ?? "");

  t.equal(agent.output().stderr, lines.join(""), "and nothing else");
  if (isNative) t.ok(peakMemory(agent.process.pid ?? 0) < 8 * 1024, "in KiB");
});

test("files are written again and again, while a client keeps its connection", async (t) => {
  const { node, metrics, feature } = nodeWithPod(t);
  const port = await heldPort(t);
  const file = join(node.root, "ipam.prom");
  const listen = ["--listen", `127.0.0.1:${port}`];
  startAgent(t, [...listen, ...metrics("--output", file), ...feature, ...metrics()]);
  await until("metrics", async () => (await get(port, "/metrics"))?.status === 200);
  const client = net.connect(port, "127.0.0.1");
  t.teardown(() => client.destroy());
  client.write("GET /metrics HTT");

  for (const path of [file, join(node.root, "host-local.mynet")]) {
    await until(path, () => existsSync(path));
    const { ino } = statSync(path);
    await until(`another ${path}`, () => statSync(path).ino !== ino);
  }
  client.end("P/1.1\r\n\r\n");
  let response = "";
  for await (const chunk of client) response += chunk;

  t.match(response, /^HTTP\/1.1 200 OK\r\n/);
});

test("its memory does not grow", { skip: !isNative && "Node.js needs more." }, async (t) => {
  const { gc, metrics } = nodeWithPod(t);
  const port = await heldPort(t);
  const words = ["--listen", `127.0.0.1:${port}`, ...gc("1s"), ...metrics()];
  const { process } = startAgent(t, words);
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

test("a port in use is logged and tried again, and the tasks go on", async (t) => {
  const { node, metrics } = nodeWithPod(t);
  const server = net.createServer();
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  const file = join(node.root, "ipam.prom");
  const inUse = `host-local: http: failed: listen 127.0.0.1:${port}: address already in use\n`;

  const words = ["--listen", `127.0.0.1:${port}`, ...metrics("--output", file)];
  const agent = startAgent(t, words);

  await agent.written("stderr", inUse);
  await until(file, () => existsSync(file));
  await new Promise((resolve) => server.close(resolve));
  await agent.written("stderr", "host-local: http: succeeded again\n");
  t.equal(await healthOf(port, /ok/), "[+]http ok\n[+]metrics ok\nhealthz check passed\n");
  t.equal(agent.output().stderr, `${inUse}host-local: http: succeeded again\n`);
});

test("an answer may be long, a request not, and that is answered whatever its bytes are", async (t) => {
  const { node, metrics } = nodeWithPod(t);
  for (const name of "abcdefghijklmnopqrstuvwxyz") node.network(name, { subnet: "203.0.113.0/24" });
  const port = await heldPort(t);
  startAgent(t, ["--listen", `127.0.0.1:${port}`, ...metrics()]);
  await healthOf(port, /healthz check passed/);

  const answer = (await get(port, "/metrics"))?.body ?? "";
  t.ok(answer.length > 8192, `${answer.length}`);
  t.match(answer, /\n$/);
  for (const [field, status] of [
    ["y".repeat(7900), "200 OK"],
    ["y".repeat(20_000), "400 Bad Request"],
    ["\xff".repeat(9000), "400 Bad Request"],
    ["\xc3\xa9".repeat(5000), "400 Bad Request"],
    ["\xf0\x9f\x98\x80".repeat(3000), "400 Bad Request"],
  ] as const) {
    const client = net.connect(port, "127.0.0.1");
    let response = "";
    client.setEncoding("latin1").on("data", (chunk) => {
      response += chunk;
    });
    client.write(Buffer.from(`GET /metrics HTTP/1.1\r\nx: ${field}\r\n\r\n`, "latin1"));
    // It may be refused before all of it is read.
    await new Promise((ends) => client.on("close", ends).on("error", ends));
    t.equal(/^HTTP\/1\.1 (.*)\r\n/.exec(response)?.[1], status, field.slice(0, 4));
  }
});

test("clients that send nothing keep no other one waiting", async (t) => {
  const { metrics } = nodeWithPod(t);
  const port = await heldPort(t);
  startAgent(t, ["--listen", `127.0.0.1:${port}`, ...metrics()]);
  await healthOf(port, /metrics ok/);
  const idle = Array.from({ length: 20 }, () => net.connect(port, "127.0.0.1"));
  t.teardown(() => {
    for (const client of idle) client.destroy();
  });
  await Promise.all(idle.map((client) => once(client.resume(), "connect")));

  t.match(await get(port, "/healthz"), { status: 200 });
  t.ok(
    idle.some((client) => !client.readableEnded),
    "before their time is over",
  );
});

const missing = "--every: expected a command after each, such as --every 15m 'gc --yes --log'";

for (const [words, message] of [
  [["gc"], missing],
  [["--every", "1m", "--every", "1m", "gc"], missing],
  [["--every", "0s", "gc"], "--every: expected a duration of at least 1s, found 0s"],
  [["--every", "1m", "gcc --yes"], 'unknown command "gcc"; did you mean gc?'],
  [["--every", "1m", "agent gc"], 'unknown command "agent"'],
  [["--every", "1m", "gc --yess"], "gc: --yess: unknown option; did you mean --yes?"],
  [["--every", "1m", "gc 'a"], "expected the end of a quote, found none in gc 'a"],
  [
    ["--listen", "[::1]:1", ...every("1m", "metrics", "a"), ...every("1m", "metrics", "b")],
    "--listen: expected one metrics command to serve, found several",
  ],
  ...["localhost:9464", "127.0.0.1:65536", "127.0.0.1:1/metrics"].map(
    (listen) =>
      [
        ["--listen", listen, "--every", "1m", "gc"],
        `--listen: expected an IP address and a port such as 127.0.0.1:9464, found ${listen}`,
      ] as const,
  ),
] as const) {
  test(`agent ${words.join(" ")}: wrong usage`, async (t) => {
    t.match(tool(["agent", ...words]), {
      exitCode: 2,
      stdout: "",
      stderr: `host-local: agent: ${message}\n`,
    });
  });
}

test("the document at the start matches its example", async (t) => {
  const { gc } = nodeWithPod(t);
  const listen = ["--listen", `127.0.0.1:${await heldPort(t)}`];
  const agent = startAgent(t, [...listen, ...gc("15m"), "--json"]);

  await agent.written("stdout", "\n}\n");

  t.strictSame(formOf(JSON.parse(agent.output().stdout)), formOf(exampleOf("agent")));
});
