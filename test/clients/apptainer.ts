/** apptainer with a network: instances of a root directory. */

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Host } from "../e2e/host.ts";
import { layerPath } from "../e2e/machine.ts";
import { until } from "../harness/until.ts";
import { writeImage } from "./image.ts";
import { type Client, network } from "./range-life.ts";

const imageDirectory = "/run/image";
const configurationFile = "/etc/apptainer/apptainer.conf";

/** Instances of `apptainer instance start`. */
export class Apptainer implements Client {
  readonly #host: Host;

  /**
   * Configures apptainer and makes the image.
   *
   * @param host the host, whose network is configured
   */
  constructor(host: Host) {
    this.#host = host;
    writeImage(imageDirectory);
    for (const mountPoint of ["dev", "proc", "sys", "tmp", "var/tmp"]) {
      mkdirSync(`${imageDirectory}/root/${mountPoint}`, { recursive: true });
    }
    const actions = `${imageDirectory}/root/.singularity.d/actions`;
    mkdirSync(actions, { recursive: true });
    writeFileSync(`${actions}/start`, "#!/bin/sh\nexec sleep 86400\n", { mode: 0o755 });
    mkdirSync("/var/lib/apptainer/mnt/session", { recursive: true });
    cpSync(layerPath("apptainer/etc/apptainer"), "/etc/apptainer", { recursive: true });
    // Without capabilities of their own, instances start even if root lacks some.
    const text = readFileSync(configurationFile, "utf8")
      .replace(/^#?.*cni configuration path =.*$/m, "cni configuration path = /etc/cni/net.d")
      .replace(/^#?.*cni plugin path =.*$/m, `cni plugin path = ${host.pluginDirectory}`)
      .replace(/^root default capabilities =.*$/m, "root default capabilities = no");
    writeFileSync(configurationFile, text);
  }

  /**
   * Starts an instance.
   *
   * @param name its name
   * @param networkArguments arguments in the form of `CNI_ARGS`, such as `IP=10.1.2.3`
   */
  async start(name: string, networkArguments?: string): Promise<void> {
    const args = networkArguments === undefined ? [] : ["--network-args", networkArguments];
    const where = ["--contain", "--net", "--network", network.name, ...args];
    apptainer("instance", "start", ...where, `${imageDirectory}/root`, name);
  }

  async stop(name: string): Promise<void> {
    const before = this.#detached();
    apptainer("instance", "stop", "--force", "--timeout", "1", name);
    await until(`the end of the network of ${name}`, () => this.#detached() > before);
  }

  /** apptainer makes the namespace known to the plugin in a mount namespace of its own. */
  readonly netnsOf = (name: string): string => {
    const list: { readonly instances: readonly { readonly pid: number }[] } = JSON.parse(
      apptainer("instance", "list", "--json", name),
    );
    return `/proc/${list.instances.at(0)?.pid}/ns/net`;
  };

  #detached(): number {
    return this.#host.calls().filter((call) => call.includes(": DEL ")).length;
  }
}

function apptainer(...words: readonly string[]): string {
  return execFileSync("apptainer", words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
