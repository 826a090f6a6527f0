/** The calls of the searches, and the changes by a runtime between them, as texts, in one network with few addresses. */

import { main } from "../../src/main.ts";
import { operate } from "../../src/operate.ts";
import type { System } from "../../src/system/system.ts";
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
import { type ExplorerSystem, type Program, runAlone } from "./process.ts";
import type { Thread } from "./search.ts";
import { clockIn, type Machine, type World, type Worlds } from "./world.ts";

/** A range set, and all the addresses that it can hand out. */
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
 * The value of `CNI_NETNS` for a container: the path where its network namespace is mounted, or a path by its process.
 *
 * @param generation the end of the path
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

/** The plugin, and the tool. */
export interface Programs {
  readonly main: (system: System) => number;
  readonly operate: (system: ExplorerSystem) => number | undefined;
}

// The cast is safe: a call of a missing method would be an error.
const asTheyAre: Programs = { main, operate: operate as (system: System) => number | undefined };

/** The path at which the commands find the configuration of the network. */
const CONFIGURATION_FILE = "/etc/cni/net.d/net.conf";

/** The calls for a network with a configuration. */
export class Calls {
  /** All addresses that can be handed out. */
  readonly addresses: readonly string[];
  readonly pools: readonly Pool[];
  readonly #configuration: JsonObject;
  readonly #strict: JsonObject;
  readonly #programs: Programs;
  readonly #generation: string;

  /**
   * @param ipam keys beside the ranges
   * @param generation the end of the names of the containers' network namespaces: a container that is started again has a new
   *   one
   */
  constructor(
    ipam: JsonObject = {},
    pools: readonly Pool[] = [v4],
    programs: Programs = asTheyAre,
    generation = "",
  ) {
    this.#generation = generation;
    this.addresses = pools.flatMap(({ addresses }) => addresses);
    this.pools = pools;
    this.#programs = programs;
    const ranges = pools.map((pool) => pool.ranges);
    this.#configuration = configuration(DATA_DIRECTORY, { ranges, ...ipam });
    const exhaustedStatus = "unavailable";
    this.#strict = configuration(DATA_DIRECTORY, { ranges, exhaustedStatus, ...ipam });
  }

  /**
   * Whether a range set has no free address.
   *
   * @param inUse the addresses that are in use, reserved or not
   */
  isFull(reserved: ReadonlyMap<string, string>, inUse: readonly string[]): boolean {
    const isTaken = (address: string): boolean =>
      inUse.includes(address) || /[^\s\0]/.test(reserved.get(address) ?? "");
    return this.pools.some(({ addresses }) => addresses.every(isTaken));
  }

  /**
   * The calls, one after another, of a text such as `DEL a, ADD a`, each as in `program`. The text may end with `unheard`, if
   * nobody reads their standard output, or with `directory lock`, if their lock does not exclude the others.
   */
  thread(text: string): Thread {
    const parts = text.split(", ");
    const isUnheard = parts.at(-1) === "unheard";
    const locks = parts.at(-1) === "directory lock" ? "directory" : undefined;
    if (text === "" || isUnheard || locks !== undefined) parts.pop();
    return parts.map((part) => {
      const program = this.program(part);
      return { ...program, isUnheard, locks: program.locks ?? locks };
    });
  }

