/** CRI-O with its configuration; `npm run test:clients -- --crio DIR` gives its directory. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import type { Host } from "../e2e/host.ts";
import type { Needs } from "../e2e/machine.ts";
import { Cri, RuntimeService } from "./cri.ts";
import { Daemon } from "./daemon.ts";
import { imageName, writeImage } from "./image.ts";

/** The directory with `crio` and `pinns`, and the path of `multus`; empty if nobody has given one. */
const { HOST_LOCAL_CRIO: crioDirectory = "", HOST_LOCAL_MULTUS: multusPath = "" } = process.env;

const stateDirectory = "/run/crio";
const storage = ["--root", "/run/crio-storage", "--runroot", `${stateDirectory}/storage`];
const configurationFile = `${stateDirectory}/crio.conf`;

/** The needs of a scenario with CRI-O. */
export const needsOfCrio: Needs = {
  plugins: ["bridge", "loopback"],
  cniVersion: "1.1.0",
  layers: ["podman", "runc"],
  given: [{ option: "--crio", path: join(crioDirectory, "crio") }],
};

/** The needs of a scenario with CRI-O and multus. */
export const needsOfMultus: Needs = {
  ...needsOfCrio,
  given: [...(needsOfCrio.given ?? []), { option: "--multus", path: multusPath }],
};

/** The version that CRI-O prints. */
export function crioVersion(): string {
  const text = execFileSync(join(crioDirectory, "crio"), ["--version"], { encoding: "utf8" });
  return /\d+\.\d+\.\d+/.exec(text)?.[0] ?? "";
}

/** CRI-O as a scenario runs it. A sandbox without containers has no process, as by default. */
export class Crio {
  readonly runtime = new RuntimeService(`${stateDirectory}/crio.sock`);
  readonly pods = new Cri(this);
  readonly #t: Test;
  #daemon: Daemon;

  private constructor(t: Test) {
    this.#t = t;
    this.#daemon = this.#run();
  }

  /**
   * Starts CRI-O and waits for the network.
   *
   * @param t the test that owns it
   * @param host the host, whose network is configured
   */
  static async start(t: Test, host: Host): Promise<Crio> {
    for (const directory of [stateDirectory, "/etc/containers"]) {
      mkdirSync(directory, { recursive: true });
    }
    writeFileSync("/etc/containers/policy.json", '{"default":[{"type":"insecureAcceptAnything"}]}');
    writeFileSync(configurationFile, configurationOf(host.pluginDirectory));
    if (existsSync(multusPath)) host.install("multus", multusPath);
    execFileSync("podman", [
      ...storage,
      ...["--storage-driver", "vfs", "load", "-i", writeImage("/run/image")],
    ]);
    const crio = new Crio(t);
    await crio.#answers();
    return crio;
  }

  /** Kills it, as a crash does; `restart` continues with the state that it finds. */
  kill(): Promise<void> {
    return this.#daemon.stop();
  }

  /** Starts it once more, and waits until it has done the work of its start. */
  async restart(): Promise<void> {
    await this.kill();
    this.#daemon = this.#run();
    await this.#answers();
  }

  #run(): Daemon {
    const crio = join(crioDirectory, "crio");
    return new Daemon(this.#t, `${stateDirectory}/log`, [crio, "--config", configurationFile]);
  }

  #answers(): Promise<void> {
    return this.#daemon.until(
      "CRI-O and its network",
      async () => (await this.runtime.networkReady()).ready,
    );
  }
}

function configurationOf(pluginDirectory: string): string {
  return `[crio]
root = "/run/crio-storage"
runroot = "${stateDirectory}/storage"
storage_driver = "vfs"
log_dir = "${stateDirectory}/pods"
version_file = "${stateDirectory}/version"
version_file_persist = "${stateDirectory}/version-persist"
clean_shutdown_file = "${stateDirectory}/clean"
[crio.api]
listen = "${stateDirectory}/crio.sock"
[crio.runtime]
cgroup_manager = "cgroupfs"
conmon_cgroup = "pod"
conmon = "/usr/bin/conmon"
pinns_path = "${join(crioDirectory, "pinns")}"
default_runtime = "runc"
apparmor_profile = "unconfined"
[crio.runtime.runtimes.runc]
runtime_path = "/usr/sbin/runc"
runtime_root = "${stateDirectory}/runc"
[crio.image]
pause_image = "${imageName}"
[crio.network]
network_dir = "/etc/cni/net.d"
plugin_dirs = ["${pluginDirectory}"]
`;
}
