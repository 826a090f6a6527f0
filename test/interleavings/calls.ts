/** The calls of the searches: one network with few addresses. */

import type { NetworkName } from "../../src/cni/call.ts";
import { CniError } from "../../src/cni/error.ts";
import { main } from "../../src/main.ts";
import type { FoundNetwork } from "../../src/operator/node/configurations/found-network.ts";
import { NetworkDirectory } from "../../src/operator/node/network-directory.ts";
import { releaseUnchanged } from "../../src/operator/node/release.ts";
import { type FileId, fileIdOf } from "../../src/store/files/fingerprint.ts";
import { openNetwork } from "../../src/store/files/network-files.ts";
import { withLock } from "../../src/store/lock.ts";
import type { OperatorSystem } from "../../src/system/operator-system.ts";
import { isSystemError } from "../../src/system/system.ts";
import type { MemoryDisk } from "../harness/memory-disk.ts";
import type { MemoryKernel } from "../harness/memory-kernel.ts";
import { DATA_DIRECTORY } from "../harness/memory-machine.ts";
import {
  attachmentCall,
  configuration,
  type JsonObject,
  networkCall,
} from "../harness/runtime-call.ts";
import { goPlugin } from "./go-plugin.ts";
import { type Program, runAlone } from "./process.ts";
import { clockIn, type World, type Worlds } from "./world.ts";

/** A range set, and all that it can hand out. */
export interface Pool {
  readonly ranges: readonly JsonObject[];
  readonly addresses: readonly string[];
}

export const v4: Pool = {
  ranges: [{ subnet: "10.0.0.0/29", rangeEnd: "10.0.0.4" }],
  addresses: ["10.0.0.2", "10.0.0.3", "10.0.0.4"],
};
export const v6: Pool = {
  ranges: [{ subnet: "2001:db8::/125", rangeEnd: "2001:db8::4" }],
  addresses: ["2001:db8::2", "2001:db8::3", "2001:db8::4"],
};

/** The container that stands for an address without a container: its network namespace is not that of a pod. */
export const INGRESS = "ingress";

/** The container whose network namespace is mounted in a directory of its own. */
export const ELSEWHERE = "elsewhere";

/** The container whose network namespace is named by its process, and that process. */
export const BY_PROCESS = "process";

/**
 * As `CNI_NETNS` names the network namespace of a container: where it is mounted, or its process.
 *
 * @param generation what it ends with
 */
export function namespacePath(container: string, generation: string): string {
  const process = processOf(container);
  if (process !== undefined) return `/proc/${process}/ns/net`;
  const directory = container === ELSEWHERE ? "/run/other" : "/run/netns";
  return `${directory}/${container}${generation}`;
}

function processOf(container: string): number | undefined {
  return container === BY_PROCESS ? 2000 : undefined;
}

/** The calls for a network with a configuration. */
export class Calls {
  /** All that can be handed out. */
  readonly addresses: readonly string[];
  readonly pools: readonly Pool[];
  readonly #configuration: JsonObject;
  readonly #strict: JsonObject;
  readonly #run: Program["run"];
  readonly #generation: string;

  /**
   * @param ipam keys beside the ranges
   * @param run the plugin
   * @param generation what the names of the containers' network namespaces end with: a container that is started again has a
   *   new one
   */
  constructor(
    ipam: JsonObject = {},
    pools: readonly Pool[] = [v4],
    run: Program["run"] = main,
    generation = "",
  ) {
    this.#generation = generation;
    this.addresses = pools.flatMap(({ addresses }) => addresses);
    this.pools = pools;
    this.#run = run;
    const ranges = pools.map((pool) => pool.ranges);
    this.#configuration = configuration(DATA_DIRECTORY, { ranges, ...ipam });
    const exhaustedStatus = "unavailable";
    this.#strict = configuration(DATA_DIRECTORY, { ranges, exhaustedStatus, ...ipam });
  }

  /** Whether a range set has no free address. */
  isFull(reserved: ReadonlyMap<string, string>): boolean {
    const isTaken = (address: string): boolean => /[^\s\0]/.test(reserved.get(address) ?? "");
    return this.pools.some(({ addresses }) => addresses.every(isTaken));
  }

