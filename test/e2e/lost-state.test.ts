// test: native executable, full extent only, slow, sees the node, makes namespaces, mounts
/** The data directory is deleted or restored under living pods: kubernetes#39557, #57280, #43910, kube-aws#60, rke#340. */

import { execFileSync } from "node:child_process";
import type { Test } from "tap";
import { tool } from "../harness/tool.ts";
import { until } from "../harness/until.ts";
import type { PrintedFinding } from "../operator/node.ts";
import type { Host } from "./host.ts";
import { type Network, readNetwork } from "./libcni.ts";
import { nodeNamespaces } from "./node-namespaces.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const DIRECTORY = "/var/lib/cni/networks/net";

/**
 * Main plugins, each with its configuration. Macvlan makes an interface without another end, so nothing links it with the
 * node's namespace.
 */
const mainPlugins = [
  { type: "bridge", bridge: "cni0", isGateway: true },
  { type: "ptp" },
  { type: "macvlan", master: "lan0", mode: "bridge" },
] as const;

/**
 * The losses of `/var/lib/cni`, as shell commands, with how many of three living pods lose their reservations, and how many
 * addresses are not free: a backup has the reservation of a pod that has ended since.
 */
const losses = [
  ["everything is deleted", "rm -rf /var/lib/cni/*", 3, 3],
  ["the networks are deleted", "rm -rf /var/lib/cni/networks/*", 3, 3],
  [
    "one file and the cursor are lost",
    `rm ${DIRECTORY}/10.219.7.2 ${DIRECTORY}/last_reserved_ip.0`,
    1,
    3,
  ],
  ["a backup is restored", "rm -rf /var/lib/cni/* && cp -a /run/backup/. /var/lib/cni/", 3, 4],
] as const;

function run(line: string): void {
  execFileSync("sh", ["-c", line], { stdio: "pipe" });
}

/** The host's only network: 10.219.7.0/28, with 13 addresses for pods. */
function networkOf(host: Host, plugin: object): Network {
  run("ip link add lan0 type veth peer name lan1 && ip link set lan0 up && ip link set lan1 up");
  const ipam = { type: "host-local", ranges: [[{ subnet: "10.219.7.0/28" }]] };
  const network = readNetwork(
    JSON.stringify({ cniVersion: "1.1.0", name: "net", plugins: [{ ...plugin, ipam }] }),
  );
  host.configure(network);
  return network;
}

/** Adds the sandbox of a pod; its address becomes free once its namespace is gone. */
function add(host: Host, network: Network, name: string): Pod {
  const pod = new Pod(name);
  const cniArgs = `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${name}`;
  host.runtime.add(network, { containerId: name, netns: pod.netns, cniArgs });
  return pod;
}

function findings(): readonly PrintedFinding[] {
  return JSON.parse(tool(["check", "--json"]).stdout).findings;
}

/** Expects that every namespace has one address, and that all differ; returns them. */
function addressesOnce(t: Pick<Test, "equal">): readonly string[] {
  const all = nodeNamespaces().flatMap(({ addresses }) => addresses);
  t.equal(new Set(all).size, all.length, `${all}`);
  return all;
}

