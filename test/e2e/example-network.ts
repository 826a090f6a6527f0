/** An example's network without containers: the IPAM plugin is called as the main plugin calls it. */

import type { Test } from "tap";
import { staticLink } from "../blackbox/static/link.ts";
import { ownDirectory } from "../harness/data-directory.ts";
import type { Outcome } from "../harness/executable.ts";
import {
  type CallOptions,
  ExecutableMachine,
  ExecutableNetwork,
} from "../harness/executable-network.ts";
import type { Answer } from "../harness/network.ts";
import type { PrintedError } from "../harness/printed-error.ts";
import { inRepository } from "../harness/repository.ts";
import type { Json, JsonObject } from "../harness/runtime-call.ts";
import { loadExample, readExample } from "./example.ts";
import { ExampleAddresses } from "./example-addresses.ts";
import { isAtLeast, pluginInput, type Result } from "./libcni.ts";

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

const RANGES_FILE = "node/ranges.json";

/**
 * A network of an example file whose reservations go to a scratch directory. The plugin gets other addresses than those of
 * the example, which are the ones that a test sees.
 */
export class ExampleNetwork {
  readonly #cniVersion: string;
  readonly #name: string;
  /** What the first plugin of the list has as its IPAM plugin, and the last plugin as the runtime calls it. */
  readonly #first: ExecutableNetwork;
  readonly #last: ExecutableNetwork;
  readonly #options: CallOptions;
  readonly #addresses: ExampleAddresses;
  /** The result of each pod's ADD, which libcni passes to CHECK. */
  readonly #results = new Map<string, Json>();

  /**
   * @param t the test that owns it
   * @param file the example's name
   * @param offer what the runtime adds to every attachment
   */
  constructor(t: Test, file: string, { capabilities = {}, cniArgs = "" }: Offer = {}) {
    const example = loadExample(file);
    const isInFile = JSON.stringify(example).includes("rangesFile");
    const ranges = isInFile ? readExample(RANGES_FILE) : "{}";
    const addresses = new ExampleAddresses(
      JSON.stringify([example, capabilities]),
      cniArgs,
      ranges,
    );
    const network = addresses.documented(example);
    const machine = new ExecutableMachine(t);
    machine.put("resolv.conf", resolvConf);
    machine.put("ranges.json", JSON.stringify(addresses.documented(JSON.parse(ranges))));
    const networkAt = (position: number): ExecutableNetwork => {
      const plugin = network.plugins.at(position);
      if (plugin === undefined) throw new Error(`${network.name} has no plugin ${position}`);
      const injected = { capabilities: addresses.documented(capabilities) };
      const { ipam, ...top } = pluginInput(network, plugin, injected);
      const here = filesHere((ipam ?? {}) as JsonObject, machine.dataDirectory);
      return new ExecutableNetwork(machine, here, top);
    };
    this.#cniVersion = network.cniVersion;
    this.#name = network.name;
    this.#first = networkAt(0);
    this.#last = networkAt(-1);
    this.#addresses = addresses;
    this.#options = {
      cniArgs: addresses.documented(cniArgs),
      ...(file === "static.conflist" && { program: staticLink(t) }),
    };
  }

  /** What the IPAM plugin answers to the main plugin for a pod. */
  add(pod: string): Result {
    const result = JSON.parse(accepted(this.#first.add(pod, this.#options)));
    this.#results.set(pod, result);
    return this.#addresses.own(result);
  }

  /** The error with which a pod gets no address. */
  refusalOf(pod: string): PrintedError {
    return this.#addresses.own(refused(this.#first.add(pod, this.#options)));
  }

  /** Does nothing before 0.4.0, where libcni refuses CHECK by itself. */
  check(pod: string): void {
    if (!isAtLeast(this.#cniVersion, "0.4.0")) return;
    const top = { prevResult: this.#results.get(pod) };
    accepted(this.#first.check(pod, { ...this.#options, top }));
  }

  /** Detaches a pod, with further members of the configuration. */
  del(pod: string, top: object = {}): void {
    accepted(this.#first.del(pod, { ...this.#options, top }));
  }

  /** Tells the last plugin of the list which pods are left, an hour after all were made: GC keeps what is young. */
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

  /** What the last plugin of the list answers after the others have done their part, if anything. */
  chained(command: "ADD" | "CHECK" | "DEL", pod: string, prevResult: Result): unknown {
    const top = { prevResult: this.#addresses.documented(prevResult) };
    const answer = accepted(this.#last.call(command, pod, { top }));
    return answer === "" ? undefined : this.#addresses.own(JSON.parse(answer));
  }

  /** The addresses that are reserved on disk. */
  reservations(): readonly string[] {
    return this.#addresses.own(this.#first.reserved());
  }

  /** The lines of its history. */
  history(): string {
    const path = `${ownDirectory}/${this.#name}/history`;
    const file = this.#first.machine.tree().find((one) => one.path === path);
    return this.#addresses.own(file?.content ?? "");
  }
}

/** The `ipam` section with files of the examples in place of the node's. */
function filesHere(ipam: JsonObject, directory: string): JsonObject {
  const rangesFile = `${directory}/ranges.json`;
  const subnetFile = inRepository("conf-examples/node/subnet.env");
  const { partition } = ipam;
  return {
    ...ipam,
    ...("resolvConf" in ipam && { resolvConf: `${directory}/resolv.conf` }),
    ...("rangesFile" in ipam && { rangesFile }),
    ...(partition !== undefined && { partition: { ...(partition as JsonObject), subnetFile } }),
  };
}

function accepted({ exitCode, stdout, stderr }: Outcome): string {
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stdout}${stderr}`);
  return stdout;
}

function refused({ error, stdout }: Answer<ExecutableMachine>): PrintedError {
  if (error === undefined) throw new Error(`not refused: ${stdout}`);
  return error;
}
