// test: cluster, sees the node, makes namespaces, mounts
/**
 * One network definition for all nodes, each of which hands out a part. n1 is a node with kubelet and pods. The others are
 * objects of the API with podCIDRs from the controller; each has a mount namespace with a configuration and a data directory of
 * its own, and network namespaces as its pods. All are on one bridge.
 */

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { renderContainerdTemplate } from "../e2e/containerd-template.ts";
import { readExample } from "../e2e/example.ts";
import type { Network } from "../e2e/libcni.ts";
import { NetworkNamespace } from "../e2e/network-namespace.ts";
import { namespaceWith } from "../e2e/node-namespaces.ts";
import { Pod } from "../e2e/pod.ts";
import { Runtime } from "../e2e/runtime.ts";
import { goPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import type { JsonObject } from "../harness/runtime-call.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, kubectl } from "./kubectl.ts";
import { nodeNamed, podCidrsOfNodes } from "./nodes.ts";
import { shell } from "./operator.ts";
import { podAddresses, runPods } from "./pods.ts";

const clusterCidr = "10.249.0.0/16";

/** How many pods each node has. */
const SIZE = 20;

/** The definition that every node gets, with this plugin, or with the Go plugin, which does not know the key. */
function sharedNetwork(name: string, type: string): Network {
  const range = { subnet: "192.168.64.0/19", gateway: "192.168.95.254" };
  const part = { network: "containerd", clusterCidr, ranges: [[range]] };
  const ipam: JsonObject = { type, ...(type === "host-local" ? { partition: part } : range) };
  const plugin = { type: "bridge", bridge: "shared0", ipam };
  return { name, cniVersion: "1.0.0", plugins: [plugin] };
}

/** A pod on a node, attached to the shared network by an interface of its own. */
interface Attached {
  readonly attachment: { readonly containerId: string; readonly netns: string };
  readonly address: string;
  /** Its namespace, if it was made for the pod. */
  readonly made: Pod | undefined;
}

/** A node, with the calls of its runtime. */
class NodeOnBridge {
  readonly #name: string;
  readonly #runtime: Runtime;
  readonly #attached: Attached[] = [];

  /** @param podCidr the podCIDR of a node without kubelet */
  constructor(name: string, podCidr?: string) {
    this.#name = name;
    const root = `/run/nodes/${name}`;
    mkdirSync(`${root}/plugins`, { recursive: true });
    const mounts: string[] = [];
    if (podCidr !== undefined) {
      const own = {
        "/etc/cni/net.d": `${root}/net.d`,
        "/var/lib/cni/networks": `${root}/networks`,
      };
      for (const [path, directory] of Object.entries(own)) {
        for (const made of [path, directory]) mkdirSync(made, { recursive: true });
        mounts.push(`mount --bind ${directory} ${path}`);
      }
      const configuration = renderContainerdTemplate(readExample("containerd.conflist.template"), [
        podCidr,
      ]);
      writeFileSync(`${root}/net.d/10-containerd-net.conflist`, configuration);
    }
    const inside = [...mounts, "exec /opt/cni/bin/bridge"].join(" && ");
    const script = `#!/bin/sh\nexec unshare --mount sh -c '${inside}'\n`;
    writeFileSync(`${root}/plugins/bridge`, script, { mode: 0o755 });
    this.#runtime = new Runtime(`${root}/plugins`);
  }

  /** The addresses of its pods, all of them on the shared network. */
  get addresses(): readonly string[] {
    return this.#attached.map(({ address }) => address);
  }

  /** @param netns the path of the pod's namespace; of a new one by default */
  attach(network: Network, containerId: string, netns?: string): void {
    const made = netns === undefined ? new Pod(containerId) : undefined;
    const attachment = { containerId, netns: netns ?? made?.netns ?? "" };
    const { ips } = this.#runtime.add(network, { ...attachment, interfaceName: "net1" });
    const [seen = ""] = new NetworkNamespace(attachment.netns, "net1").addresses();
    if (seen !== ips?.[0]?.address) throw new Error(`${containerId} has ${seen}, not its result`);
    this.#attached.push({ attachment, address: seen.split("/")[0] ?? "", made });
  }

  /** Starts new pods, one after another. */
  run(network: Network, count: number): void {
    for (let at = 0; at < count; at++) this.attach(network, `${this.#name}-${at}-${network.name}`);
  }

  /** Detaches all pods. */
  drain(network: Network): void {
    for (const { attachment, made } of this.#attached.splice(0)) {
      this.#runtime.del(network, { ...attachment, interfaceName: "net1" });
      made?.remove();
    }
  }

  /** Whether its first pod reaches an address over the shared network. */
  reaches(address: string): boolean {
    const [first] = this.#attached;
    return first !== undefined && new NetworkNamespace(first.attachment.netns).reaches(address);
  }
}

clusterScenario(
  {
    title: "One network definition for all nodes, and no address twice",
    cluster: { clusterCidr, nodeCidrMaskSize: 24 },
    skip: skipWithoutGoPlugin,
  },
  async (t) => {
    const network = sharedNetwork("shared", "host-local");
    const addNodes = async (...names: readonly string[]): Promise<readonly NodeOnBridge[]> => {
      create(names.map((name) => nodeNamed(name)));
      await until("their podCIDRs", () => names.every((name) => podCidrsOfNodes()[name]));
      const podCidrs = podCidrsOfNodes();
      return names.map((name) => new NodeOnBridge(name, podCidrs[name]));
    };
    /** How many pods have an address that another pod has, too. */
    const twice = (nodes: readonly NodeOnBridge[]): number => {
      const all = nodes.flatMap(({ addresses }) => addresses);
      return all.filter((address) => all.indexOf(address) !== all.lastIndexOf(address)).length;
    };

    const names = Array.from({ length: SIZE }, (_, at) => `web-${at}`);
    runPods(...names);
    const n1 = new NodeOnBridge("n1");
    const [n2, n3] = await addNodes("n2", "n3");
    if (n2 === undefined || n3 === undefined) throw new Error("two nodes were asked for");
    const podNamespaces = Object.entries(podAddresses()).map(
      ([name, address]) => [name, namespaceWith(address).netns] as const,
    );
    for (const [name, netns] of podNamespaces) n1.attach(network, name, netns);
    for (const node of [n2, n3]) node.run(network, SIZE);
    const three = [n1, n2, n3];
    t.equal(three.flatMap(({ addresses }) => addresses).length, 60, "60 pods have an address");
    t.equal(twice(three), 0, "no address is there twice");
    for (const [at, { addresses }] of three.entries()) {
      const start = Number(podCidrsOfNodes()[`n${at + 1}`]?.split(".")[2]) * 32;
      const isOwn = (address: string): boolean => {
        const [, , third = 0, fourth = 0] = address.split(".").map(Number);
        const offset = (third - 64) * 256 + fourth;
        return start <= offset && offset < start + 32;
      };
      t.ok(addresses.every(isOwn), `those of n${at + 1} are in its part`);
    }
    t.ok(n1.reaches(n3.addresses[SIZE - 1] ?? ""), "a pod of n1 reaches one of n3");
    const planned = shell(
      `host-local plan --cluster-cidr ${clusterCidr} --node-cidr-mask-size 24 --partition 192.168.64.0/19`,
    );
    t.match(planned, /192\.168\.64\.0\/19 +256 +32 +30/, "as plan says");
    // The name keeps containerd from reading this file first.
    writeFileSync("/etc/cni/net.d/90-shared.conflist", JSON.stringify(network));
    const found = shell("host-local check");
    t.match(found, /^info shadowed-configuration shared/, "check on n1 tells of that alone");
    t.match(found, /^1 info: shadowed-configuration$/m);
    t.match(shell("host-local networks shared"), "192.168.64.1-192.168.64.31", "which has a part");

    n3.drain(network);
    kubectl("delete", "node", "n3");
    const later = await addNodes("n4", "n5", "n3");
    for (const node of later) node.run(network, SIZE);
    const all = [n1, n2, ...later];
    t.equal(all.flatMap(({ addresses }) => addresses).length, 100, "100 pods have an address");
    t.equal(twice(all), 0, "no address is there twice");
    for (const node of later.slice(0, 2)) node.drain(network);
    kubectl("delete", "node", "n4", "n5");
    const last = await addNodes("n6");
    for (const node of last) node.run(network, SIZE);
    t.equal(twice([n1, n2, ...later, ...last]), 0, "nor after nodes were deleted and added again");

    for (const node of [...all, ...last]) node.drain(network);
    copyFileSync(goPlugin?.path ?? "", "/opt/cni/bin/go-host-local");
    const unaware = sharedNetwork("unaware", "go-host-local");
    for (const [name, netns] of podNamespaces) n1.attach(unaware, name, netns);
    for (const node of [n2, n3]) node.run(unaware, SIZE);
    const shared = twice(three);
    t.equal(shared, 60, "with the Go plugin every pod shares its address with two others");
  },
);
