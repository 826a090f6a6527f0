/** The operator's system on a machine in memory, which counts how often each file is opened and looked at. */

import type { Context } from "../../src/cli/command/command.ts";
import { openFilesBy } from "../../src/system/open-files.ts";
import type { OpenedFile, OperatorSystem } from "../../src/system/operator-system.ts";
import { attempt, SystemError } from "../../src/system/system.ts";
import type { Interrupt } from "../harness/interruption.ts";
import type { MemoryMachine } from "../harness/memory-machine.ts";
import { type CacheEntry, cacheEntry } from "../harness/results-cache.ts";
import { machineWith } from "../store/fixtures.ts";

// The bundler puts it in.
Object.assign(globalThis, { BUILD_VERSION: "v0.0.0" });

/** The system of a process, and how often it has opened a file or asked for its status, by path. */
export interface CountingSystem {
  readonly system: OperatorSystem;
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Starts a process on a machine, as root of the node.
 *
 * @param interfaces as `OperatorSystem.listInterfaces`
 */
export function startOperator(
  machine: MemoryMachine,
  interrupt?: Interrupt,
  interfaces: readonly string[] = ["lo", "lo 127.0.0.1/8"],
): CountingSystem {
  const process = machine.start({ interrupt });
  const counts = new Map<string, number>();
  const count = (path: string): void => {
    counts.set(path, (counts.get(path) ?? 0) + 1);
  };
  const openFile = (path: string, limit: number): OpenedFile => {
    count(path);
    const { kind, inode, modified, changed } = process.linkStatus(path);
    const opened = { kind, inode, modified, changed, mode: machine.disk.modeOf(path) };
    try {
      return { ...opened, content: process.readFile(path, limit) };
    } catch (error) {
      if (error instanceof SystemError) return { ...opened, content: error };
      throw error;
    }
  };
  const own = {
    arguments: [],
    isTerminal: () => false,
    terminalSize: () => undefined,
    sleep: (milliseconds: number) => machine.wait(milliseconds),
    openFile,
    openFiles: (path: string, limit: number) =>
      openFilesBy(
        { listAddresses: (one: string) => process.listAddresses(one), openFile },
        path,
        limit,
      ),
    listInterfaces: () => interfaces,
    run: (command: readonly string[]) => {
      throw new SystemError("exec", command[0] ?? "", "ENOENT");
    },
    readFiles: (path: string, limit: number) => {
      for (const name of attempt(() => process.list(path), [])) count(`${path}/${name}`);
      return process.readFiles(path, limit);
    },
  };
  const counted = ["readFile", "status", "linkStatus"];
  const system = new Proxy(process, {
    get: (target, key) => {
      if (key in own) return Reflect.get(own, key);
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return (...words: readonly unknown[]) => {
        if (counted.includes(String(key))) count(String(words[0]));
        return value.apply(target, words);
      };
    },
  }) as unknown as OperatorSystem;
  return { system, counts };
}

/** The options that name the directories of {@link memoryNode}. */
export const places = { "--conf-dir": "/conf", "--data-dir": "/data", "--cache-dir": "/cache" };

/** The entries of libcni's cache there. */
export const RESULTS = "/cache/results";

/** That of multus there. */
export const MULTUS_RESULTS = "/cache/multus/results";

/** A node in memory: these reservations of the network `net`, no configuration, and an empty cache of libcni. */
export function memoryNode(reservations: Readonly<Record<string, string>>): MemoryMachine {
  const machine = machineWith(reservations);
  for (const directory of ["/conf", RESULTS]) machine.disk.makeDirectories(directory);
  return machine;
}

/** Configures the network `net` there. */
export function configureNet({ disk }: MemoryMachine, subnet: string): void {
  const ipam = { type: "host-local", subnet };
  const document = { cniVersion: "1.0.0", name: "net", type: "bridge", ipam };
  disk.put("/conf/net.conf", JSON.stringify(document));
}

/** Writes an entry of libcni's cache there, or of that of multus. */
export function remember(
  { disk }: MemoryMachine,
  containerId: string,
  entry?: CacheEntry,
  network = "net",
  directory = RESULTS,
): void {
  const { name, text } = cacheEntry(network, containerId, entry);
  disk.put(`${directory}/${name}`, text);
}

/** A context without options but these; one that takes no value has any. */
export function contextOf(
  system: OperatorSystem,
  options: Readonly<Record<string, string>> = {},
  operands: readonly string[] = [],
): Context {
  return {
    system,
    commands: [],
    operands,
    has: (name) => options[name] !== undefined,
    option: (name) => options[name],
    values: () => [],
    log: () => {},
  };
}

/** The calls by which a command looks at `/proc` and at network namespaces. */
const kernelCalls = ["readLink", "list", "readFile", "readFileIn", "status"];

/**
 * The same system where `/proc` and network namespaces are those of another.
 *
 * @param isKernel whether a path is one of these
 */
export function withKernel(
  system: OperatorSystem,
  kernel: OperatorSystem,
  isKernel: (path: string) => boolean,
): OperatorSystem {
  return new Proxy(system, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      const other: unknown = Reflect.get(kernel, key, kernel);
      if (!kernelCalls.includes(String(key)) || typeof other !== "function") return value;
      return (path: string, ...rest: readonly unknown[]) => {
        const isOther = isKernel(path) && !path.startsWith("/proc/sys/");
        const call = isOther ? other : value;
        if (typeof call !== "function") throw new SystemError("open", path, "ENOSYS");
        return call.call(isOther ? kernel : target, path, ...rest);
      };
    },
  });
}
