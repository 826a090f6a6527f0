/** A Kubernetes of one node, in the namespaces of a scenario. */

import type { Host } from "../e2e/host.ts";
import { until } from "../harness/until.ts";
import { type ClusterAddresses, ControlPlane } from "./control-plane.ts";
import { kubeconfigOf, writeCredentials } from "./credentials.ts";
import { kubectl } from "./kubectl.ts";
import { becomeOperator } from "./operator.ts";
import { readyContainers } from "./pods.ts";
import { nodeName, podNetwork, Worker, type WorkerOptions } from "./worker.ts";

/** The differences between scenarios. */
export interface ClusterOptions extends ClusterAddresses, WorkerOptions {}

/** The cluster of a scenario. */
export class Cluster {
  readonly host: Host;
  readonly controlPlane: ControlPlane;
  readonly worker: Worker;

  private constructor(host: Host, options: ClusterOptions) {
    this.host = host;
    this.controlPlane = new ControlPlane(options);
    this.worker = new Worker(host, options);
  }

  /**
   * Starts a cluster, and waits until its node is ready for pods.
   *
   * @param host the host that becomes its node
   * @param options the differences of this cluster
   */
  static async start(host: Host, options: ClusterOptions): Promise<Cluster> {
    writeCredentials();
    becomeOperator(kubeconfigOf("admin"));
    const cluster = new Cluster(host, options);
    await Promise.all([cluster.worker.startContainerd(), cluster.controlPlane.start()]);
    await cluster.worker.startKubelet();
    return cluster;
  }

  /** Starts the programs of the node. */
  async startNode(): Promise<void> {
    await this.worker.startContainerd();
    await this.worker.startKubelet();
  }

  /** Starts the programs of the node, and waits until each pod runs in a new container. */
  async restartNode(): Promise<void> {
    const before = readyContainers();
    await this.startNode();
    await until("the pods", () => {
      const now = readyContainers();
      return Object.entries(before).every(([name, id]) => (now[name] ?? id) !== id);
    });
  }

  /** Its programs, such as `Kubernetes v1.36.2, containerd 2.1.9`. */
  version(): string {
    const info = [
      "{.status.nodeInfo.kubeletVersion}",
      "{.status.nodeInfo.containerRuntimeVersion}",
    ];
    const path = `--output=jsonpath=${info.join(" ")}`;
    const [kubernetes, runtime = ""] = kubectl("get", "node", nodeName, path).split(" ");
    return `Kubernetes ${kubernetes}, ${runtime.replace("://", " ")}`;
  }

  /** The reservations on the node: address to content. */
  reservations(): Record<string, string> {
    return this.host.reservations(podNetwork);
  }

  /** The reserved addresses, in text order. */
  reserved(): readonly string[] {
    return Object.keys(this.reservations()).sort();
  }
}
