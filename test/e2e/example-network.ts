/** An example's network without containers: the IPAM plugin is called in memory, as the main plugin would call it. */

import { staticPlugin } from "../../src/static/static.ts";
import { ownDirectory } from "../harness/data-directory.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { type Answer, type CallOptions, Network } from "../harness/network.ts";
import type { PrintedError } from "../harness/printed-error.ts";
import type { Json, JsonObject } from "../harness/runtime-call.ts";
import { loadExample, readExample } from "./example.ts";
import { isAtLeast, pluginInput, type Result } from "./libcni.ts";

/** The additions of a runtime to an attachment, beside the configuration. */
export interface Offer {
  readonly capabilities?: JsonObject;
  /** The text of `CNI_ARGS`. */
  readonly cniArgs?: string;
}

/** The /etc/resolv.conf of the examples' nodes. */
const resolvConf = `nameserver 192.0.2.53
nameserver 2001:db8::53
search cluster.example example
options ndots:5
`;

/** A network of an example file, on a node with the files that examples name. */
export class ExampleNetwork {
  readonly #cniVersion: string;
  readonly #name: string;
  /** The IPAM plugin of the first plugin of the list, and the last plugin as the runtime calls it. */
  readonly #first: Network;
  readonly #last: Network;
  readonly #options: CallOptions;
  /** The result of each pod's ADD, which libcni passes to CHECK. */
  readonly #results = new Map<string, Json>();

  /**
   * @param file the example's name
   * @param offer the runtime's additions to every attachment
   */
  constructor(file: string, { capabilities = {}, cniArgs = "" }: Offer = {}) {
    const example = loadExample(file);
    const machine = new MemoryMachine();
    machine.disk.put("/etc/resolv.conf", resolvConf);
    machine.disk.put("/etc/cni/ranges.json", readExample("node/ranges.json"));
    machine.disk.put("/run/flannel/subnet.env", readExample("node/subnet.env"));
    const networkAt = (position: number): Network => {
      const plugin = example.plugins.at(position);
      if (plugin === undefined) throw new Error(`${example.name} has no plugin ${position}`);
      const { ipam, ...top } = pluginInput(example, plugin, { capabilities });
      return new Network(machine, (ipam ?? {}) as JsonObject, top);
    };
    this.#cniVersion = example.cniVersion;
    this.#name = example.name;
    this.#first = networkAt(0);
    this.#last = networkAt(-1);
    const isStatic = file === "static.conflist";
    this.#options = { cniArgs, ...(isStatic && { plugin: staticPlugin.name }) };
  }

  /** The IPAM plugin's answer to the main plugin for a pod. */
  add(pod: string): Result {
    const result = JSON.parse(accepted(this.#first.add(pod, this.#options)));
    this.#results.set(pod, result);
    return result;
  }

  /** The error with which a pod gets no address. */
  refusalOf(pod: string): PrintedError {
    return refused(this.#first.add(pod, this.#options));
  }

  /** Checks a pod; does nothing before 0.4.0, where libcni refuses CHECK by itself. */
  check(pod: string): void {
    if (!isAtLeast(this.#cniVersion, "0.4.0")) return;
    const top = { prevResult: this.#results.get(pod) };
    accepted(this.#first.check(pod, { ...this.#options, top }));
  }

  /** Detaches a pod, with further members of the configuration. */
  del(pod: string, top: object = {}): void {
    accepted(this.#first.del(pod, { ...this.#options, top }));
  }

  /** Tells the last plugin of the list which pods are left, an hour after all were made, since GC keeps what is young. */
  gc(pods: readonly string[]): void {
    accepted(this.#last.gc(pods.map((pod) => `${pod} eth0`)));
  }

  /** Asks the last plugin of the list whether it can serve an ADD; it has to say yes. */
  status(): void {
    accepted(this.#last.status());
  }

  /** The error with which the last plugin of the list says that it cannot serve an ADD. */
  statusRefusal(): PrintedError {
    return refused(this.#last.status());
  }

  /** The answer of the last plugin of the list after the others have done their part, if any. */
  chained(command: "ADD" | "CHECK" | "DEL", pod: string, prevResult: Result): unknown {
    const answer = accepted(this.#last.call(command, pod, { top: { prevResult } }));
    return answer === "" ? undefined : JSON.parse(answer);
  }

  /** The addresses that are reserved on disk. */
  reservations(): readonly string[] {
    return this.#first.reserved();
  }

  /** The lines of its history. */
  history(): string {
    const path = `${ownDirectory}/${this.#name}/history`;
    return this.#first.machine.tree().find((file) => file.path === path)?.content ?? "";
  }
}

function accepted({ exitCode, stdout, stderr }: Answer): string {
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stdout}${stderr}`);
  return stdout;
}

function refused({ error, stdout }: Answer): PrintedError {
  if (error === undefined) throw new Error(`not refused: ${stdout}`);
  return error;
}
