/** The kernel of a machine in memory, as it shows what lives: `/proc`, and mounted network namespaces. */

import { parseAddress } from "../../src/ipam/address.ts";
import { createNodeOperatorSystem } from "../../src/system/node/operator-system.ts";
import type { OperatorSystem } from "../../src/system/operator-system.ts";
import { SystemError } from "../../src/system/system.ts";

/** A process as `/proc` shows it. */
export interface Process {
  /** The inode of its network namespace. */
  readonly namespace: number;
  /** IPv4 addresses. */
  readonly addresses?: readonly string[];
  /** IPv6 addresses, as 32 hexadecimal digits. */
  readonly addresses6?: readonly string[];
  /** Further tables in its `net`, by name, such as `route`. */
  readonly tables?: Readonly<Record<string, string>>;
  /** The inodes of its mount namespace and of its user namespace; by default the node's. */
  readonly mountNamespace?: number;
  readonly userNamespace?: number;
  /** The inode of its root directory; that of the node by default. */
  readonly root?: number;
  /** The namespaces that it has mounted in place of the machine's, see `Machine.mounted`. */
  readonly mounted?: Readonly<Record<string, number>>;
}

/** The contents of a machine. */
export interface Machine {
  readonly processes?: Readonly<Record<number, Process>>;
  /** The inodes of mounted network namespaces by their paths. */
  readonly mounted?: Readonly<Record<string, number>>;
  /** The IPv4 addresses in namespaces without a process, by inode. */
  readonly addresses?: Readonly<Record<number, readonly string[]>>;
  /** Processes whose tables are too large to be read. */
  readonly unreadable?: readonly number[];
  /** Paths of mounted network namespaces that another mount covers. */
  readonly covered?: readonly string[];
  /** Whether network namespaces can be neither entered nor asked about. */
  readonly isConfined?: boolean;
  /** Directories of network namespaces that are mounted from the node. */
  readonly shared?: readonly string[];
  /** Processes whose first thread has ended, each with the id of another thread that still runs. */
  readonly zombies?: Readonly<Record<number, number>>;
  /** The network namespaces of further threads, by their process and their own id, such as `{ "7/task/9": 70 }`. */
  readonly threads?: Readonly<Record<string, number>>;
  /** Processes that have ended with all their threads, and are still listed. */
  readonly ended?: readonly number[];
  /** Plain files in the directories of network namespaces. */
  readonly files?: readonly string[];
  /** Whether this process is in a PID namespace of its own. */
  readonly isContained?: boolean;
  /** How long the machine has been up, in seconds; unknown by default. */
  readonly uptime?: number;
  /** The network namespace of the node itself; {@link NODE_NAMESPACE} by default. */
  readonly nodeNamespace?: number;
  /** The calling process, which is not listed then; by default process 99, which is listed. */
  readonly caller?: Process;
  /** The capabilities of this process; unknown by default. */
  readonly capabilities?: bigint;
  /** Whether every namespace has an interface, even one without an address. */
  readonly isConnected?: boolean;
  /**
   * The namespaces that nothing links with the node's, like those of a runtime inside a container; by default each is linked.
   */
  readonly unlinked?: readonly number[];
  /** Whether this user may inspect only its own processes: then only the tables in `net` of others can be read. */
  readonly isUnprivileged?: boolean;
}

/** The namespace of the node itself. */
export const NODE_NAMESPACE = 1;

const NAMESPACE_DEVICE = 4n;

/** The process id of the caller. */
const SELF = 99;

/** The calls by which a program looks at `/proc` and at network namespaces. */
export type ProcCalls = Pick<
  OperatorSystem,
  | "readLink"
  | "list"
  | "readFile"
  | "linesWith"
  | "readFileIn"
  | "status"
  | "linkedAddresses"
  | "namespaceId"
>;

/** The names of these calls. */
export const procCalls: readonly (keyof ProcCalls)[] = [
  ...(["readLink", "list", "readFile", "linesWith", "readFileIn", "status"] as const),
  ...(["linkedAddresses", "namespaceId"] as const),
];

/** The system of a process on a machine. */
export function systemOf(machine: Machine): OperatorSystem {
  return { ...createNodeOperatorSystem(), ...procOf(machine) };
}

