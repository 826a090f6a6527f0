// test: native executable, full extent only, slow, Go plugin
/**
 * Why an address should rest: conntrack sends a client that tries again to the next pod with the address. The numbers are
 * those of docs/evidence/reuse.md.
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Test, test } from "tap";
import { type ExecutableNetwork, networkFor } from "../harness/executable-network.ts";
import { byGoPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { processWith, skipWithoutNamespaces } from "../harness/network-namespaces.ts";
import { randomFrom } from "../harness/random.ts";
import { until } from "../harness/until.ts";

const nat = "iptables -t nat -S && cat /proc/net/nf_conntrack";
const skip: string | false =
  skipWithoutNamespaces !== false || spawnSync("unshare", ["--net", "sh", "-c", nat]).status === 0
    ? skipWithoutNamespaces
    : "There is no iptables with nat here, or no /proc/net/nf_conntrack.";

const range = { subnet: "10.97.0.0/22", rangeStart: "10.97.1.1", rangeEnd: "10.97.2.144" };
const ADDRESSES = 400;

/** 95 % of them. */
const USED = 380;

/** Services whose pod ends while a client connects to it; there are two more free addresses. */
const SERVICES = 18;

/** Each pod says by which address it was called. */
const SERVER = `require("net")
  .createServer((socket) => socket.end(socket.localAddress))
  .listen(80, "0.0.0.0", () => console.log("ready"))`;

/** When the client gives up, in milliseconds; usually it tries for two minutes. */
const PATIENCE = 15_000;

/** Connects to a service, always from the same port, and says who has answered. */
const CLIENT = `require("readline").createInterface(process.stdin).on("line", (service) => {
  const to = { host: "10.96.0." + service, port: 80, localPort: 40000 + Number(service) };
  let text = "";
  const socket = require("net").connect(to);
  setTimeout(() => socket.destroy(), ${PATIENCE});
  socket
    .on("data", (data) => (text += data))
    .on("error", () => {})
    .on("close", () => console.log(service + " " + text));
})`;

/** Runs a program in the network namespace of a process. */
function inside(processId: number, ...words: readonly string[]): string {
  return execFileSync("nsenter", [`--net=/proc/${processId}/ns/net`, ...words], {
    encoding: "utf8",
  });
}

function startNode(t: Test, processId: number, script: string): ChildProcess {
  const words = [`--net=/proc/${processId}/ns/net`, process.execPath, "-e", script];
  const child = spawn("nsenter", words, { stdio: ["pipe", "pipe", "inherit"] });
  t.teardown(() => child.kill("SIGKILL"));
  return child;
}

function linesOf({ stdout }: ChildProcess): AsyncIterator<string> {
  if (stdout === null) throw new Error("it has no output");
  return createInterface(stdout)[Symbol.asyncIterator]();
}

/** A node between a client and its pods, all of which are in one namespace. */
async function startCluster(t: Test) {
  const node = await processWith(t);
  const client = await processWith(t);
  const pods = await processWith(t);
  for (const [name, to, net] of [
    ["client", client, "10.98.0"],
    ["pods", pods, "10.98.1"],
  ] as const) {
    const peer = ["type", "veth", "peer", "name", "eth0", "netns", `${to}`];
    inside(node, "ip", "link", "add", name, ...peer);
    inside(node, "ip", "address", "add", `${net}.1/30`, "dev", name);
    inside(node, "ip", "link", "set", name, "up");
    inside(to, "ip", "address", "add", `${net}.2/30`, "dev", "eth0");
    inside(to, "ip", "link", "set", "eth0", "up");
    inside(to, "ip", "route", "add", "default", "via", `${net}.1`);
  }
  inside(node, "ip", "route", "add", "10.97.0.0/22", "via", "10.98.1.2");
  inside(node, "sysctl", "-qw", "net.ipv4.ip_forward=1");
  await linesOf(startNode(t, pods, SERVER)).next();
  const caller = startNode(t, client, CLIENT);
  const answers = linesOf(caller);
  return {
    podAddress: (verb: "add" | "del", address: string): void => {
      inside(pods, "ip", "address", verb, `${address}/32`, "dev", "lo");
    },
    /** The service is sent to the address of its pod. */
    rule: (verb: "-A" | "-D", service: number, address: string): void => {
      const match = ["-d", `10.96.0.${service}`, "-p", "tcp"];
      const words = ["PREROUTING", ...match, "-j", "DNAT", "--to-destination", address];
      inside(node, "iptables", "-t", "nat", verb, ...words);
    },
    /** The client connects, until the node has seen it. */
    connect: async (service: number): Promise<void> => {
      caller.stdin?.write(`${service}\n`);
      const isSeen = (): boolean =>
        inside(node, "cat", "/proc/net/nf_conntrack").includes(`dst=10.96.0.${service} `);
      await until(`a connection to service ${service}`, isSeen);
    },
    /** Who has answered, once each connection is over. */
    answers: async (): Promise<ReadonlyMap<number, string>> => {
      const found = new Map<number, string>();
      while (found.size < SERVICES) {
        const { value, done } = await answers.next();
        if (done) throw new Error(`the client ended after ${found.size} answers`);
        const [service = "", address = ""] = value.split(" ");
        found.set(Number(service), address);
      }
      return found;
    },
  };
}

