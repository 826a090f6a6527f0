/** cnitool, the reference runtime of the CNI project, and the networks that it makes of namespaces. */

import { execFileSync } from "node:child_process";
import type { Host } from "../e2e/host.ts";
import type { Network } from "../e2e/libcni.ts";
import { Pod } from "../e2e/pod.ts";
import { inRepository } from "../harness/repository.ts";
import type { Client } from "./range-life.ts";

/** Network namespaces that cnitool attaches to the network of the host. */
export class Cnitool implements Client {
  readonly #host: Host;
  readonly #program: string;
  readonly #network: Network;
  readonly #pods = new Map<string, Pod>();

  /**
   * @param host the host, with the network configured
   * @param program the name of the cnitool below build/
   * @param network the network
   */
  constructor(host: Host, program: string, network: Network) {
    this.#host = host;
    this.#program = program;
    this.#network = network;
  }

  async start(name: string): Promise<void> {
    const pod = new Pod(name);
    this.#pods.set(name, pod);
    try {
      this.attachment("add", name);
    } catch (error) {
      await this.stop(name);
      throw error;
    }
  }

  async stop(name: string): Promise<void> {
    this.attachment("del", name);
    this.removeNamespace(name);
  }

  /** Removes a namespace without a call of any plugin. */
  removeNamespace(name: string): void {
    this.#pods.get(name)?.remove();
  }

  /**
   * Runs a command of cnitool for a namespace.
   *
   * @param command the command, such as `check`
   * @param name the name of the namespace
   * @throws {Error} with what cnitool says if it fails
   */
  attachment(command: string, name: string): void {
    const netns = this.#pods.get(name)?.netns ?? "/run/netns/none";
    this.#run(this.#program, command, this.#network.name, netns);
  }

  /**
   * Has libcni tell every plugin which attachments are valid.
   *
   * @param attachments each as container id and interface, such as `pod-1:eth0`
   */
  collectGarbage(...attachments: readonly string[]): void {
    this.#run("libcni-gc", this.#network.name, ...attachments);
  }

  #run(program: string, ...words: readonly string[]): void {
    execFileSync(inRepository(`build/${program}`), words, {
      env: {
        PATH: process.env.PATH,
        CNI_PATH: this.#host.pluginDirectory,
        NETCONFPATH: "/etc/cni/net.d",
      },
      encoding: "utf8",
      stdio: "pipe",
    });
  }
}
