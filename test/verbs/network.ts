/** A network on a machine in memory, and the calls that a runtime makes for it. */

import { main } from "../../src/main.ts";
import type { Interrupt } from "../harness/interruption.ts";
import type { MemoryMachine, Outcome } from "../harness/memory-machine.ts";

/** Options of a call besides its verb and container. */
export interface CallOptions {
  /** By default `eth0`. */
  readonly interfaceName?: string | undefined;
  /** `CNI_ARGS`. */
  readonly args?: string | undefined;
  readonly networkNamespace?: string | undefined;
  /** `TRACEPARENT`. */
  readonly traceparent?: string | undefined;
  /** Members of `ipam` for this call alone. */
  readonly ipam?: object | undefined;
  /** Top-level members of the configuration for this call alone. */
  readonly top?: object | undefined;
  readonly interrupt?: Interrupt | undefined;
  readonly lockKind?: string | undefined;
  readonly processId?: number | undefined;
}

/** The error object that a call printed. */
export interface PrintedError {
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

/** The outcome of a call, with its output parsed. */
export interface Answer extends Outcome {
  /** The addresses of the result, with their prefix lengths; none where there is no result. */
  readonly addresses: readonly string[];
  /** `undefined` where the call succeeded or was killed. */
  readonly error: PrintedError | undefined;
}

/** An attachment on a list of valid ones. */
interface Listed {
  readonly containerID: string;
  readonly ifname: string;
}

export const DATA_DIRECTORY = "/var/lib/cni/networks";

/** A network named `net` or otherwise, and the calls for it. */
export class Network {
  readonly machine: MemoryMachine;
  /** The directory with the reservations. */
  readonly directory: string;
  readonly #configuration: object;
  readonly #ipam: object;

  /**
   * @param ipam members of `ipam`, such as `subnet`
   * @param top members of the configuration itself, such as `name`
   */
  constructor(machine: MemoryMachine, ipam: object, top: { readonly name?: string } & object = {}) {
    this.machine = machine;
    this.directory = `${DATA_DIRECTORY}/${top.name ?? "net"}`;
    this.#configuration = { cniVersion: "1.1.0", name: "net", type: "bridge", ...top };
    this.#ipam = { type: "host-local", ...ipam };
  }

  add(containerId: string, options: CallOptions = {}): Answer {
    return this.call("ADD", containerId, options);
  }

  /** ADD that requests an IPv4 address by `CNI_ARGS` and an IPv6 address by `runtimeConfig`. */
  addRequested(
    containerId: string,
    [ipv4, ipv6]: readonly [ipv4: string, ipv6: string],
    options: CallOptions = {},
  ): Answer {
    const top = { runtimeConfig: { ips: [ipv6] } };
    return this.add(containerId, { ...options, args: `IP=${ipv4}`, top });
  }

  del(containerId: string, options: CallOptions = {}): Answer {
    return this.call("DEL", containerId, options);
  }

  check(containerId: string, options: CallOptions = {}): Answer {
    return this.call("CHECK", containerId, options);
  }

  status(options: CallOptions = {}): Answer {
    return this.call("STATUS", "", options);
  }

  /** STATUS with `exhaustedStatus` `"unavailable"`, which counts the addresses. */
  strictStatus(options: CallOptions = {}): Answer {
    return this.status({ ...options, ipam: { ...options.ipam, exhaustedStatus: "unavailable" } });
  }

  /** GC with a list of valid attachments, each as `container interface`. */
  gc(valid: readonly string[], options: CallOptions = {}): Answer {
    const top = { "cni.dev/valid-attachments": valid.map(listed), ...options.top };
    return this.call("GC", "", { ...options, top });
  }

  /** Any call, as libcni makes it. */
  call(verb: string, containerId: string, options: CallOptions): Answer {
    const outcome = this.machine.run(
      {
        environment: {
          CNI_COMMAND: verb,
          CNI_CONTAINERID: containerId,
          CNI_IFNAME: options.interfaceName ?? "eth0",
          CNI_NETNS: options.networkNamespace ?? "/run/netns/pod",
          CNI_PATH: "/opt/cni/bin",
          CNI_ARGS: options.args ?? "",
          TRACEPARENT: options.traceparent ?? "",
        },
        stdin: JSON.stringify({
          ...this.#configuration,
          ipam: { ...this.#ipam, ...options.ipam },
          ...options.top,
        }),
        interrupt: options.interrupt,
        lockKind: options.lockKind,
        processId: options.processId,
      },
      main,
    );
    return { ...outcome, addresses: addressesIn(outcome), error: errorIn(outcome) };
  }

  /** Puts a reservation there, or anything else that a file can be. */
  put(address: string, content: string): void {
    this.machine.disk.put(`${this.directory}/${address}`, content);
  }

  /** Every reservation's content by its address; of the rest of the directory nothing. */
  reservations(): Readonly<Record<string, string>> {
    const files = Object.entries(this.machine.disk.filesUnder(this.directory));
    return Object.fromEntries(files.filter(([name]) => isAddress(name)));
  }

  /** The cursor of a range set. */
  cursor(index = 0): string {
    return this.machine.disk.readFile(`${this.directory}/last_reserved_ip.${index}`, 1000);
  }
}

/** Whether a file is named by an address: a dotted quad, or anything with colons. */
function isAddress(name: string): boolean {
  return /^(?:\d+\.){3}\d+$|^[0-9a-f]*:[0-9a-f:]*$/.test(name);
}

function listed(attachment: string): Listed {
  const [containerID = "", ifname = ""] = attachment.split(" ");
  return { containerID, ifname };
}

function addressesIn({ exitCode, stdout }: Outcome): readonly string[] {
  if (exitCode !== 0 || stdout === "") return [];
  const result: unknown = JSON.parse(stdout);
  if (typeof result !== "object" || result === null || !("ips" in result)) return [];
  if (!Array.isArray(result.ips)) return [];
  return result.ips.map(({ address }: { address: string }) => address);
}

function errorIn({ exitCode, stdout }: Outcome): PrintedError | undefined {
  if (exitCode !== 1 || stdout === "") return undefined;
  return JSON.parse(stdout) as PrintedError;
}
