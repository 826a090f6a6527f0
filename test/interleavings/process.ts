/**
 * A process that is stopped before each of its system calls, by replay. A call of the plugin depends only on the answers of the
 * system. So it is run again from its start with the answers it has had, and is stopped at the first call without one. The
 * program cannot notice this.
 */

import { eachLine } from "../../src/system/lines.ts";
import { namesOf } from "../../src/system/names.ts";
import type { OperatorSystem } from "../../src/system/operator-system.ts";
import { readFilesBy } from "../../src/system/read-files.ts";
import {
  type AddressFiles,
  attempt,
  type FileStatus,
  isSystemError,
  type Lines,
  type Lock,
  type LockRequest,
  LockTimeout,
  makeDirectoriesBy,
  type Names,
  type NamespaceHandle,
  type OpenedFile,
  type Permissions,
  type System,
  SystemError,
} from "../../src/system/system.ts";
import type { MemoryDisk } from "../harness/memory-disk.ts";
import { isOfKernel } from "../harness/memory-kernel.ts";
import { DATA_DIRECTORY } from "../harness/memory-machine.ts";
import { grantedAddresses } from "../harness/network.ts";
import { variableInMemory } from "../harness/runtime-directory.ts";
import { type Machine, type Operation, type Reply, replyTo, WAIT } from "./world.ts";

/** The program of a process, and its input. */
export interface Program {
  /** Its name in a story, such as `ADD a`. */
  readonly name: string;
  readonly verb: "ADD" | "DEL" | "CHECK" | "GC" | "STATUS" | "gc" | "release" | "runtime";
  readonly container?: string;
  /** The containers that the list of a GC, or of the command `gc`, has; none without a list. */
  readonly keeps?: readonly string[];
  /** The command line of a command. */
  readonly words?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin: string;
  /**
   * How it locks: by default with `flock(2)`; or by a directory, as where `flock(2)` is missing, which does not exclude the
   * others; or like the Go plugin, which does not check that the file is still at its path.
   */
  readonly locks?: "directory" | "as Go" | undefined;
  /** Whether nobody reads its standard output. */
  readonly isUnheard?: boolean;
  readonly run: (system: ExplorerSystem) => number;
}

/** The calls of `gc` and `release` besides a plugin's, if they need not ask. */
type CommandSystem = Pick<OperatorSystem, "arguments" | "isTerminal" | "terminalSize">;

/** The calls that a process of the searches may make. */
export interface ExplorerSystem extends System, CommandSystem {
  /** Makes a change by a runtime, a main plugin or an administrator, in one call. */
  act(name: string, change: (machine: Machine) => void): void;
}

/** Thrown out of a system call that is not answered yet; not an `Error`, so that no handler takes it for a failure. */
const STOPPED = Symbol("stopped");

/** The end of a process. */
export interface End {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a process to its end on a machine that nobody else uses meanwhile, and changes the machine. */
export function runAlone(machine: Machine, program: Program, number: number, time: number): End {
  const { end } = runAnswered(program, number, time, (operation) => {
    const reply = replyTo(operation, machine);
    return reply.value === WAIT ? { error: new LockTimeout(operation.path, undefined) } : reply;
  });
  if (end === undefined) throw new Error(`${program.name} has no end`);
  return end;
}

/** The position of a process: before a system call, or at its end. */
export type Standing =
  | { readonly next: Operation; readonly end?: never }
  | { readonly end: End; readonly next?: never };

/** The answer to system call `at` of a process, counted from 0; `undefined` stops the process. */
type Answer = (operation: Operation, at: number) => Reply | undefined;

/** Runs a process as far as it has answers. */
export function runAnswered(
  program: Program,
  number: number,
  time: number,
  answer: Answer,
): Standing {
  const system = new AnsweredSystem(program, number, time, answer);
  let exitCode = -1;
  try {
    exitCode = program.run(system);
  } catch (error) {
    if (error !== STOPPED) throw error;
  }
  const { next, stdout, stderr } = system;
  return next === undefined ? { end: { exitCode, stdout, stderr } } : { next };
}

class AnsweredSystem implements ExplorerSystem {
  next: Operation | undefined;
  stdout = "";
  stderr = "";
  readonly #program: Program;
  readonly #number: number;
  readonly #time: number;
  readonly #answer: Answer;
  #at = 0;

