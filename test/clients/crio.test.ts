// test: each executable, full extent only, slow, sees the node, makes namespaces, mounts
/** CRI-O, whose sandboxes have no process, at its start, and after a crash. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Network } from "../e2e/libcni.ts";
import { addressesInTwo, nodeNamespaces } from "../e2e/node-namespaces.ts";
import { executable } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";
import { until } from "../harness/until.ts";
import { clientScenario } from "./client-scenario.ts";
import { Cnitool } from "./cnitool.ts";
import { Crio, crioVersion, needsOfCrio, needsOfMultus } from "./crio.ts";
import { networkOf } from "./range-life.ts";

/** A cluster network whose list forwards GC to the plugin, which `bridge` does not do. */
function collected(subnet: string): Network {
  const { name, plugins } = networkOf(subnet);
  const collector = { type: "host-local", gcOnly: true, ipam: plugins[0]?.ipam ?? null };
  return { cniVersion: "1.1.0", name, plugins: [...plugins, collector] };
}

/** The annotation by which pods request an address, if the main plugin has the capability. */
const asked = "example.com/ip";

clientScenario(
  {
    name: "CRI-O",
    scenario:
      "an annotation asks for an address. At its start STATUS, DEL, GC of each network, CHECK",
    needs: { ...needsOfCrio, programs: ["cnitool"] },
    version: crioVersion,
    fixture: "crio",
  },
  async (t, host) => {
    const { name, plugins, ...list } = collected("10.65.0.0/29");
    const [bridge, ...others] = plugins;
    const annotated = {
      ...bridge,
      type: "bridge",
      capabilities: { "io.kubernetes.cri.pod-annotations": true },
      ipam: { type: "host-local", subnet: "10.65.0.0/29", requested: { by: [asked] } },
    };
    const [bridged] = networkOf("10.66.0.0/29").plugins;
    const foreign: Network = {
      cniVersion: "1.1.0",
      name: "other",
      plugins: [{ ...bridged, type: "bridge", bridge: "cni-other" }],
    };
    host.configure({ ...list, name, plugins: [annotated, ...others] }, foreign);
    await new Cnitool(host, "cnitool", foreign).start("foreign");
    t.equal(Object.keys(host.reservations("other")).length, 1);
    const crio = await Crio.start(t, host);
    t.same(host.reservations("other"), {}, "what is no pod of its default network gets a DEL");
    for (const pod of ["first", "second"]) await crio.pods.start(pod);
    await crio.pods.start("asks", { [asked]: "10.65.0.6" });
    const before = host.reservations(name);
    t.same(Object.keys(before), ["10.65.0.2", "10.65.0.3", "10.65.0.6"]);
    await crio.pods.stop("second");
    await crio.restart();
    const since = host.recordedCalls().map(({ environment: { CNI_COMMAND = "" } }) => CNI_COMMAND);
    for (const verb of ["STATUS", "GC", "CHECK"]) t.ok(since.includes(verb), verb);
    t.same(Object.keys(host.reservations(name)), ["10.65.0.2", "10.65.0.6"]);
    for (const pod of ["first", "asks"]) await crio.pods.stop(pod);
    t.same(host.reservations(name), {});
  },
);

/** Runs gc with the capabilities of a container and no others, such as `DAC_OVERRIDE`. */
function gcWith(capabilities: readonly string[]) {
  const set = capabilities.map((name) => `+${name.toLowerCase()}`);
  const bounds = ["--no-new-privs", `--bounding-set=-all,${set.join(",")}`, executable];
  const words = [...bounds, "gc", "--yes", "--now", "--grace", "0s"];
  return spawnSync("setpriv", words, { encoding: "utf8" });
}

/** The capabilities of the agent in the DaemonSet, also in the overlay for OpenShift. */
function capabilitiesOfAgent(): readonly string[] {
  const text = readFileSync(inRepository("deploy/base/daemonset.yaml"), "utf8");
  return [...text.matchAll(/add: \[(.*)\]/g)].at(-1)?.[1]?.split(", ") ?? [];
}

