/** A node with a network `net` of the `bridge` plugin on `cni0`, and with pods that libcni remembers. */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheEntry } from "../harness/results-cache.ts";
import { tool } from "../harness/tool.ts";
import type { PrintedFinding } from "../operator/node.ts";
import type { Host } from "./host.ts";
import { type Network, readNetwork } from "./libcni.ts";
import { Pod } from "./pod.ts";

const RESULTS = "/var/lib/cni/results";

/** A pod that was added, and its address without the prefix length. */
export interface AddedPod {
  readonly pod: Pod;
  readonly address: string;
  /** Its interfaces on the node: the bridge, and the port of it. */
  readonly hostInterfaces: readonly string[];
}

/**
 * Writes the configuration of the network.
 *
 * @param ipam its `ipam`, without the type
 * @param plugin further keys for the `bridge` plugin
 */
export function configure(ipam: object, plugin: object = { isGateway: true }): Network {
  const section = { type: "host-local", ...ipam };
  const bridge = { type: "bridge", bridge: "cni0", ...plugin, ipam: section };
  const text = JSON.stringify({ cniVersion: "1.0.0", name: "net", plugins: [bridge] });
  mkdirSync("/etc/cni/net.d", { recursive: true });
  writeFileSync("/etc/cni/net.d/net.conflist", text);
  return readNetwork(text);
}

/** Adds a pod, and remembers it as libcni does. */
export function add(host: Host, network: Network, name: string): AddedPod {
  const pod = new Pod(name);
  const { ips = [], interfaces = [] } = host.runtime.add(network, pod);
  const hostInterfaces = interfaces.flatMap((link) => (link.sandbox ? [] : link.name));
  const [{ address = "", gateway = "" } = {}] = ips;
  mkdirSync(RESULTS, { recursive: true });
  const about = { netns: pod.netns, hostInterfaces, pod: `default/${name}` };
  const known = { ...about, addresses: [address], gateway };
  const entry = cacheEntry("net", name, known);
  writeFileSync(join(RESULTS, entry.name), entry.text);
  return { pod, address: address.replace(/\/.*/, ""), hostInterfaces };
}

/** Ends a pod, as the runtime does. */
export function end(host: Host, network: Network, { pod }: Pick<AddedPod, "pod">): void {
  host.runtime.del(network, pod);
  pod.remove();
  rmSync(join(RESULTS, cacheEntry("net", pod.containerId).name));
}

/** The findings of `check` on the node. */
export function findings(): readonly PrintedFinding[] {
  return JSON.parse(tool(["check", "--json"]).stdout).findings;
}
