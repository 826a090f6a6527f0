/** An example's network without containers: the IPAM plugin is called as the main plugin calls it. */

import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { staticLink } from "../blackbox/static/link.ts";
import { ownDirectory, reservedAddresses, scratchDirectory } from "../harness/data-directory.ts";
import { executable, type Outcome, run } from "../harness/executable.ts";
import { type PrintedError, readError } from "../harness/printed-error.ts";
import { inRepository } from "../harness/repository.ts";
import {
  attachmentCall,
  type Json,
  type JsonObject,
  networkCall,
} from "../harness/runtime-call.ts";
import { loadExample } from "./example.ts";
import { type Injection, isAtLeast, type Network, pluginInput, type Result } from "./libcni.ts";

/** What a runtime adds of its own to an attachment, beside the configuration. */
export interface Offer {
  readonly capabilities?: JsonObject;
  /** The text of `CNI_ARGS`. */
  readonly cniArgs?: string;
}

/** What the nodes of the examples have in /etc/resolv.conf. */
const resolvConf = `nameserver 192.0.2.53
nameserver 2001:db8::53
search cluster.example example
options ndots:5
`;

/** A network of an example file whose reservations go to a scratch directory. */
export class ExampleNetwork {
  readonly #network: Network;
  readonly #dataDir: string;
  readonly #offer: Offer;
  /** The plugin that `ipam.type` of the first plugin names. */
  readonly #program: string;
  /** The result of each pod's ADD, which libcni passes to CHECK. */
  readonly #results = new Map<string, Json>();

  /**
   * @param t the test that owns it
   * @param file the example's name
   * @param offer what the runtime adds to every attachment
   */
  constructor(t: Test, file: string, offer: Offer = {}) {
    this.#dataDir = scratchDirectory(t);
    this.#network = redirected(loadExample(file), this.#dataDir);
    this.#offer = offer;
    const ipam = this.#network.plugins[0]?.ipam;
    this.#program = isObject(ipam) && ipam.type === "static" ? staticLink(t) : executable;
  }

  /** What the IPAM plugin answers to the main plugin for a pod. */
  add(pod: string): Result {
    const result = JSON.parse(accepted(this.#attach("ADD", pod)));
    this.#results.set(pod, result);
    return result;
  }

  /** The error with which a pod gets no address. */
  refusalOf(pod: string): PrintedError {
    return refused(this.#attach("ADD", pod));
  }

  /** Does nothing before 0.4.0, where libcni refuses CHECK by itself. */
  check(pod: string): void {
    if (isAtLeast(this.#network.cniVersion, "0.4.0")) accepted(this.#attach("CHECK", pod));
  }

  /** Detaches a pod, with the runtime's usual offer or another one. */
  del(pod: string, offer: Offer = this.#offer): void {
    accepted(this.#attach("DEL", pod, offer));
  }

  /** Tells the last plugin of the list which pods are left, an hour after all were made: GC keeps what is young. */
  gc(pods: readonly string[]): void {
    const hourAgo = Date.now() / 1000 - 3600;
    for (const name of this.reservations())
      utimesSync(join(this.#dataDir, this.#network.name, name), hourAgo, hourAgo);
    const valid = pods.map((containerId) => ({ containerId }));
    accepted(run(executable, networkCall("GC", this.#input(-1, { valid }))));
  }

  /** Asks the last plugin of the list whether it can serve an ADD; it has to say yes. */
  status(): void {
    accepted(this.#status());
  }

  /** The error with which the last plugin of the list says that it cannot serve an ADD. */
  statusRefusal(): PrintedError {
    return refused(this.#status());
  }

  /** What the last plugin of the list answers after the others have done their part, if anything. */
  chained(command: "ADD" | "CHECK" | "DEL", pod: string, result: Result): unknown {
    const input = this.#input(-1, { prevResult: JSON.parse(JSON.stringify(result)) });
    const answer = accepted(run(executable, attachmentCall(command, { containerId: pod }, input)));
    return answer === "" ? undefined : JSON.parse(answer);
  }

  /** The addresses that are reserved on disk. */
  reservations(): string[] {
    return reservedAddresses(this.#dataDir, this.#network.name);
  }

  /** The lines of its history. */
  history(): string {
    const path = join(this.#dataDir, ownDirectory, this.#network.name, "history");
    return readFileSync(path, "utf8");
  }

  #attach(command: "ADD" | "CHECK" | "DEL", pod: string, offer: Offer = this.#offer): Outcome {
    const { capabilities = {}, cniArgs = "" } = offer;
    const attachment = { containerId: pod, cniArgs };
    const prevResult = command === "CHECK" ? this.#results.get(pod) : undefined;
    const input = this.#input(0, { capabilities, ...(prevResult !== undefined && { prevResult }) });
    return run(this.#program, attachmentCall(command, attachment, input));
  }

  #status(): Outcome {
    return run(executable, networkCall("STATUS", this.#input(-1)));
  }

  #input(position: number, injection: Injection = {}): JsonObject {
    const plugin = this.#network.plugins.at(position);
    if (plugin === undefined) throw new Error(`${this.#network.name} has no plugin ${position}`);
    return pluginInput(this.#network, plugin, injection);
  }
}

function redirected(network: Network, dataDir: string): Network {
  const file = join(dataDir, "resolv.conf");
  writeFileSync(file, resolvConf);
  const rangesFile = inRepository("conf-examples/node/ranges.json");
  const subnetFile = inRepository("conf-examples/node/subnet.env");
  const plugins = network.plugins.map((plugin) => {
    const { ipam } = plugin;
    if (!isObject(ipam)) return plugin;
    const dns = "resolvConf" in ipam ? { resolvConf: file } : {};
    const ranges = "rangesFile" in ipam ? { rangesFile } : {};
    const part = isObject(ipam.partition) ? { partition: { ...ipam.partition, subnetFile } } : {};
    return { ...plugin, ipam: { ...ipam, ...dns, ...ranges, ...part, dataDir } };
  });
  return { ...network, plugins };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function accepted({ exitCode, stdout, stderr }: Outcome): string {
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stdout}${stderr}`);
  return stdout;
}

function refused({ exitCode, stdout }: Outcome): PrintedError {
  const error = readError(stdout);
  if (exitCode === 0 || error === undefined) throw new Error(`not refused: ${stdout}`);
  return error;
}