  /**
   * The program that a text names:
   *
   * - `ADD a`, `DEL a`, `CHECK a` of a container, and `ADD a of 10.0.0.3`, which requests an address; `Go ADD a` and
   *   `Go DEL a` of the Go plugin. After an ADD the container has its address, until its DEL, as with bridge, which removes
   *   the interface first; or until after that, as with ptp: `ptp DEL a`
   * - `STATUS`, which fails where no address is free; `GC a`, which keeps a container, and `GC null`, which has no list, as
   *   CRI-O sends it for all networks but its default one
   * - the commands `release a`, of all that a container holds, `gc`, which releases what one run finds dead, and `gc --live a`
   * - what a runtime does: see `#change`
   *
   * @throws Error if it names nothing
   */
  program(text: string): Program {
    const [, plugin = ""] = /^(Go|ptp) /.exec(text) ?? [];
    const [verb = "", container = "", last, address] = text.replace(/^(Go|ptp) /, "").split(" ");
    const own = { name: text, ...this.#call(verb, container, address ?? last) };
    const program = plugin === "Go" ? ({ ...own, locks: "as Go", run: goPlugin } as const) : own;
    return verb === "DEL" ? withoutInterface(program, container, plugin === "ptp") : program;
  }

  #call(verb: string, container: string, last: string | undefined): Omit<Program, "name"> {
    const run = this.#programs.main;
    const command: Program["run"] = (system) => this.#programs.operate(system) ?? 0;
    switch (verb) {
      case "ADD":
      case "DEL":
      case "CHECK":
        return { verb, container, ...this.#attachment(verb, container, last), run };
      case "STATUS":
        return { verb, ...networkCall(verb, this.#strict), run };
      case "GC": {
        const keeps = container === "null" ? [] : [container];
        const list = keeps.map((containerID) => ({ containerID, ifname: "eth0" }));
        const valid = { "cni.dev/valid-attachments": keeps.length === 0 ? null : list };
        const document = { ...this.#configuration, ...valid };
        return { verb, keeps, ...networkCall(verb, document), run };
      }
      case "release": {
        const words = [verb, container, "--yes"];
        return { verb, container, words, environment: {}, stdin: "", run: command };
      }
      case "gc": {
        const keeps = last === undefined ? [] : [last];
        const list = keeps.length === 0 ? [] : ["--live", "-"];
        const words = [verb, "--yes", "--now", "--grace", "1s", ...list];
        const stdin = keeps.map((id) => `${id}\n`).join("");
        return { verb, keeps, words, environment: {}, stdin, run: command };
      }
    }
    const change = this.#change(verb, container);
    return {
      verb: "runtime",
      environment: {},
      stdin: "",
      run: (system) => {
        system.act(`${verb} ${container}`, change);
        return 0;
      },
    };
  }

  /** The change that a runtime makes to the former network namespace of a container; `mount` makes its present one. */
  #change(verb: string, container: string): (machine: Machine) => void {
    const change = this.#changeOfKernel(verb, container);
    if (change !== undefined) return ({ kernel }) => change(kernel);
    // The directory is lost with everything in it.
    if (verb === "lose") return ({ disk }) => disk.removeAll(DATA_DIRECTORY);
    throw new Error(`expected a call of the searches, found ${verb} ${container}`);
  }

  #changeOfKernel(verb: string, container: string): ((kernel: MemoryKernel) => void) | undefined {
    const path = namespacePath(container, "");
    const process = processOf(container);
    switch (verb) {
      case "mount":
        return (kernel) => makeNamespace(kernel, this.namespaceOf(container), container);
      case "unmount":
        return (kernel) =>
          process === undefined ? kernel.unmount(path) : kernel.endProcess(process);
      case "start":
        return (kernel) => kernel.startProcess(3000, path);
      // The first thread of the namespace's only process has ended.
      case "zombie":
        return (kernel) => kernel.startProcess(3000, path, "ended");
      // The namespace has only a later thread of a process.
      case "thread":
        return (kernel) => kernel.startProcess(3000, path, "of the node");
      // The namespace's only process starts another process there, and ends.
      case "fork":
        return (kernel) => {
          kernel.forkProcess(3000, 3001);
          kernel.endProcess(3000);
        };
      case "bind":
        return (kernel) => kernel.bind(path, `/run/${container}`);
      // A daemon of the node has the namespace open.
      case "open":
        return (kernel) => kernel.open(path);
      // The caller is inside a container.
      case "hide":
        return (kernel) => {
          kernel.seesProcesses = false;
          kernel.seesMounts = false;
        };
      // The caller has neither CAP_SYS_ADMIN nor CAP_NET_ADMIN.
      case "blind":
        return (kernel) => {
          kernel.isAdministrator = false;
          kernel.tellsLinked = false;
        };
      // The container's interface moves into the namespace of another container.
      case "move":
        return (kernel) => kernel.moveAddresses(path, namespacePath("other", ""));
      case "macvlan":
        return (kernel) => {
          kernel.hasOtherEnds = false;
        };
      case "configure":
        return (kernel) => kernel.configure(path, "10.0.0.3");
    }
    return undefined;
  }

  /** The value of `CNI_NETNS` for a container. */
  namespaceOf(container: string): string {
    return namespacePath(container, this.#generation);
  }

  /** Writes the configuration to the path where the commands find it. */
  configure(disk: MemoryDisk): void {
    disk.put(CONFIGURATION_FILE, JSON.stringify(this.#configuration));
  }

  /** The network after some calls, one after another, on a machine that is prepared for them. */
  after(
    worlds: Worlds,
    prepare: (disk: MemoryDisk, kernel: MemoryKernel) => void,
    programs: readonly Program[],
  ): World {
    let world = worlds.change(worlds.first(), ({ disk, kernel }) => {
      disk.makeDirectories(DATA_DIRECTORY);
      prepare(disk, kernel);
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

  #attachment(verb: string, containerId: string, address: string | undefined) {
    const pod = `K8S_POD_NAMESPACE=ns;K8S_POD_NAME=${containerId}`;
    // Cilium reserves an address for its ingress, which has no sandbox.
    const sandbox = containerId === INGRESS ? "" : `;K8S_POD_INFRA_CONTAINER_ID=${containerId}`;
    const request = address === undefined ? "" : `;IP=${address}`;
    const cniArgs = `IgnoreUnknown=1;${pod}${sandbox}${request}`;
    const netns = this.namespaceOf(containerId);
    return attachmentCall(verb, { containerId, cniArgs, netns }, this.#configuration);
  }
}

/**
 * A DEL that also removes the container's interface.
 *
 * @param isLate whether the interface is removed after the DEL
 */
function withoutInterface(program: Program, container: string, isLate: boolean): Program {
  const remove = (system: ExplorerSystem): void =>
    system.act(`${program.name} removes the interface`, ({ kernel }) => {
      for (const generation of ["", "-new"]) {
        const path = namespacePath(container, generation);
        if (kernel.has(path)) kernel.configureUnlinked(path);
      }
    });
  const run = (system: ExplorerSystem): number => {
    if (!isLate) remove(system);
    const exitCode = program.run(system);
    if (isLate) remove(system);
    return exitCode;
  };
  return { ...program, run };
}

/** Makes the network namespace that a call names, unless it is there. */
export function mountFor(kernel: MemoryKernel, { environment, container = "" }: Program): void {
  const path = environment.CNI_NETNS ?? "";
  if (!kernel.has(path)) makeNamespace(kernel, path, container);
}

function makeNamespace(kernel: MemoryKernel, path: string, container: string): void {
  const process = processOf(container);
  if (process === undefined) kernel.mount(path);
  else kernel.startProcess(process);
}
