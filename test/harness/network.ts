/** A network, and the calls that a runtime makes for it: of the plugin in memory or of an executable. */

import { ownDirectory, type TreeEntry } from "./data-directory.ts";
import type { Machine, Outcome } from "./machine.ts";
import type { MemoryMachine } from "./memory-machine.ts";
import { type PrintedError, readError } from "./printed-error.ts";
import { type Attachment, attachmentCall, networkCall, type RuntimeCall } from "./runtime-call.ts";

/** The options of a call that a machine understands, besides its verb and container. */
type MachineOptions<M extends Machine> = NonNullable<Parameters<M["runPlugin"]>[1]>;

/** Options of a call, besides its verb and container. */
export type CallOptions<M extends Machine = MemoryMachine> = MachineOptions<M> &
  Partial<Omit<Attachment, "containerId">> & {
    /** Members of `ipam` for this call alone. */
    readonly ipam?: object | undefined;
    /** Top-level members of the configuration for this call alone. */
    readonly top?: object | undefined;
    /** Standard input in place of the configuration. */
    readonly stdin?: string | undefined;
    /** `TRACEPARENT`. */
    readonly traceparent?: string | undefined;
  };

/** The outcome of a call, with its output parsed. */
export type Answer<M extends Machine = MemoryMachine> = ReturnType<M["runPlugin"]> & {
  /** The addresses of the result, without prefix lengths; none where there is no result. */
  readonly addresses: readonly string[];
  /** `undefined` where the call succeeded or was killed. */
  readonly error: PrintedError | undefined;
};

/** More addresses than a range has that is to be filled. */
const ENOUGH = 10;

/** A network, by default named `net`, and the calls for it. */
export class Network<M extends Machine = MemoryMachine> {
  readonly machine: M;
  /** The directory with the reservations. */
  readonly directory: string;
  readonly #name: string;
  readonly #configuration: object;
  readonly #ipam: object;

  /**
   * @param ipam members of `ipam`, such as `subnet`
   * @param top members of the configuration itself, such as `name`
   */
  constructor(machine: M, ipam: object, top: { readonly name?: string } & object = {}) {
    this.machine = machine;
    this.#name = top.name ?? "net";
    this.directory = `${machine.dataDirectory}/${this.#name}`;
    this.#configuration = { cniVersion: "1.1.0", name: "net", type: "bridge", ...top };
    this.#ipam = { type: "host-local", dataDir: machine.dataDirectory, ...ipam };
  }

  add(containerId: string, options?: CallOptions<M>): Answer<M> {
    return this.call("ADD", containerId, options);
  }

  /**
   * Adds containers that belong to no pod until the range is full.
   *
   * @param id the beginning of their ids
   * @returns their addresses
   * @throws if a small range is never full
   */
  fill(id = "filler"): readonly string[] {
    const given: string[] = [];
    while (given.length < ENOUGH) {
      const [address] = this.add(`${id}-${given.length}`).addresses;
      if (address === undefined) return given;
      given.push(address);
    }
    throw new Error(`the range is never full: ${given.join(" ")}`);
  }

  del(containerId: string, options?: CallOptions<M>): Answer<M> {
    return this.call("DEL", containerId, options);
  }

  check(containerId: string, options?: CallOptions<M>): Answer<M> {
    return this.call("CHECK", containerId, options);
  }

  status(options?: CallOptions<M>): Answer<M> {
    return this.call("STATUS", "", options);
  }

  /** STATUS with `exhaustedStatus` `"unavailable"`, which counts the addresses. */
  strictStatus(options?: CallOptions<M>): Answer<M> {
    const ipam = { ...options?.ipam, exhaustedStatus: "unavailable" };
    return this.#call("STATUS", "", { ...options, ipam });
  }

  /**
   * GC with a list of valid attachments, each as `container interface`, under both keys, as libcni sends it. It runs an hour
   * after everything was reserved, since GC keeps what is young.
   */
  gc(valid: readonly string[], options?: CallOptions<M>): Answer<M> {
    this.age();
    return this.gcNow(valid, options);
  }

