/** containerd with its configuration, and its clients: the CRI, and `ctr`. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { parse } from "node:path";
import type { Test } from "tap";
import type { Host } from "../e2e/host.ts";
import { type Needs, processesIn, removeMounts } from "../e2e/machine.ts";
import { cgroupOfScenario } from "../e2e/scenario.ts";
import { until } from "../harness/until.ts";
import { RuntimeService } from "./cri.ts";
import { Daemon } from "./daemon.ts";
import { imageName, writeImage } from "./image.ts";
import type { Client } from "./range-life.ts";

const stateDirectory = "/run/containerd";
/** The socket at which its clients reach it. */
export const socket = `${stateDirectory}/containerd.sock`;

const configurationFile = "/run/containerd.toml";
const rootDirectory = "/run/containerd-root";

/** The releases of containerd for scenarios: Debian's, and those that somebody has given, as `2.3`. */
export const releases: readonly string[] = [
  ...["1.6", "1.7", "2"],
  ...(process.env.HOST_LOCAL_CONTAINERD ?? "").split(" ").filter((release) => release !== ""),
];

/** The release for scenarios that need no certain one. */
export const newestRelease = releases.at(-1) ?? "2";

/**
 * The needs of a scenario with containerd.
 *
 * @param release the release, as its layer names it
 * @param cniVersion the specification version that the main plugins must speak
 */
export function needsOfContainerd(release: string, cniVersion = "1.0.0"): Needs {
  return { plugins: ["bridge", "loopback"], cniVersion, layers: [`containerd-${release}`, "runc"] };
}

/** containerd as a scenario runs it. */
export class Containerd {
  readonly runtime = new RuntimeService(socket);
  readonly #image = writeImage("/run/image");
  #daemon: Daemon;

  private constructor(daemon: Daemon) {
    this.#daemon = daemon;
  }

  /**
   * Starts containerd and gives it the image.
   *
   * @param t the test that owns it
   * @param host the host, whose network is configured
   */
  static async start(t: Test, host: Host): Promise<Containerd> {
    mkdirSync(rootDirectory, { recursive: true });
    const { pluginDirectory } = host;
    writeFileSync(
      configurationFile,
      containerdConfiguration({ root: rootDirectory, pluginDirectory }),
    );
    const containerd = new Containerd(daemon(t));
    t.teardown(endContainers);
    await containerd.#prepare();
    return containerd;
  }

  /**
   * Ends it with its shims and all containers, and removes its state: its directories and the mounts of network namespaces, as
   * after `rm -rf` and a start of the service. Then it is started anew.
   *
   * @param t the test that owns it
   */
  async loseState(t: Test): Promise<void> {
    await this.#daemon.stop();
    await endContainers();
    removeMounts(["/run/netns", stateDirectory, rootDirectory]);
    mkdirSync(rootDirectory);
    this.#daemon = daemon(t);
    await this.#prepare();
  }

  async #prepare(): Promise<void> {
    await this.#daemon.until("containerd", async () => (await this.runtime.version()) !== "");
    for (const namespace of ["k8s.io", "default"]) {
      execFileSync("ctr", ["-n", namespace, "images", "import", this.#image], { stdio: "pipe" });
    }
    await until("the network", async () => (await this.runtime.networkReady()).ready);
  }
}

/** Ends the containers of this scenario and their shims, which outlive containerd. */
async function endContainers(): Promise<void> {
  await until("the end of all containers", () => {
    const ids = [...shims(), ...processesIn(cgroupOfScenario)];
    for (const id of ids) process.kill(id, "SIGKILL");
    return ids.length === 0;
  });
}

/** The process ids of the shims that see the mounts of this scenario. */
function shims(): readonly number[] {
  const own = readlinkSync("/proc/self/ns/mnt");
  const isShim = (id: string): boolean => {
    try {
      const { name } = parse(readlinkSync(`/proc/${id}/exe`));
      return name.startsWith("containerd-shim") && readlinkSync(`/proc/${id}/ns/mnt`) === own;
    } catch {
      // The process has ended, or is a zombie.
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isShim(name))
    .map(Number);
}

/** Containers of `ctr run --cni`. */
export class Ctr implements Client {
  readonly #t: Test;
  readonly #running = new Map<string, Daemon>();

  /** @param t the test that owns its containers */
  constructor(t: Test) {
    this.#t = t;
  }

  async start(name: string): Promise<void> {
    const cgroup = ["--cgroup", `/${cgroupOfScenario}/${name}`];
    const words = ["run", "--cni", ...cgroup, imageName, name];
    const run = new Daemon(this.#t, `/run/ctr-${name}.log`, ["ctr", ...words]);
    this.#running.set(name, run);
    try {
      await run.until(`container ${name}`, () => this.#isRunning(name));
    } catch (error) {
      // ctr leaves behind the task that it had created for the container.
      spawnSync("ctr", ["task", "rm", "--force", name]);
      spawnSync("ctr", ["container", "rm", name]);
      throw error;
    }
  }

  async stop(name: string): Promise<void> {
    execFileSync("ctr", ["task", "kill", "--signal", "SIGKILL", name], { stdio: "pipe" });
    await this.#running.get(name)?.end();
    execFileSync("ctr", ["container", "rm", name], { stdio: "pipe" });
  }

  #isRunning(name: string): boolean {
    const tasks = execFileSync("ctr", ["task", "ls"], { encoding: "utf8" });
    return tasks.split("\n").some((line) => new RegExp(`^${name} .*RUNNING`).test(line));
  }
}

function daemon(t: Test): Daemon {
  return new Daemon(t, "/run/containerd.log", ["containerd", "--config", configurationFile]);
}

/** The differences between configurations of containerd. */
export interface ContainerdOptions {
  /** The directory of images and containers. */
  readonly root: string;
  readonly pluginDirectory: string;
  /** The file of `conf_template`, if any. */
  readonly template?: string;
  /** The program runc; by default the one on the PATH. */
  readonly runc?: string;
}

/**
 * The configuration file of containerd; the image of all containers is the one of sandboxes, too.
 *
 * @param options its contents
 */
export function containerdConfiguration(options: ContainerdOptions): string {
  const { root, pluginDirectory, template = "", runc = "runc" } = options;
  const cri = `plugins."io.containerd.grpc.v1.cri"`;
  // The last two keys of the CRI allow for machines without AppArmor and without CAP_SYS_RESOURCE.
  return `version = 2
root = "${root}"
state = "${stateDirectory}"
[plugins."io.containerd.internal.v1.opt"]
path = "/run/containerd-opt"
[${cri}]
sandbox_image = "${imageName}"
disable_apparmor = true
restrict_oom_score_adj = true
[${cri}.cni]
bin_dir = "${pluginDirectory}"
conf_dir = "/etc/cni/net.d"
conf_template = "${template}"
[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
BinaryName = "${runc}"
`;
}