for (const plugin of mainPlugins) {
  const needs = { plugins: [plugin.type], cniVersion: "1.1.0", age: "newest" } as const;

  for (const [what, line, unreserved, used] of losses) {
    scenario(`${plugin.type}: ${what} under three pods, and three more start`, needs, (t, host) => {
      const network = networkOf(host, plugin);
      const former = add(host, network, "former");
      run("cp -a /var/lib/cni /run/backup");
      host.runtime.del(network, former);
      former.remove();
      for (const name of ["a", "b", "c"]) add(host, network, name);
      const living = nodeNamespaces().flatMap(({ addresses }) => addresses);
      t.same(living.toSorted(), ["10.219.7.3", "10.219.7.4", "10.219.7.5"]);
      run(line.replace("10.219.7.2", "10.219.7.3"));

      const found = findings().filter(({ code }) => code === "live-without-reservation");
      t.equal(found.length, unreserved);
      for (const { message, remedy } of found) {
        t.ok(
          living.some((address) => message.startsWith(`${address} is in use, and not reserved`)),
        );
        t.match(remedy, "drain the node");
      }
      const { networks } = JSON.parse(tool(["capacity", "--json"]).stdout);
      t.match(networks, [{ ranges: [{ used, free: 13 - used }] }], "none of them is free");
      t.match(tool(["show", "10.219.7.3"]).stdout, "but the network namespace /run/netns/");

      for (const name of ["d", "e", "f"]) {
        const [address = ""] = add(host, network, name).addresses();
        const file = address.replace(/\/.*/, "");
        t.equal(host.reservations("net")[file], `${name}\r\neth0`);
      }
      const now = addressesOnce(t);
      t.equal(now.length, 6);
      t.ok(
        living.every((address) => now.includes(address)),
        "every pod still has its own",
      );
      const reserved = () => now.filter((address) => address in host.reservations("net"));
      t.equal(reserved().length, 6 - unreserved);
      tool(["gc", "--now", "--yes"]);
      t.equal(reserved().length, 6 - unreserved, "gc releases none of the living");
      t.equal(findings().filter(({ code }) => code === "address-in-use-twice").length, 0);
    });
  }

  scenario(
    `${plugin.type}: an address that moved to another namespace is kept, by ADD as by GC`,
    // The scenario sees the processes of the machine: in a PID namespace of its own, ADD believes no namespace gone.
    { ...needs, seesProcesses: true },
    async (t, host) => {
      const network = networkOf(host, plugin);
      const pods = Array.from({ length: 13 }, (_, at) => add(host, network, `p${at}`));
      const [first, second] = pods;
      new Pod("other");
      // No ADD was called for this namespace, and the interface stays down: so nothing has to link it with the node's
      // namespace.
      run("ip -n p0 link set eth0 down && ip -n p0 link set eth0 name moved netns other");
      run("ip -n other addr add 10.219.7.2/28 dev moved");
      first?.remove();
      second?.remove();

      let next: Pod | undefined;
      let attempts = 0;
      const adds = () => {
        next = add(host, network, `next${attempts++}`);
        return true;
      };
      // The kernel removes a namespace some time later.
      await until("the address of a pod that is gone", adds, 10);
      t.same(next?.addresses(), ["10.219.7.3/28"], "that of a pod that is gone");
      t.throws(() => add(host, network, "last"), /no IP addresses available/);
      host.runtime.gc(network);
      t.ok(host.reservations("net")["10.219.7.2"], "nor does GC release it");
    },
  );
}

scenario(
  "what other programs have on the bridge is not handed out",
  { plugins: ["bridge"], cniVersion: "1.1.0", age: "newest" },
  (t, host) => {
    const network = networkOf(host, mainPlugins[0]);
    add(host, network, "a");
    new Pod("container");
    run("ip link add v0 type veth peer name v1 netns container && ip link set v0 up master cni0");
    run("ip -n container addr add 10.219.7.3/28 dev v1 && ip -n container link set v1 up");
    run("ip addr add 10.219.7.4/32 dev cni0");

    t.same(add(host, network, "b").addresses(), ["10.219.7.5/28"]);
    t.match(findings(), [
      { code: "live-without-reservation", message: "10.219.7.3 is in use, and not reserved" },
      { code: "node-address", message: "the node itself has 10.219.7.4 (cni0)" },
    ]);

    for (let at = 0; at < 9; at++) add(host, network, `p${at}`);
    t.throws(() => add(host, network, "next"), /no IP addresses available/);
    t.match(
      host.recordedCalls().at(-1)?.stdout,
      /; 1 more of the node itself; 10\.219\.7\.3 is in use by containers of this node, and not reserved/,
    );
  },
);