  constructor(program: Program, number: number, time: number, answer: Answer) {
    this.#program = program;
    this.#number = number;
    this.#time = time;
    this.#answer = answer;
  }

  get arguments(): readonly string[] {
    return this.#program.words ?? [];
  }
  isTerminal(): boolean {
    return false;
  }
  terminalSize(): undefined {
    return undefined;
  }
  environment(name: string): string | undefined {
    return variableInMemory(this.#program.environment, name);
  }
  now(): number {
    return this.#time;
  }
  userId(): number {
    return 0;
  }
  processId(): number {
    return this.#number;
  }
  readStandardInput(): string {
    return this.#program.stdin;
  }
  standardInputBytes(): string {
    return Buffer.from(this.#program.stdin).toString("latin1");
  }
  writeStandardOutput(text: string): void {
    const { isUnheard = false, verb, environment } = this.#program;
    // The reader of the result configures the addresses at once.
    const granted =
      verb === "ADD" ? grantedAddresses({ exitCode: 0, stdout: text, stderr: "" }) : [];
    const reach = granted.length === 0 || isUnheard ? "own" : "changes";
    this.#call("write", "/dev/stdout", `${isUnheard} ${text}`, reach, ({ kernel }) => {
      if (isUnheard) throw new SystemError("write", "/dev/stdout", "EPIPE");
      if (granted.length > 0) kernel.configure(environment.CNI_NETNS ?? "", ...granted);
    });
    this.stdout += text;
  }
  writeStandardError(text: string): void {
    this.stderr += text;
  }

