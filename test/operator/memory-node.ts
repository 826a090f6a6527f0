/** The operator's system on a machine in memory, which counts how often each file is opened and looked at. */

import type { Command, Context, Report } from "../../src/cli/command/command.ts";
import type { JsonObject } from "../../src/cni/json.ts";
import { check } from "../../src/operator/check/check.ts";
import type { OperatorSystem } from "../../src/system/operator-system.ts";
import { attempt, type OpenedFile, SystemError } from "../../src/system/system.ts";
import type { Interrupt } from "../harness/interruption.ts";
import type { MemoryMachine } from "../harness/memory-machine.ts";
import { linksText } from "../harness/network-links.ts";
import { type Machine as Kernel, type ProcCalls, procCalls, procOf } from "../harness/proc.ts";
import { type CacheEntry, cacheEntry } from "../harness/results-cache.ts";
import { machineWith } from "../store/fixtures.ts";
import type { PrintedFinding } from "./node.ts";

// The bundler puts it in.
Object.assign(globalThis, { BUILD_VERSION: "v0.0.0" });

/** The system of a process, and how often it has opened a file or asked for its status, by path. */
export interface CountingSystem {
  readonly system: OperatorSystem;
  readonly counts: ReadonlyMap<string, number>;
}

/** Starts a process on a machine, as root of the node. */
export function startOperator(
  machine: MemoryMachine,
  interrupt?: Interrupt,
  networkLinks: OperatorSystem["networkLinks"] = () => linksText({ lo: ["127.0.0.1/8"] }),
): CountingSystem {
  const process = machine.start({ interrupt });
  const counts = new Map<string, number>();
  const count = (path: string): void => {
    counts.set(path, (counts.get(path) ?? 0) + 1);
  };
  const openFile = (path: string, limit: number): OpenedFile => {
    count(path);
    // Without permission for the directory, nothing is known of the file.
    process.linkStatus(path);
    return process.openFile(path, limit);
  };
  const own = {
    arguments: [],
    isTerminal: () => false,
    terminalSize: () => undefined,
    sleep: (milliseconds: number) => machine.wait(milliseconds),
    openFile,
    networkLinks,
    namespaceId: (path: string) => machine.kernel.namespaceId(path),
    hasText: (path: string, text: string) => process.readFile(path, 1e6).includes(text),
    run: ([path = ""]: readonly string[]) => {
      if (process.readFile(path, 1e6).startsWith("#!")) return { exitCode: 0, stdout: "" };
      throw new SystemError("exec", path, "ENOEXEC");
    },
    readFiles: (path: string, limit: number, withStatus: boolean) => {
      for (const name of attempt(() => process.list(path), [])) count(`${path}/${name}`);
      return process.readFiles(path, limit, withStatus);
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

/** The directory of multus' cache there. */
export const MULTUS_RESULTS = "/cache/multus/results";

/** A node in memory: these reservations of the network `net`, no configuration, and an empty cache of libcni. */
export function memoryNode(reservations: Readonly<Record<string, string>>): MemoryMachine {
  const machine = machineWith(reservations);
  for (const directory of ["/conf", RESULTS, "/run/host-local"]) {
    machine.disk.makeDirectories(directory);
  }
  return machine;
}

/** Writes a configuration there. */
export function configure({ disk }: MemoryMachine, file: string, document: JsonObject): void {
  disk.put(`/conf/${file}`, JSON.stringify(document));
}

/** Configures the network `net` there. */
export function configureNet(machine: MemoryMachine, subnet: string): void {
  const ipam = { type: "host-local", subnet };
  configure(machine, "net.conf", { cniVersion: "1.0.0", name: "net", type: "bridge", ipam });
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

/** How a command is run on a node in memory. */
export interface MemoryRun {
  readonly operands?: readonly string[];
  /** Its options with their values, besides {@link places}; one that takes no value has any. */
  readonly options?: Readonly<Record<string, string>>;
  /** The names of {@link places} that are left out. */
  readonly without?: readonly string[];
  /** Whose `/proc` and network namespaces there are; by default those of the machine. */
  readonly kernel?: Kernel | undefined;
  readonly interrupt?: Interrupt | undefined;
  readonly networkLinks?: OperatorSystem["networkLinks"];
}

/** Runs a command as root of the node: its report, and what it logs, a line for each message. */
export function runOn(
  machine: MemoryMachine,
  command: Command,
  { operands, options = {}, without = [], kernel, interrupt, networkLinks }: MemoryRun = {},
): Report & { readonly logged: string } {
  const { system } = startOperator(machine, interrupt, networkLinks);
  const given = Object.entries(places).filter(([name]) => !without.includes(name));
  const context = contextOf(
    kernel === undefined ? system : withKernel(system, procOf(kernel)),
    { ...Object.fromEntries(given), ...options },
    operands,
  );
  const logged: string[] = [];
  const report = command.run({ ...context, log: (message) => logged.push(message) });
  return { ...report, logged: logged.join("\n") };
}

/** What `check` finds there. */
export function findingsOn(machine: MemoryMachine, run?: MemoryRun): readonly PrintedFinding[] {
  const document = runOn(machine, check, run).document();
  return (document as { readonly findings: readonly PrintedFinding[] }).findings;
}

function withKernel(system: OperatorSystem, kernel: ProcCalls): OperatorSystem {
  return new Proxy(system, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      const other: unknown = Reflect.get(kernel, key, kernel);
      if (!procCalls.some((call) => call === key) || typeof other !== "function") return value;
      return (path: unknown, ...rest: readonly unknown[]) => {
        const isOther = key === "linkedAddresses" || isOfKernel(`${path}`);
        const call = isOther ? other : value;
        if (typeof call !== "function") throw new SystemError("open", `${path}`, "ENOSYS");
        return call.call(isOther ? kernel : target, path, ...rest);
      };
    },
  });
}

function isOfKernel(path: string): boolean {
  return /^\/(?:proc|run)\/(?!sys\/|host-local\/)/.test(`${path}/`);
}