/** A network of which 380 random addresses are in use, by containers of these names. */
function usedNetwork(t: Test, options: object): { network: ExecutableNetwork; ids: string[] } {
  const network = networkFor(t, range);
  const random = randomFrom(22);
  const ids = Array.from({ length: ADDRESSES }, (_, at) => `pod-${at}`);
  for (const id of ids) network.add(id, options);
  while (ids.length > USED) {
    const [id = ""] = ids.splice(random.integer(ids.length), 1);
    network.del(id, options);
  }
  return { network, ids };
}

/**
 * The pods of 18 services end, each while a client connects to it, and are replaced.
 *
 * @returns how many connections reached a pod of another service, and how many ADDs failed
 */
async function wrongConnections(
  t: Test,
  before: object,
  options: object,
): Promise<{ readonly wrong: number; readonly failed: number }> {
  const { network, ids } = usedNetwork(t, before);
  const cluster = await startCluster(t);
  const random = randomFrom(2026);
  const replacements = new Map<number, string>();
  let failed = 0;
  for (let service = 1; service <= SERVICES; service++) {
    const [id = ""] = ids.splice(random.integer(ids.length), 1);
    const holders = Object.entries(network.reservations());
    const [address = ""] = holders.find(([, owner]) => owner === `${id}\r\neth0`) ?? [];
    cluster.rule("-A", service, address);
    await cluster.connect(service);
    network.del(id, options);
    const [replacement] = network.add(`replacement-${service}`, options).addresses;
    if (replacement === undefined) failed++;
    else {
      replacements.set(service, replacement);
      cluster.podAddress("add", replacement);
      cluster.rule("-D", service, address);
      cluster.rule("-A", service, replacement);
    }
  }
  const answers = await cluster.answers();
  const wrong = [...answers].filter(
    ([service, address]) => address !== "" && address !== replacements.get(service),
  );
  return { wrong: wrong.length, failed };
}

/** The connections to the wrong pod that the page has for a plugin. */
function onPage(name: string): number {
  const page = readFileSync("docs/evidence/reuse.md", "utf8");
  const row = page.split("\n").find((line) => line.startsWith(`| ${name} |`));
  return Number(row?.split("|")[2]?.replace(` of ${SERVICES}`, ""));
}

const delay = { ipam: { reuseDelaySeconds: "conntrack" } };

for (const [name, before, options, skipped, isHarmless] of [
  ["the Go plugin", byGoPlugin, byGoPlugin, skip || skipWithoutGoPlugin, false],
  ["without the key", {}, {}, skip, false],
  ['`"reuseDelaySeconds": "conntrack"`', {}, delay, skip, true],
] as const) {
  test(`connections to pods that ended, and an address is used again: ${name}`, {
    skip: skipped,
    timeout: 300_000,
  }, async (t) => {
    const { wrong, failed } = await wrongConnections(t, before, options);

    t.equal(failed, 0, "no ADD fails");
    t.comment(`${name}: ${wrong} of ${SERVICES}`);
    t.equal(wrong === 0, isHarmless, `${wrong} of ${SERVICES} connections`);
    t.equal(onPage(name) === 0, isHarmless, "and so says the page");
  });
}
