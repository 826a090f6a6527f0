/** The node of the cluster: containerd, kubelet, and the network of the machine. */

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { containerdConfiguration, socket } from "../clients/containerd.ts";
import { RuntimeService } from "../clients/cri.ts";
import { imageName, writeImage } from "../clients/image.ts";
import type { Host } from "../e2e/host.ts";
import { cgroupOfScenario } from "../e2e/scenario.ts";
import { executable } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";
import { until } from "../harness/until.ts";
import type { ClusterAddresses } from "./control-plane.ts";
import { kubeconfigOf, nodeAddress, secondNodeAddress } from "./credentials.ts";
import { kubectl, waitFor } from "./kubectl.ts";
import { program, runcProgram } from "./programs.ts";
import { Unit } from "./unit.ts";

/** The name of the node. */
export const nodeName = "n1";

/** The network of the example template, whose reservations are those of the pods. */
export const podNetwork = "containerd";

/** The configuration that containerd writes from its template. */
export const generatedConfiguration = "/etc/cni/net.d/10-containerd-net.conflist";

/** The template that containerd reads: the example's, unless a scenario replaces it. */
export const configurationTemplate = "/etc/containerd/cni.template";

const exampleTemplate = inRepository("conf-examples/containerd.conflist.template");

/** The configuration of kubelet. */
export const kubeletConfiguration = "/var/lib/kubelet/config.yaml";

const containerdDirectory = "/var/lib/containerd";
const containerdFile = "/etc/containerd/config.toml";

/** The differences between nodes. */
export interface WorkerOptions {
  /** How many pods kubelet admits; kubelet's default if absent. */
  readonly maxPods?: number;
  /** The template that containerd reads; by default the example's. */
  readonly template?: string;
}

/** Kernel parameters that kubelet sets for the whole machine, in no namespace. */
const kernelParameters = [
  ...["kernel/panic", "kernel/panic_on_oops", "vm/panic_on_oom", "vm/overcommit_memory"],
  ...["kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes"],
].map((name) => `/proc/sys/${name}`);

/** The node that runs pods. */
export class Worker {
  readonly containerd = new Unit("containerd", ["containerd"]);
  readonly kubelet: Unit;
  readonly #images = [writeImage("/run/image")];
  readonly #pluginDirectory: string;

  /**
   * Prepares the machine and its programs, and starts nothing.
   *
   * @param host the host, which becomes the node
   * @param options its differences
   */
  constructor(
    host: Host,
    { maxPods = 110, template, ipv6 }: WorkerOptions & Pick<ClusterAddresses, "ipv6">,
  ) {
    this.#pluginDirectory = host.pluginDirectory;
    this.install(executable);
    connect();
    const addresses = [nodeAddress, ...(ipv6 === undefined ? [] : [secondNodeAddress])];
    keepKernelParameters();
    // kubelet needs mounts that it can propagate to containers. They do not reach the machine outside.
    execFileSync("mount", ["--make-rshared", "/"]);
    // kubelet writes below /var/log, too, and removes the logs of pods there that it does not know.
    for (const directory of [containerdDirectory, "/var/lib/kubelet", "/var/log"]) {
      mkdirSync(directory, { recursive: true });
      // The host's overlay here cannot be the upper layer of an image.
      execFileSync("mount", ["-t", "tmpfs", "tmpfs", directory]);
    }
    writeFileSync(kubeletConfiguration, configurationOfKubelet(maxPods));
    // The DaemonSet mounts this file; a container in which the tests run need not have one.
    writeFileSync("/etc/machine-id", `${"5f0c0ffee".repeat(4).slice(0, 32)}\n`);
    rmSync("/etc/cni/net.d", { recursive: true, force: true });
    for (const directory of ["/etc/cni/net.d", "/etc/containerd"]) {
      mkdirSync(directory, { recursive: true });
    }
    writeFileSync(configurationTemplate, template ?? readFileSync(exampleTemplate));
    writeFileSync(
      containerdFile,
      containerdConfiguration({
        root: containerdDirectory,
        pluginDirectory: this.#pluginDirectory,
        template: configurationTemplate,
        runc: runcProgram(),
      }),
    );
    this.kubelet = new Unit("kubelet", [
      program("kubelet"),
      `--kubeconfig=${kubeconfigOf("system:node:n1")}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${addresses.join(",")}`,
      `--config=${kubeletConfiguration}`,
      "--v=2",
    ]);
  }

