// test: native executable, full extent only, slow, Go plugin, makes namespaces
/**
 * Why an address should rest: conntrack sends a client that tries again to the next pod with the address. How often that
 * happens is in docs/evidence/reuse.md.
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { type Test, test } from "tap";
import { networkFor } from "../harness/executable-network.ts";
import { byGoPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { lacking } from "../harness/needs.ts";
import { processWith } from "../harness/network-namespaces.ts";
import { ownNetwork } from "../harness/own-network.ts";
import { until } from "../harness/until.ts";

const nat = "iptables -t nat -S && cat /proc/net/nf_conntrack";
const skip: string | false =
  lacking("makes namespaces") ||
  (spawnSync("unshare", ["--net", "sh", "-c", nat]).status === 0
    ? false
    : "There is no iptables with nat here, or no /proc/net/nf_conntrack.");

/** Each pod says by which address it was called. */
const SERVER = `require("net")
  .createServer((socket) => socket.end(socket.localAddress))
  .listen(80, "0.0.0.0", () => console.log("ready"))`;

/** Connects to the service, says who has answered, and gives up after ten seconds; usually after two minutes. */
const CLIENT = `const socket = require("net").connect(80, process.argv[1]);
  setTimeout(() => socket.destroy(), 10_000);
  socket.on("data", (data) => process.stdout.write(data)).on("error", () => {}).on("close", () => process.exit())`;

/** Runs a program in the network namespace of a process. */
function inside(processId: number, ...words: readonly string[]): string {
  const entered = [`--net=/proc/${processId}/ns/net`, ...words];
  return execFileSync("nsenter", entered, { encoding: "utf8" });
}

function startNode(
  t: Test,
  processId: number,
  ...[script, ...rest]: readonly [script: string, ...rest: readonly string[]]
): ChildProcess {
  const words = [`--net=/proc/${processId}/ns/net`, process.execPath, "-e", script, ...rest];
  const child = spawn("nsenter", words, { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => child.kill("SIGKILL"));
  return child;
}

/**
 * A node between a client and its pods, all of which are in one namespace.
 *
 * @param ipv4 the first three octets of its addresses; those of the pods begin at 0
 */
async function startCluster(t: Test, ipv4: string) {
  const node = await processWith(t);
  const client = await processWith(t);
  const pods = await processWith(t);
  for (const [name, to, net] of [
    ["client", client, 32],
    ["pods", pods, 36],
  ] as const) {
    const [own, other] = [`${ipv4}.${net + 1}`, `${ipv4}.${net + 2}`];
    const peer = ["type", "veth", "peer", "name", "eth0", "netns", `${to}`];
    inside(node, "ip", "link", "add", name, ...peer);
    inside(node, "ip", "address", "add", `${own}/30`, "dev", name);
    inside(node, "ip", "link", "set", name, "up");
    inside(to, "ip", "address", "add", `${other}/30`, "dev", "eth0");
    inside(to, "ip", "link", "set", "eth0", "up");
    inside(to, "ip", "route", "add", "default", "via", own);
  }
  inside(node, "ip", "route", "add", `${ipv4}.0/29`, "via", `${ipv4}.38`);
  inside(node, "sysctl", "-qw", "net.ipv4.ip_forward=1");
  const server = startNode(t, pods, SERVER);
  if (server.stdout !== null) await once(server.stdout, "data");
  return { node, client, pods };
}

for (const [name, options, skipped, last] of [
  ["the Go plugin", byGoPlugin, skip || skipWithoutGoPlugin, 2],
  ["without the key", {}, skip, 2],
  ['`"reuseDelaySeconds": "conntrack"`', { ipam: { reuseDelaySeconds: "conntrack" } }, skip, 3],
] as const) {
  const isWrong = last === 2;
  test(`${name}: a client of an ended pod ${isWrong ? "reaches" : "does not reach"} the next one`, {
    skip: skipped,
    timeout: 300_000,
  }, async (t) => {
    const { ipv4 } = await ownNetwork(t);
    const network = networkFor(t, { subnet: `${ipv4}.0/29`, rangeEnd: `${ipv4}.3` });
    const { node, client, pods } = await startCluster(t, ipv4);
    const [ended, given] = [`${ipv4}.2`, `${ipv4}.${last}`];
    const [service, other] = [`${ipv4}.65`, `${ipv4}.66`];
    t.same(network.add("ends", options).addresses, [ended]);
    network.add("earlier", options);
    network.del("earlier", options);
    const route = (verb: "-A" | "-D", to: string, address: string): void => {
      const match = ["PREROUTING", "-d", to, "-p", "tcp"];
      inside(
        node,
        "iptables",
        "-t",
        "nat",
        verb,
        ...match,
        "-j",
        "DNAT",
        "--to-destination",
        address,
      );
    };
    route("-A", service, ended);
    const { stdout } = startNode(t, client, CLIENT, service);
    await until("a connection to the service", () =>
      inside(node, "cat", "/proc/net/nf_conntrack").includes(`dst=${service} `),
    );

    network.del("ends", options);
    t.same(network.add("next", options).addresses, [given]);
    route("-A", other, given);
    route("-D", service, ended);
    inside(pods, "ip", "address", "add", `${given}/32`, "dev", "lo");

    t.equal(stdout && (await text(stdout)), isWrong ? given : "");
  });
}