  /** Makes the files of all reservations an hour older. */
  age(): void {
    for (const name of this.reserved()) this.machine.makeOld(`${this.#name}/${name}`);
  }

  /** GC like `gc`, without that hour. */
  gcNow(valid: readonly string[], options?: CallOptions<M>): Answer<M> {
    const list = valid.map((attachment) => {
      const [containerID, ifname] = attachment.split(" ");
      return { containerID, ifname };
    });
    const keys = { "cni.dev/valid-attachments": list, "cni.dev/attachments": list };
    return this.#call("GC", "", { ...options, top: { ...keys, ...options?.top } });
  }

  /** Any call, as libcni makes it. */
  call(verb: string, containerId: string, options?: CallOptions<M>): Answer<M> {
    return this.#call(verb, containerId, options ?? {});
  }

  /** Prepares a call without making it. */
  callFor(verb: string, containerId: string, options: CallOptions<Machine> = {}): RuntimeCall {
    const { ipam, top, stdin, traceparent, ...attachment } = options;
    const configuration = {
      ...this.#configuration,
      ipam: { ...this.#ipam, ...ipam },
      ...top,
    };
    const call =
      verb === "GC" || verb === "STATUS"
        ? networkCall(verb, configuration)
        : attachmentCall(verb, { ...attachment, containerId }, configuration);
    const trace = traceparent === undefined ? {} : { TRACEPARENT: traceparent };
    return { environment: { ...call.environment, ...trace }, stdin: stdin ?? call.stdin };
  }

  /** Puts a reservation or any other file into the network's directory; a name that ends with a slash is a directory's. */
  put(name: string, content: string): void {
    this.machine.put(`${this.#name}/${name}`, content);
  }

  /** Every reservation's content by its address, without the other files of the directory. */
  reservations(): Readonly<Record<string, string>> {
    const start = `${this.#name}/`;
    const files = this.machine
      .tree()
      .flatMap(({ path, content }) =>
        content !== undefined && path.startsWith(start)
          ? [[path.slice(start.length), content] as const]
          : [],
      );
    return Object.fromEntries(files.filter(([name]) => isAddress(name)));
  }

  /** The addresses that are reserved, in text order. */
  reserved(): readonly string[] {
    return Object.keys(this.reservations());
  }

  /** The content of a file in the directory; `undefined` where it is missing. */
  contentOf(name: string): string | undefined {
    return this.tree().find(({ path }) => path === `${this.#name}/${name}`)?.content;
  }

  /** The cursor of a range set. */
  cursor(index = 0): string {
    return this.contentOf(`last_reserved_ip.${index}`) ?? "";
  }

  /** Everything in the data directory, except this project's own directory. */
  tree(): readonly TreeEntry[] {
    return this.machine.tree().filter(({ path }) => !path.startsWith(`${ownDirectory}/`));
  }

  #call(verb: string, containerId: string, options: object): Answer<M> {
    const outcome = this.machine.runPlugin(this.callFor(verb, containerId, options), options);
    const error = outcome.exitCode === 1 ? readError(outcome.stdout) : undefined;
    return { ...outcome, addresses: grantedAddresses(outcome), error } as Answer<M>;
  }
}

/**
 * Reads the addresses, without prefix lengths, out of a result of version 0.3.0 or later.
 *
 * @param outcome the outcome of an ADD
 * @returns the addresses, or none where there is no result
 */
export function grantedAddresses({ exitCode, stdout }: Outcome): string[] {
  if (exitCode !== 0 || stdout === "") return [];
  const result: unknown = JSON.parse(stdout);
  if (typeof result !== "object" || result === null || !("ips" in result)) return [];
  if (!Array.isArray(result.ips)) return [];
  return result.ips.map(({ address }: { address: string }) => address.replace(/\/.*/, ""));
}

/** Whether a file is named by an address: a dotted quad, or anything with colons. */
function isAddress(name: string): boolean {
  return /^(?:\d+\.){3}\d+$|^[0-9a-f]*:[0-9a-f:]*$/.test(name);
}