clientScenario(
  {
    name: "CRI-O, gc in a container",
    scenario: "sandboxes without a process, with the capabilities of the DaemonSet",
    needs: { ...needsOfCrio, seesProcesses: true },
    version: crioVersion,
  },
  async (t, host) => {
    const network = collected("10.65.0.0/29");
    host.configure(network);
    const crio = await Crio.start(t, host);
    const held = (): readonly string[] => Object.keys(host.reservations(network.name));
    const lose = async (pod: string): Promise<void> => {
      await crio.pods.start(pod);
      const { CNI_NETNS: netns = "" } = host.recordedCalls().at(-1)?.environment ?? {};
      execFileSync("umount", ["--lazy", netns]);
      rmSync(netns);
    };
    const own = capabilitiesOfAgent();

    await crio.pods.start("living");
    await lose("recorded");
    t.match(gcWith(own), { status: 0, stdout: /1 alive, 1 dead; 1 released/ });
    t.same(held(), ["10.65.0.2"], "what is recorded is known");

    await lose("cached");
    // Without this directory, the reservations are like the Go plugin's.
    rmSync("/var/lib/cni/networks/.host-local", { recursive: true });
    const anHourAgo = "find /var/lib/cni -type f -exec touch -d '1 hour ago' {} +";
    execFileSync("sh", ["-c", anHourAgo]);
    t.match(gcWith(own), { status: 0, stdout: /1 alive, 1 dead; 1 released/ });
    t.same(held(), ["10.65.0.2"], "what CRI-O's cache names is known");
  },
);

clientScenario(
  {
    name: "CRI-O with multus",
    fixture: "crio-multus",
    scenario: "restarts while pods have no process: GC of the cluster network without a list",
    needs: needsOfMultus,
    version: crioVersion,
  },
  async (t, host) => {
    const cluster = collected("10.63.0.0/29");
    const delegating = { type: "multus", delegates: [{ ...cluster }] };
    host.configure({ cniVersion: "1.1.0", name: "multus", plugins: [delegating] }, cluster);
    const crio = await Crio.start(t, host);
    for (const name of ["first", "second"]) await crio.pods.start(name);
    const before = host.reservations(cluster.name);
    t.equal(Object.keys(before).length, 2, "two pods have addresses");

    await crio.restart();
    const collections = host.recordedCalls().filter(({ environment, stdin }) => {
      const attachments = JSON.parse(stdin || "{}")["cni.dev/valid-attachments"];
      return environment.CNI_COMMAND === "GC" && attachments === null;
    });
    t.ok(collections.length > 0, "CRI-O sends GC with null for the cluster network");
    t.same(host.reservations(cluster.name), before, "the pods keep their addresses");
    for (const name of ["third", "fourth", "fifth"]) await crio.pods.start(name);
    t.same(addressesInTwo(), [], "no address is in two network namespaces");
  },
);

clientScenario(
  {
    name: "CRI-O, dual stack",
    scenario: "is killed while bridge is in ADD: it forgets the sandbox, whose namespace lives",
    needs: needsOfCrio,
    version: crioVersion,
  },
  async (t, host) => {
    const network = collected("10.64.0.0/29");
    const ranges = [[{ subnet: "10.64.0.0/29" }], [{ subnet: "fd64::/125" }]];
    const ipam = { type: "host-local", ranges };
    host.configure({ ...network, plugins: network.plugins.map((plugin) => ({ ...plugin, ipam })) });
    const crio = await Crio.start(t, host);
    const gate = "/run/held";
    writeFileSync(gate, "");
    host.hold("bridge", gate);
    const lost = crio.pods.start("lost").catch(() => undefined);
    await until("bridge at work", () =>
      nodeNamespaces().some(({ addresses }) => addresses.includes("10.64.0.2")),
    );
    await crio.kill();
    await lost;
    rmSync(gate);
    await until("the end of bridge", () => !existsSync(`${gate}.busy`));

    await crio.restart();
    t.ok("10.64.0.2" in host.reservations(network.name), "the address stays reserved");
    for (const name of ["second", "third", "fourth", "fifth"]) await crio.pods.start(name);
    t.same(addressesInTwo(), [], "no address is in two network namespaces");
    await t.rejects(
      crio.pods.start("sixth"),
      /no IP addresses available in range set/,
      "nor is it handed out",
    );
  },
);