  add(container: string, more: Partial<Program> = {}): Program {
    return { ...this.#attachment("ADD", container), ...more };
  }
  /** ADD that requests an address. */
  request(container: string, address: string, isUnheard = false): Program {
    const call = this.#attachment("ADD", container, `;IP=${address}`);
    return { ...call, name: `${call.name} of ${address}`, isUnheard };
  }
  del(container: string): Program {
    return this.#attachment("DEL", container);
  }
  check(container: string): Program {
    return this.#attachment("CHECK", container);
  }
  /** STATUS, which fails where no address is free. */
  status(): Program {
    return {
      name: "STATUS",
      verb: "STATUS",
      ...networkCall("STATUS", this.#strict),
      run: this.#run,
    };
  }

  /** The Go plugin's ADD and DEL. */
  asGo(program: Program): Program {
    return { ...program, name: `Go ${program.name}`, locks: "as Go", run: goPlugin };
  }

  /** `host-local release` and `gc`, from where they read what they have chosen: the very files of these reservations. */
  release(container: string, dead: ReadonlySet<FileId>): Program {
    const run = (system: Parameters<Program["run"]>[0]): number => {
      const files = openNetwork(system, DATA_DIRECTORY, "net" as NetworkName);
      const networks = [{ files, source: undefined, rangeSets: [] }] as unknown as readonly [
        FoundNetwork,
      ];
      const directory = new NetworkDirectory(system as unknown as OperatorSystem, networks);
      const chosen = directory.listed
        .flatMap((one) => directory.read(one) ?? [])
        .filter(
          ({ owner, status }) =>
            owner.kind === "attachment" &&
            owner.containerId === container &&
            status !== undefined &&
            dead.has(fileIdOf(status)),
        );
      withLock(files, { timeoutSeconds: 30 }, (network) => {
        network.files.sweepAll();
        return releaseUnchanged(network, chosen);
      });
      return 0;
    };
    return {
      name: `release ${container}`,
      verb: "release",
      container,
      environment: {},
      stdin: "",
      run: (system) => exitCodeOf(() => run(system)),
    };
  }

  /** What a runtime does to network namespaces. */
  runtime(name: string, change: (kernel: MemoryKernel) => void): Program {
    const run: Program["run"] = (system) => {
      system.act(name, change);
      return 0;
    };
    return { name, verb: "runtime", environment: {}, stdin: "", run };
  }

  /** A container's network namespace is unmounted, and so gone. */
  unmount(container: string): Program {
    const path = this.namespaceOf(container);
    const process = processOf(container);
    return this.runtime(`unmount ${container}`, (kernel) => {
      if (process === undefined) kernel.unmount(path);
      else kernel.endProcess(process);
    });
  }

  /** A container gets its network namespace. */
  mount(container: string): Program {
    const path = this.namespaceOf(container);
    const process = processOf(container);
    return this.runtime(`mount ${container}`, (kernel) => {
      if (process === undefined) kernel.mount(path);
      else kernel.startProcess(process);
    });
  }

  /** As `CNI_NETNS` names the network namespace of a container. */
  namespaceOf(container: string): string {
    return namespacePath(container, this.#generation);
  }

  /** GC that keeps some containers; with none, no list, as CRI-O sends it for all networks but its default one. */
  gc(...keeps: readonly string[]): Program {
    const list = keeps.map((containerID) => ({ containerID, ifname: "eth0" }));
    const valid = keeps.length === 0 ? null : list;
    const document = { ...this.#configuration, "cni.dev/valid-attachments": valid };
    return {
      name: keeps.length === 0 ? "GC null" : `GC ${keeps}`,
      verb: "GC",
      keeps,
      ...networkCall("GC", document),
      run: this.#run,
    };
  }

  /** The network after some calls, one after another, on a disk that is prepared for them. */
  after(worlds: Worlds, prepare: (disk: MemoryDisk) => void, programs: readonly Program[]): World {
    let world = worlds.change(worlds.first(), ({ disk }) => {
      disk.makeDirectories(DATA_DIRECTORY);
      prepare(disk);
    });
    for (const [at, program] of programs.entries()) {
      world = worlds.change(world, (machine) => {
        if (program.verb === "ADD") mountFor(machine.kernel, program);
        const { exitCode, stdout } = runAlone(machine, program, 50 + at, clockIn(world));
        if (exitCode !== 0) throw new Error(`${program.name}: ${stdout}`);
      });
      world = worlds.later(world, 60_000);
    }
    return world;
  }

  #attachment(verb: "ADD" | "DEL" | "CHECK", containerId: string, more = ""): Program {
    const pod = `K8S_POD_NAMESPACE=ns;K8S_POD_NAME=${containerId}`;
    // Cilium reserves an address for its ingress, which has no sandbox.
    const sandbox = containerId === INGRESS ? "" : `;K8S_POD_INFRA_CONTAINER_ID=${containerId}`;
    const cniArgs = `IgnoreUnknown=1;${pod}${sandbox}${more}`;
    const netns = this.namespaceOf(containerId);
    const call = attachmentCall(verb, { containerId, cniArgs, netns }, this.#configuration);
    return {
      name: `${verb} ${containerId}`,
      verb,
      container: containerId,
      ...call,
      run: this.#run,
    };
  }
}

/** Makes the network namespace that a call names, unless it is there. */
export function mountFor(kernel: MemoryKernel, { environment, container = "" }: Program): void {
  const path = environment.CNI_NETNS ?? "";
  const process = processOf(container);
  if (kernel.has(path)) return;
  if (process === undefined) kernel.mount(path);
  else kernel.startProcess(process);
}

function exitCodeOf(command: () => number): number {
  try {
    return command();
  } catch (error) {
    if (!isSystemError(error) && !(error instanceof CniError)) throw error;
    return 1;
  }
}
