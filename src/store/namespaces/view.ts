/**
 * What is seen from here of the node's network namespaces: the processes in each, and where they are mounted. This is what a
 * kernel before 6.18 has to tell which of them live; nothing that could not be looked at counts as gone.
 */

import { attempt, recover, type System, type SystemError } from "../../system/system.ts";
import {
  type ListedMount,
  mountedIn,
  OF_DIRECTORIES,
  OF_NAMESPACES,
  sharedDirectories,
} from "./mount-lines.ts";
import { FIRST_USER_NAMESPACE, seesHostProcesses } from "./sight.ts";

/** A process in a network namespace: by its first thread, or by another one where that has ended or is elsewhere. */
export interface Task {
  readonly processId: string;
  /** Where it is below `/proc`, such as `7` or `7/task/9`. */
  readonly task: string;
  /** Its network namespace, as the kernel names it; `undefined` if this user may not inspect it. */
  readonly id: string | undefined;
}

/** A namespace that is mounted, with the path where a process sees it. */
export interface Mount extends ListedMount {
  /** The path by which this process reaches it. */
  readonly reachedAt: string;
}

/** The namespace with an inode, as the kernel names it. */
export function namespaceName(inode: string | bigint): string {
  return `net:[${inode}]`;
}

/** What is seen from here. */
export interface View {
  /** The processes in each namespace but that of the node itself, by the namespace as the kernel names it. */
  readonly tasks: ReadonlyMap<string, readonly Task[]>;
  /** The tasks that this user may not inspect: each is in one of the namespaces, and not known in which. */
  readonly uninspected: readonly Task[];
  /** The tasks in the namespace of the node itself. */
  readonly ofNode: readonly Task[];
  /** The namespaces that are mounted; those where this process sees them, or else the node's first one, come first. */
  readonly mounts: readonly Mount[];
  /** The directories of namespaces that a container has of the node. */
  readonly shared: readonly string[];
  /** Whether the mounts of the node are seen, not only those of a container. */
  readonly seesMounts: boolean;
  /** Why there may be more than is seen; `undefined` where all is. */
  readonly incomplete: string | undefined;
}

/**
 * The most lists of `/proc`, which is listed until each process of a list was read: one may hand its namespace over and end.
 */
const MOST_LISTS = 20;

/** Looks at all processes, and at the mounts of those in the namespace of the node. */
export function lookAround(system: System): View {
  const node = nodeNamespaceOf(system);
  const mounts = new MountsInView(system, node !== undefined);
  const seen = new Set<string>();
  const ofNode: Task[] = [];
  const others: Task[] = [];
  const isOfNode = (task: Task): boolean =>
    node !== undefined &&
    (task.id === undefined ? isLikeFirst(system, task.task) : task.id === node);
  let unread: readonly string[] = [];
  let whyUnlisted: string | undefined;
  const readAll = (): boolean => {
    for (let lists = 0; lists < MOST_LISTS; lists++) {
      unread = system.list("/proc").filter((name) => Number(name) > 0 && !seen.has(name));
      if (unread.length === 0) return true;
      for (const processId of unread) {
        const tasks = tasksOf(system, processId, ({ message }) => {
          whyUnlisted ??= message;
        });
        if (tasks === undefined) {
          // A process that is not ending may have handed over what it had, or be executing itself from another thread: look again.
          if (isEnding(system, processId)) seen.add(processId);
          continue;
        }
        const here = tasks.filter(isOfNode);
        // Its threads see the same mounts.
        const [firstHere] = here;
        if (firstHere !== undefined && !mounts.addOf(firstHere.task)) continue;
        ofNode.push(...here);
        others.push(...tasks.filter((task) => !here.includes(task)));
        seen.add(processId);
      }
    }
    return false;
  };
  const whyUnread = recover(
    () => (readAll() ? undefined : `processes come and go, such as ${unread[0]}`),
    ({ message }) => message,
  );
  // A process may have mounted its namespace since, and ended before it was read.
  mounts.addOwn();
  // A directory has no order, but each engine is to name the same process of a namespace.
  others.sort((a, b) => Number(a.processId) - Number(b.processId));
  return {
    tasks: Map.groupBy(others.filter(isInspected), ({ id }) => id),
    uninspected: others.filter(({ id }) => id === undefined),
    ofNode,
    mounts: mounts.all,
    shared: mounts.shared,
    seesMounts: mounts.seesNode(),
    incomplete:
      whyUnread ??
      whyUnlisted ??
      (seesHostProcesses(system) ? mounts.whyIncomplete() : UNSEEN_PROCESSES),
  };
}

const UNSEEN_PROCESSES = "the processes of the node are not seen from here";

const UNSEEN_MOUNTS = "the mounts of the node are not seen from here, which takes CAP_SYS_PTRACE";