  /**
   * Puts a plugin host-local into the plugin directory.
   *
   * @param path its executable
   */
  install(path: string): void {
    const installed = join(this.#pluginDirectory, "host-local");
    rmSync(installed, { force: true });
    copyFileSync(path, installed);
  }

  /**
   * Whether a plugin is in the plugin directory as host-local.
   *
   * @param path its executable
   */
  isInstalled(path: string): boolean {
    return readFileSync(join(this.#pluginDirectory, "host-local")).equals(readFileSync(path));
  }

  /** Starts containerd, and gives it the images unless it has them. */
  async startContainerd(): Promise<void> {
    this.containerd.start();
    // kubelet ends if the CRI does not answer yet.
    const runtime = new RuntimeService(socket);
    await until("containerd", async () => (await runtime.version()) !== "");
    const namespace = "--namespace=k8s.io";
    if (ctr(namespace, "images", "list", "--quiet").includes(imageName)) return;
    for (const image of this.#images) ctr(namespace, "images", "import", image);
  }

  /**
   * Gives containerd a further image, now and whenever it has lost its state.
   *
   * @param path the archive of the image
   */
  addImage(path: string): void {
    this.#images.push(path);
    ctr("--namespace=k8s.io", "images", "import", path);
  }

  /** Deletes containerd's files on disk: images, and its records of containers. */
  loseContainerdState(): void {
    for (const name of readdirSync(containerdDirectory)) {
      rmSync(join(containerdDirectory, name), { recursive: true });
    }
  }

  /** Starts kubelet, and waits until pods are placed on the node. */
  async startKubelet(): Promise<void> {
    this.kubelet.start();
    waitFor("create", `node/${nodeName}`);
    waitFor("condition=Ready", `node/${nodeName}`);
    await until("the end of the taints", () => this.#field("{.spec.taints}") === "");
  }

  /** The podCIDR of the node object. */
  podCidr(): string {
    return this.#field("{.spec.podCIDR}");
  }

  #field(path: string): string {
    return kubectl("get", "node", nodeName, `--output=jsonpath=${path}`);
  }
}

/** The configuration file of kubelet. The limit of pods has a line of its own, since an operator changes it there. */
function configurationOfKubelet(maxPods: number): string {
  const fields = {
    // The API server connects without a certificate.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${cgroupOfScenario}`,
    // Pods are in cgroups below that one, which mark them as the cluster's.
    cgroupsPerQOS: true,
    enforceNodeAllocatable: [],
    makeIPTablesUtilChains: false,
    failSwapOn: false,
    evictionHard: { "memory.available": "1Mi" },
    imageGCHighThresholdPercent: 100,
    eventRecordQPS: 0,
    containerRuntimeEndpoint: `unix://${socket}`,
    volumePluginDir: "/var/lib/kubelet/volume-plugins",
    // The machine may have cgroups of version 1, which kubelet refuses otherwise.
    failCgroupV1: false,
  };
  return [
    "apiVersion: kubelet.config.k8s.io/v1beta1",
    "kind: KubeletConfiguration",
    `maxPods: ${maxPods}`,
    ...Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    "",
  ].join("\n");
}

/** Gives the node a card with an address and a default route, and nobody at the other end. */
function connect(): void {
  const commands = [
    "ip link add eth0 type veth peer name uplink",
    "ip link set uplink up",
    `ip address add ${nodeAddress}/24 dev eth0`,
    "ip link set eth0 up",
    `ip address add ${secondNodeAddress}/64 dev eth0 nodad`,
    "ip route add default via 10.219.12.1 dev eth0",
    `hostname ${nodeName}`,
  ];
  execFileSync("sh", ["-e", "-c", commands.join("\n")]);
}

/** Covers the kernel parameters with copies that kubelet may set; the machine keeps its own. */
function keepKernelParameters(): void {
  mkdirSync("/run/sysctl");
  for (const [index, path] of kernelParameters.entries()) {
    const copy = `/run/sysctl/${index}`;
    execFileSync("cp", ["--no-preserve=all", path, copy]);
    execFileSync("mount", ["--bind", copy, path]);
  }
}

function ctr(...words: readonly string[]): string {
  return execFileSync("ctr", words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