  readFile(path: string, limit: number): string {
    return this.#read("open", path, "file", ({ disk, kernel, boot }) => {
      if (path === "/etc/machine-id") return `${"0123456789abcdef".repeat(2)}\n`;
      if (path === "/proc/sys/kernel/random/boot_id") {
        return `11111111-2222-3333-4444-${String(boot).padStart(12, "0")}\n`;
      }
      return (isOfKernel(path) ? kernel : disk).readFile(path, limit);
    });
  }
  readFileIn(namespace: string, path: string, limit: number): string {
    return this.#read("setns", namespace, path, ({ kernel }) =>
      kernel.readFileIn(namespace, path, limit),
    );
  }
  act(name: string, change: (machine: Machine) => void): void {
    this.#change("runtime", name, "", change);
  }
  openFile(path: string, limit: number): OpenedFile {
    return this.#read("open", path, "opened", ({ disk }) => disk.openFile(path, limit));
  }
  readLink(path: string): string {
    return this.#read("readlink", path, "link", ({ disk, kernel }) =>
      (isOfKernel(path) ? kernel : disk).readLink(path),
    );
  }
  linkStatus(path: string): FileStatus {
    return this.#read("lstat", path, "", ({ disk }) => disk.linkStatus(path));
  }
  permissions(path: string): Permissions {
    return this.#read("lstat", path, "permissions", ({ disk }) => disk.permissions(path));
  }
  status(path: string): FileStatus {
    return this.#read("stat", path, "", ({ disk, kernel }) =>
      (isOfKernel(path) ? kernel : disk).status(path),
    );
  }
  list(path: string): readonly string[] {
    return this.#read("open", path, "list", ({ disk, kernel }) =>
      (isOfKernel(path) ? kernel : disk).list(path).toSorted(),
    );
  }
  listAddresses(path: string): Names {
    return namesOf(this.list(path));
  }
  readFiles(path: string, limit: number, withStatus: boolean): AddressFiles {
    const listAddresses = (directory: string): Names => this.listAddresses(directory);
    const readFile = (file: string, most: number): string => this.readFile(file, most);
    const openFile = (file: string, most: number): OpenedFile => this.openFile(file, most);
    return readFilesBy({ listAddresses, readFile, openFile }, path, limit, withStatus);
  }
  findLines(path: string, start: string | undefined): Lines {
    return this.#read("open", path, `lines ${start}`, ({ disk }) => disk.findLines(path, start));
  }
  linesWith(path: string, text: string): readonly string[] {
    const content = this.readFile(path, Number.MAX_VALUE);
    return [...eachLine(content)].filter((line) => line.includes(text));
  }
  namespaceHandle(path: string): NamespaceHandle | undefined {
    return this.#read("name_to_handle_at", path, "", ({ disk, kernel }) =>
      isOfKernel(path) ? kernel.handleAt(path) : void disk.status(path),
    );
  }
  namespaceLives(handle: NamespaceHandle): boolean {
    const { id, inode } = handle;
    return this.#call("open_by_handle_at", "nsfs", `${id} ${inode}`, "kernel", ({ kernel }) =>
      kernel.lives(handle),
    );
  }
  linkedAddresses(family: 4 | 6, but = ""): string {
    const reach = but === "" ? "reads" : "changes";
    return this.#call("netlink", "route", `${family} ${but}`, reach, ({ kernel }) =>
      kernel.linkedAddresses(family, but),
    );
  }
  /** Waits, while other processes may run. */
  sleep(milliseconds: number): void {
    this.#call("nanosleep", "", `${milliseconds}`, "reads", () => undefined);
  }
  isLocal(path: string): boolean {
    return this.#call("statfs", path, "", "own", () => true);
  }
  requireOpenable(path: string, use: "read" | "write"): void {
    this.#read("open", path, use, ({ disk }) => disk.requireOpenable(path, use));
  }
  requireWritable(path: string): void {
    this.#read("access", path, "", ({ disk }) => disk.requireWritable(path));
  }

  createFile(path: string, text: string, mode: number): void {
    const inode = this.#open(path, "write", `${mode}`, ({ disk }) => {
      disk.createFile(path, "", mode);
      return disk.linkStatus(path).inode;
    });
    try {
      this.#write(path, inode, text, () => text, true);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      attempt(() => this.unlink(path), undefined);
      throw error;
    }
  }
  overwriteFile(path: string, text: string): void {
    const { inode, size } = this.#openToWrite(path);
    const isLonger = size > text.length;
    this.#write(path, inode, text, () => text.padEnd(size, "\n"), !isLonger);
    if (isLonger) this.#write(path, inode, "cut", (content) => content.slice(0, text.length), true);
  }
  extendFile(path: string, text: string, header: string): void {
    const { inode } = this.#openToWrite(path);
    if (text !== "") this.#write(path, inode, `+${text}`, (content) => content + text, false);
    this.#write(path, inode, header, (content) => header + content.slice(header.length), true);
  }
  appendLine(path: string, line: string, mode: number): void {
    this.#change("append", path, line, ({ disk }) => disk.appendLine(path, line, mode));
  }
  setModified(path: string, time: bigint): void {
    this.#change("utimensat", path, `${time}`, ({ disk }) => disk.setModified(path, time));
  }
  link(existing: string, path: string): void {
    this.#change("link", path, existing, ({ disk }) => disk.link(existing, path));
  }
  rename(from: string, to: string): void {
    this.#change("rename", to, from, ({ disk }) => disk.rename(from, to));
  }
  sync(path: string): void {
    this.#read("fsync", path, "", () => undefined);
  }
  unlink(path: string): void {
    this.#change("unlink", path, "", ({ disk }) => disk.unlink(path));
  }
  makeDirectories(path: string, mode = 0o755): void {
    const make = (directory: string): void =>
      this.#change("mkdir", directory, `${mode}`, ({ disk }) =>
        makeDirectory(disk, directory, mode),
      );
    makeDirectoriesBy({ make, status: (directory) => this.status(directory) }, path);
  }

  /**
   * Locks like `lock-file.ts`: opens the file, waits for the lock, and opens the file again if it is not at its path any more.
   */
  lock({ file, directory, timeout }: LockRequest): Lock {
    const own = this.#number;
    const isFree = ({ locks }: Machine, key: string): unknown => {
      if (timeout === 0 && locks.has(key)) return "late";
      if (locks.has(key)) return WAIT;
      locks.set(key, own);
      return "locked";
    };
    const wait = (key: string): void => {
      try {
        const end = this.#change("flock", file, `${own} ${key} ${timeout}`, (machine) =>
          isFree(machine, key),
        );
        if (end === "late") throw new LockTimeout(file, undefined);
      } catch (error) {
        this.#close(file, "lock");
        throw error;
      }
    };
    const unlock = (key: string): void => {
      this.#change("unlock", file, `${own} ${key}`, ({ locks, disk }) => {
        if (locks.get(key) === own) locks.delete(key);
        disk.close(own, "lock");
      });
    };
    if (this.#program.locks === "directory") {
      if (directory !== undefined) this.makeDirectories(directory, 0o700);
      wait(directory ?? file);
      return { release: () => unlock(directory ?? file), excludesGoPlugin: false };
    }
    const mode = this.#program.locks === "as Go" ? 0o750 : 0o600;
    for (;;) {
      const inode = this.#open(file, "lock", "", ({ disk }) => {
        if (!disk.has(file)) disk.createFile(file, "", mode);
        return disk.linkStatus(file).inode;
      });
      wait(`${inode}`);
      const held = { release: () => unlock(`${inode}`), excludesGoPlugin: true };
      if (this.#program.locks === "as Go") return held;
      try {
        if (this.#inodeAt(file) === inode) return held;
        unlock(`${inode}`);
      } catch (error) {
        if (!isSystemError(error)) throw error;
        unlock(`${inode}`);
        if (!isSystemError(error, "ENOENT")) throw error;
      }
    }
  }

  #inodeAt(path: string): bigint {
    return this.#read("stat", path, "", ({ disk }) => disk.status(path)).inode;
  }

  /** Opens a file, whose number no other gets before it is closed. */
  #open<T>(path: string, use: string, more: string, make: (machine: Machine) => T): T {
    const run = (machine: Machine): T => {
      const made = make(machine);
      machine.disk.open(this.#number, use, path);
      return made;
    };
    return this.#call("open", path, `${use} ${this.#number} ${more}`, "changes", run, use);
  }

  #close(path: string, use: string): void {
    this.#change("close", path, `${use} ${this.#number}`, ({ disk }) =>
      disk.close(this.#number, use),
    );
  }

  #openToWrite(path: string): FileStatus {
    return this.#open(path, "write", "", ({ disk }) => {
      disk.findLines(path, undefined);
      return disk.linkStatus(path);
    });
  }

  /** @param isLast whether the file is closed after this write, as it is if the write fails */
  #write(
    path: string,
    inode: bigint,
    what: string,
    change: (content: string) => string,
    isLast: boolean,
  ): void {
    const more = `${inode} ${what} ${isLast ? this.#number : ""}`;
    try {
      this.#change("write", path, more, ({ disk }) => {
        disk.writeInto(inode, change);
        if (isLast) disk.close(this.#number, "write");
      });
    } catch (error) {
      if (!isSystemError(error)) throw error;
      this.#close(path, "write");
      throw error;
    }
  }

  #read<T>(word: string, path: string, more: string, run: (machine: Machine) => T): T {
    const others = isOfKernel(path) ? "kernel" : "own";
    return this.#call(word, path, more, path.startsWith(DATA_DIRECTORY) ? "reads" : others, run);
  }

  #change<T>(word: string, path: string, more: string, run: (machine: Machine) => T): T {
    return this.#call(word, path, more, "changes", run);
  }

  #call<T>(
    word: string,
    path: string,
    more: string,
    reach: Operation["reach"],
    run: (machine: Machine) => T,
    opens?: string,
  ): T {
    if (this.next !== undefined) throw STOPPED;
    const at = this.#at++;
    const operation = { word, path, text: `${word} ${path} ${more}`, reach, run, opens };
    const reply = this.#answer(operation, at);
    if (reply === undefined) {
      this.next = operation;
      throw STOPPED;
    }
    if (reply.error !== undefined) throw reply.error;
    return reply.value as T;
  }
}

function makeDirectory(disk: MemoryDisk, path: string, mode: number): void {
  if (disk.has(path)) {
    if (disk.linkStatus(path).kind !== "directory") throw new SystemError("mkdir", path, "ENOTDIR");
    return;
  }
  const parent = path.slice(0, path.lastIndexOf("/"));
  if (parent !== "" && !disk.has(parent)) throw new SystemError("mkdir", path, "ENOENT");
  disk.makeDirectories(path, mode);
}