/** The calls that show a machine. Process 1 and the caller are in the node's own namespace unless they are given. */
export function procOf(machine: Machine): ProcCalls {
  const { mounted = {}, files = [], isContained = false, isUnprivileged = false } = machine;
  const processOf = (inode: number): Process =>
    Object.values(processes).find(({ namespace }) => namespace === inode) ?? {
      namespace: inode,
      addresses: machine.addresses?.[inode] ?? [],
    };
  const tableOf = (process: Process, table: string, path: string): string => {
    const { addresses = [], addresses6 = [] } = process;
    if (table === "fib_trie") {
      return addresses.map((address) => `|-- ${address}\n   /32 host LOCAL\n`).join("");
    }
    if (table === "if_inet6")
      return addresses6.map((digits) => `${digits} 02 40 00 80 eth0\n`).join("");
    if (table !== "dev") return process.tables?.[table] ?? missing("open", path);
    const isEmpty = machine.isConnected !== true && addresses.length + addresses6.length === 0;
    return `Inter-|\n face |\n    lo: 0\n${isEmpty ? "" : "  eth0: 0\n"}`;
  };
  const { nodeNamespace = NODE_NAMESPACE } = machine;
  const own = { namespace: nodeNamespace, addresses: ["127.0.0.1", "192.0.2.1"] };
  const processes: Readonly<Record<number, Process>> = {
    1: own,
    ...(machine.caller === undefined ? { [SELF]: own } : {}),
    ...machine.processes,
  };
  const processAt = (path: string): { process: Process; rest: string } | undefined => {
    const [, id = "", thread, rest = ""] =
      /^\/proc\/([0-9]+|self)(?:\/task\/([0-9]+))?\/(.*)$/.exec(path) ?? [];
    const process = id === "self" ? (machine.caller ?? processes[SELF]) : processes[Number(id)];
    if (process === undefined || machine.ended?.includes(Number(id)) === true) return undefined;
    const living = machine.zombies?.[Number(id)];
    const namespace = machine.threads?.[`${id}/task/${thread}`];
    if (namespace !== undefined) return { process: { ...processOf(namespace), namespace }, rest };
    if (living !== undefined && thread !== String(living)) return undefined;
    const isInspected = !rest.startsWith("net/") && id !== "self" && id !== `${SELF}`;
    if (isUnprivileged && isInspected) {
      throw new SystemError("open", path, "EACCES");
    }
    return { process, rest };
  };
  const missing = (word: string, path: string): never => {
    throw new SystemError(word, path, "ENOENT");
  };
  const threadsOf = (id: string): readonly string[] | undefined => {
    if (!(Number(id) in processes) || machine.ended?.includes(Number(id)) === true)
      return undefined;
    const start = `${id}/task/`;
    const others = Object.keys(machine.threads ?? {}).filter((thread) => thread.startsWith(start));
    const living = machine.zombies?.[Number(id)] ?? [];
    return [id, living, others.map((thread) => thread.slice(start.length))].flat().map(String);
  };
  const mountLines = (process: Process): readonly string[] => [
    ...(machine.shared ?? []).map((at) => `31 25 0:24 /netns ${at} ro master:9 - tmpfs tmpfs rw`),
    ...Object.entries(process.mounted ?? mounted).map(
      ([at, inode]) => `30 25 0:4 net:[${inode}] ${at} rw shared:9 - nsfs nsfs rw`,
    ),
  ];
  const isLinked = (inode: number): boolean =>
    inode !== nodeNamespace &&
    !isUnprivileged &&
    machine.isConfined !== true &&
    machine.unlinked?.includes(inode) !== true;
  const linesOf = (process: Process, family: 4 | 6): string => {
    const { namespace, addresses = [], addresses6 = [] } = process;
    const texts =
      family === 4 ? addresses : addresses6.map((digits) => digits.replace(/.{4}(?=.)/g, "$&:"));
    const id = namespace === nodeNamespace ? "-" : namespace;
    return texts
      .flatMap((text) => parseAddress(text) ?? [])
      .map(({ value }) => `${value.toString(16)} ${id}\n`)
      .join("");
  };
  return {
    linkedAddresses: (family) => {
      const inodes = [
        ...Object.values(processes).map((process) => process.namespace),
        ...Object.values(mounted),
      ];
      const seen = [...new Set(inodes)].filter(
        (inode) => inode === nodeNamespace || isLinked(inode),
      );
      return seen.map((inode) => linesOf(processOf(inode), family)).join("");
    },
    namespaceId: (path) => {
      const inode = mounted[path] ?? processAt(path)?.process.namespace ?? missing("open", path);
      return isLinked(inode) ? inode : undefined;
    },
    readLink: (path) => {
      if (path === "/proc/self/ns/pid") return `pid:[${isContained ? 4026539999 : 4026531836}]`;
      const found = processAt(path);
      if (found?.rest === "ns/mnt") return `mnt:[${found.process.mountNamespace ?? 4026531840}]`;
      if (found?.rest === "ns/user") return `user:[${found.process.userNamespace ?? 4026531837}]`;
      if (found?.rest === "ns/net") return `net:[${found.process.namespace}]`;
      return missing("readlink", path);
    },
    list: (path) => {
      if (path === "/proc") return [...Object.keys(processes), "self", "cpuinfo"];
      const [, id] = /^\/proc\/([0-9]+)\/task$/.exec(path) ?? [];
      if (id !== undefined) return threadsOf(id) ?? missing("open", path);
      const names = [...Object.keys(mounted), ...files].filter((name) =>
        name.startsWith(`${path}/`),
      );
      const isThere = names.length > 0 || path === "/run/netns";
      return isThere ? names.map((name) => name.slice(path.length + 1)) : missing("open", path);
    },
    readFile: (path) => {
      const [, ended] = /^\/proc\/([0-9]+)\/stat$/.exec(path) ?? [];
      if (machine.ended?.includes(Number(ended)) === true) {
        return `${ended} (a) b (c) Z ${"0 ".repeat(5)}4 ${"0 ".repeat(10)}1 0\n`;
      }
      if (path === "/proc/uptime" && machine.uptime !== undefined)
        return `${machine.uptime} 9.00\n`;
      if (path === "/proc/self/status" && machine.capabilities !== undefined) {
        return `Name:\thost-local\nCapEff:\t${machine.capabilities.toString(16).padStart(16, "0")}\n`;
      }
      const { process, rest } = processAt(path) ?? missing("open", path);
      if (rest === "mountinfo")
        return mountLines(process)
          .map((line) => `${line}\n`)
          .join("");
      const [, id] = path.split("/", 3).slice(1);
      if (rest.startsWith("net/") && machine.unreadable?.includes(Number(id)) === true) {
        throw new SystemError("open", path, "EFBIG");
      }
      return rest.startsWith("net/")
        ? tableOf(process, rest.slice(4), path)
        : missing("open", path);
    },
    linesWith: (path, text) => {
      const { process, rest } = processAt(path) ?? missing("open", path);
      return rest === "mountinfo"
        ? mountLines(process).filter((line) => line.includes(text))
        : missing("open", path);
    },
    readFileIn: (namespace, path) => {
      if (machine.isConfined === true) throw new SystemError("setns", namespace, "EPERM");
      const inode = mounted[namespace] ?? missing("open", namespace);
      return tableOf(processOf(inode), path.replace("/proc/self/net/", ""), path);
    },
    status: (path) => {
      const [, owner] = /^\/proc\/([0-9]+)\/task$/.exec(path) ?? [];
      if (owner !== undefined) {
        const threads = threadsOf(owner) ?? missing("stat", path);
        return { ...statusOf(20n, 8), kind: "directory", links: 2 + threads.length };
      }
      const { process, rest } = processAt(path) ?? {};
      if (rest === "root/") return statusOf(20n, process?.root ?? 2);
      if (rest?.startsWith("fd/") === true) return missing("stat", path);
      if (machine.covered?.includes(path) === true) return statusOf(20n, 5);
      if (process !== undefined && rest === "net/dev") return statusOf(20n, process.namespace);
      if (rest === "ns/net" && process !== undefined) {
        return statusOf(NAMESPACE_DEVICE, process.namespace);
      }
      if (path === "/run/netns") return { ...statusOf(20n, 6), kind: "directory" };
      if (/^\/proc\/[0-9]+$/.test(path) && Number(path.slice(6)) in processes) {
        return { ...statusOf(20n, 7), kind: "directory" };
      }
      const inode = mounted[path] ?? process?.namespace;
      if (inode !== undefined) return statusOf(NAMESPACE_DEVICE, inode);
      if (Object.keys(mounted).some((name) => name.startsWith(`${path}/`))) {
        return { ...statusOf(20n, 6), kind: "directory" };
      }
      return files.includes(path) ? statusOf(20n, 5) : missing("stat", path);
    },
  };
}

function statusOf(device: bigint, inode: number): ReturnType<OperatorSystem["status"]> {
  const about = { kind: "file", links: 1, size: 0, modified: 0n, changed: 0n } as const;
  return { ...about, device, inode: BigInt(inode) };
}