function isInspected(task: Task): task is Task & { readonly id: string } {
  return task.id !== undefined;
}

/** Errors of a process that has ended. */
const ENDED: readonly string[] = ["ENOENT", "ESRCH", "EINVAL"];

/** Errors of a process that this one may not inspect. */
const REFUSED: readonly string[] = ["EACCES", "EPERM"];

/**
 * The mounts of processes, each list of mounts once: what a process sees depends on its mount namespace, and on its root, since
 * what is mounted elsewhere is in no list of a process in a chroot.
 */
class MountsInView {
  readonly #system: System;
  readonly #seesNode: boolean;
  readonly #lists = new Set<string>();
  readonly #mounts = new Map<string, Mount>();
  #refused: string | undefined;
  shared: readonly string[] = [];

  /** @param seesNode whether the processes of the node are seen */
  constructor(system: System, seesNode: boolean) {
    this.#system = system;
    this.#seesNode = seesNode;
    this.addOwn();
    if (seesNode) return;
    const read = (): readonly string[] => system.linesWith("/proc/self/mountinfo", OF_DIRECTORIES);
    this.shared = sharedDirectories(attempt(read, []));
  }

  /** Adds the mounts of this process and of the node's first one, also where they were read before. */
  addOwn(): void {
    const own = this.#seesNode ? ["self", "1"] : ["self"];
    const inOrder = isChrooted(this.#system) ? own.toReversed() : own;
    const again = new Set<string>();
    for (const process of inOrder) this.#add(process, again);
  }

  get all(): readonly Mount[] {
    return [...this.#mounts.values()];
  }

  /** Whether the mounts of the node are seen: those of its first process or, if that is protected, of the kernel's own. */
  seesNode(): boolean {
    const list = this.#seesNode ? (this.#listOf("1") ?? this.#listOf("2")) : undefined;
    return list !== undefined && this.#lists.has(list);
  }

  /** Why there may be more; `undefined` where all were read. */
  whyIncomplete(): string | undefined {
    return this.#refused ?? (this.seesNode() ? undefined : UNSEEN_MOUNTS);
  }

  /**
   * Adds the mounts that a process of the node sees.
   *
   * @param process where it is below `/proc`
   * @returns false where it has ended meanwhile
   */
  addOf(process: string): boolean {
    return this.#add(process, this.#lists);
  }

  /** @param read which lists need not be read */
  #add(process: string, read: Set<string>): boolean {
    const system = this.#system;
    const add = (): true => {
      // This comes first: an ordinary user's root may not be looked at, or may block whoever does.
      if (process !== "self" && !isOfFirstUser(system, process)) return true;
      const list = listAt(system, process);
      if (read.has(list)) return true;
      const lines = system.linesWith(`/proc/${process}/mountinfo`, OF_NAMESPACES);
      for (const known of [read, this.#lists]) known.add(list);
      const root = process === "self" ? "" : `/proc/${process}/root`;
      for (const { id, path } of mountedIn(lines)) {
        const key = `${id} ${path}`;
        if (!this.#mounts.has(key))
          this.#mounts.set(key, { id, path, reachedAt: `${root}${path}` });
      }
      return true;
    };
    return recover(add, ({ code, message }) => {
      if (ENDED.includes(code)) return false;
      // The first process may be protected: then the second shows what is mounted on the node.
      if (process === "1" && REFUSED.includes(code)) return true;
      this.#refused ??= REFUSED.includes(code) ? UNSEEN_MOUNTS : message;
      return true;
    });
  }

  #listOf(process: string): string | undefined {
    return attempt(() => listAt(this.#system, process), undefined);
  }
}

/**
 * What identifies the list of mounts that a process sees.
 *
 * @throws SystemError
 */
function listAt(system: System, process: string): string {
  return `${system.readLink(`/proc/${process}/ns/mnt`)} ${rootOf(system, process)}`;
}

/**
 * What identifies the root directory of a process.
 *
 * @throws SystemError
 */
export function rootOf(system: System, process: string): string {
  const { device, inode } = system.status(`/proc/${process}/root/`);
  return `${device} ${inode}`;
}

/**
 * Whether a process is in the first user namespace. The mounts of an ordinary user in another one are no pod's, may be 65 000,
 * and may cover anything.
 *
 * @throws SystemError
 */
export function isOfFirstUser(system: System, process: string): boolean {
  return system.readLink(`/proc/${process}/ns/user`) === FIRST_USER_NAMESPACE;
}

/** Whether this process has another root than the node, so that its list may lack mounts of the node. */
function isChrooted(system: System): boolean {
  const rootAt = (process: string): string | undefined =>
    attempt(() => rootOf(system, process), undefined);
  const ofNode = rootAt("1") ?? rootAt("2");
  return ofNode !== undefined && ofNode !== rootAt("self");
}

/** `/proc/PID/stat` is smaller, in bytes. */
const LARGEST_STAT = 4096;

/** Where `/proc/PID/stat` has the flags and the number of threads, counted behind the name, see proc_pid_stat(5). */
const FLAGS = 6;
const THREADS = 17;

/** `PF_EXITING`, of a process that has given up its namespaces, and starts no other. */
const EXITING = 0x4;

/**
 * Whether a process is ending, with its last thread: it may be listed for hours, until its parent has asked how it ended, or
 * while it waits for others.
 */
function isEnding(system: System, processId: string): boolean {
  return attempt(() => {
    const words = statOf(system, processId);
    return isExiting(words) && Number(words[THREADS]) <= 1;
  }, false);
}

function isExiting(words: readonly string[]): boolean {
  return (Number(words[FLAGS]) & EXITING) !== 0;
}

/** The words behind the name in `/proc/PID/stat`. */
function statOf(system: System, task: string): readonly string[] {
  const text = system.readFile(`/proc/${task}/stat`, LARGEST_STAT);
  // The name may have anything in it.
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** The links of `/proc/PID/task` where there is one thread: as a directory it has two, and one for each. */
const LINKS_OF_ONE = 3;

/**
 * The tasks of a process, one in each network namespace in which it has threads; `undefined` where it has ended, or one of its
 * threads that may have started another one.
 *
 * @param unlisted gets the error where it may have more threads
 */
function tasksOf(
  system: System,
  processId: string,
  unlisted: (error: SystemError) => void,
): readonly Task[] | undefined {
  const first = taskAt(system, processId, processId);
  const found = first === undefined ? [] : [first];
  const directory = `/proc/${processId}/task`;
  const isOnly = (): boolean =>
    attempt(() => system.status(directory).links === LINKS_OF_ONE, false);
  // Most processes have no other thread, as one call tells.
  if (first !== undefined && isOnly()) return found;
  const list = (): readonly string[] => system.list(directory);
  const threads = recover(list, (error) => {
    if (ENDED.includes(error.code)) return [];
    unlisted(error);
    return undefined;
  });
  if (threads === undefined) return found;
  for (const thread of threads) {
    if (thread === processId) continue;
    const path = `${processId}/task/${thread}`;
    const task = taskAt(system, processId, path);
    if (task === undefined) {
      if (!attempt(() => isExiting(statOf(system, path)), false)) return undefined;
    } else if (task.id === undefined || !found.some(({ id }) => id === task.id)) {
      // Each task that may not be inspected may be in another namespace.
      found.push(task);
    }
  }
  return found.length === 0 ? undefined : found;
}

/** A task; `undefined` where it has ended. */
function taskAt(system: System, processId: string, task: string): Task | undefined {
  const read = (): string => system.readLink(`/proc/${task}/ns/net`);
  const id = recover(read, ({ code }) => (ENDED.includes(code) ? null : undefined));
  return id === null ? undefined : { processId, task, id };
}

/**
 * The namespace of the node itself, which is that of its first process. This process may run in a pod.
 *
 * @returns `undefined` where the processes of the host cannot be seen, or not inspected
 */
export function nodeNamespaceOf(system: System): string | undefined {
  if (!seesHostProcesses(system)) return undefined;
  const own = namespaceOf(system, "1");
  if (own !== undefined) return own;
  // The first process may be protected; the second is the kernel's, and in the namespace that the first began in.
  const like = ["self", "2"].find((process) => isLikeFirst(system, process));
  return like && namespaceOf(system, like);
}

/** Whether this process is known to be in another network namespace than the node's. */
export function isOutsideNode(system: System): boolean {
  const node = nodeNamespaceOf(system);
  const own = namespaceOf(system, "self");
  return node !== undefined && own !== undefined && own !== node;
}

/** The namespace of a process; `undefined` where it cannot be seen. */
export function namespaceOf(system: System, process: string): string | undefined {
  return attempt(() => system.readLink(`/proc/${process}/ns/net`), undefined);
}

/** Whether a task is known to be in the namespace of the node's first process. */
function isLikeFirst(system: System, task: string): boolean {
  return attempt(() => {
    const tables = tablesOf(system, "1");
    return tables !== undefined && tables === tablesOf(system, task);
  }, false);
}

/**
 * What identifies the tables of a process's namespace in `/proc`, which every user may read; their namespace may be seen
 * only with CAP_SYS_PTRACE. `undefined` where the process has ended.
 *
 * @throws SystemError where they cannot be seen
 */
export function tablesOf(system: System, task: string): string | undefined {
  const look = (): string => `tables ${system.status(`/proc/${task}/net/dev`).inode}`;
  return attempt(look, undefined, ...ENDED);
}
