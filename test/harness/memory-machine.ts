/** A machine in memory, on which a test can stop a process, or let a call fail, at any point. */

import { main } from "../../src/main.ts";
import { eachLine } from "../../src/system/lines.ts";
import { namesOf } from "../../src/system/names.ts";
import { readFilesBy } from "../../src/system/read-files.ts";
import {
  type AddressFiles,
  type FileStatus,
  type Lines,
  type Lock,
  type LockRequest,
  LockTimeout,
  type Names,
  type NamespaceHandle,
  type OpenedFile,
  type Permissions,
  recover,
  type System,
  SystemError,
} from "../../src/system/system.ts";
import type { TreeEntry } from "./data-directory.ts";
import type { Call, Interrupt, Operation } from "./interruption.ts";
import type { Machine } from "./machine.ts";
import { MemoryDisk } from "./memory-disk.ts";
import { isOfKernel, MemoryKernel } from "./memory-kernel.ts";
import type { RuntimeCall } from "./runtime-call.ts";
import { variableInMemory } from "./runtime-directory.ts";

/** The data directory if the configuration does not name one. */
export const DATA_DIRECTORY = "/var/lib/cni/networks";

/** The length of a tick of the kernel, by which it dates files, in nanoseconds. */
const TICK = 4_000_000n;

/** How a process is started. */
export interface Start {
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly interrupt?: Interrupt | undefined;
  /** The process id; by default a number that no process had before. */
  readonly processId?: number | undefined;
  /** The user that runs it; by default root. */
  readonly userId?: number | undefined;
  /** The kind of its locks: processes do not see locks of another kind, as with the two executables. */
  readonly lockKind?: string | undefined;
}

/** The outcome of a process. */
export interface Outcome {
  /** `undefined` where it was killed. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly calls: readonly Call[];
}

/** A disk, a clock and locks, shared by all processes that are started on it. */
export class MemoryMachine implements Machine {
  readonly dataDirectory = DATA_DIRECTORY;
  /** The wall clock, in milliseconds since the epoch. */
  time = Date.UTC(2026, 0, 31, 12);
  readonly disk = new MemoryDisk(() => BigInt(this.time) * 1_000_000n);
  /** Whether other machines may write to the disk, too. */
  isShared = false;
  /** The text of the kernel's boot id; `undefined` where `/proc` is not mounted. */
  bootId: string | undefined;
  /** The text of the installation's machine id; `undefined` where it has none. */
  machineId: string | undefined = `${"0123456789abcdef".repeat(2)}\n`;
  /** The kernel, with the files on nsfs and in `/proc`. */
  readonly kernel = new MemoryKernel();
  /** The numbers of the mounted network namespaces, by their paths. The node's processes are in its own namespace. */
  readonly namespaces = this.kernel.mounts;
  #boots = 0;
  /** When the running boot began, by the monotonic clock. */
  #booted = 0;
  #uptime = 0;
  /** The holders of locks; a lock ends with its process. */
  readonly locks = new Map<string, string>();
  #lastProcessId = 1000;

  constructor() {
    this.disk.grain = TICK;
    this.disk.mount("/run");
    this.boot();
  }

  /** Boots the machine, for the first time or again, which takes a while. */
  boot(): void {
    this.locks.clear();
    this.kernel.boot();
    if (this.#boots > 0) this.wait(2000);
    this.#booted = this.#uptime;
    const last = String(++this.#boots).padStart(12, "0");
    this.bootId = `11111111-2222-3333-4444-${last}\n`;
  }

  /** Starts a process that a test plays itself. */
  start(start: Start = {}): MemoryProcess {
    return new MemoryProcess(this, start, start.processId ?? ++this.#lastProcessId);
  }

  /** Runs `program` as a process to its end. */
  run(start: Start, program: (system: System) => number): Outcome {
    const process = this.start(start);
    let exitCode: number | undefined;
    try {
      exitCode = program(process);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
    if (process.ended) exitCode = undefined;
    process.end();
    const { stdout, stderr, calls } = process;
    return { exitCode, stdout, stderr, calls };
  }

  /** @param plugin the name by which the program is called, in place of `host-local` */
  runPlugin(
    { environment, stdin }: RuntimeCall,
    {
      plugin,
      ...start
    }: Pick<Start, "interrupt" | "lockKind" | "processId"> & { readonly plugin?: string } = {},
  ): Outcome {
    const { interrupt, lockKind, processId } = start;
    const program = (system: System): number => main(system, plugin);
    return this.run({ environment, stdin, interrupt, lockKind, processId }, program);
  }

  put(path: string, content: string): void {
    const target = `${this.dataDirectory}/${path}`;
    if (path.endsWith("/")) this.disk.makeDirectories(target);
    else this.disk.put(target, content);
  }

  remove(path: string): void {
    this.disk.unlink(`${this.dataDirectory}/${path}`);
  }

  makeOld(path: string): void {
    const hourAgo = BigInt(this.time - 3_600_000) * 1_000_000n;
    this.disk.setModified(`${this.dataDirectory}/${path}`, hourAgo);
  }

  tree(): readonly TreeEntry[] {
    return this.disk.has(this.dataDirectory) ? this.disk.tree(this.dataDirectory) : [];
  }

  /** Runs `body` without a lasting trace on the disk, the clock and the locks. */
  try<T>(body: () => T): T {
    const { time } = this;
    const locks = [...this.locks];
    const uptime = this.#uptime;
    const forget = this.disk.remember();
    try {
      return body();
    } finally {
      forget();
      this.time = time;
      this.#uptime = uptime;
      this.locks.clear();
      for (const [path, holder] of locks) this.locks.set(path, holder);
    }
  }

  /** Lets some time pass. */
  wait(milliseconds: number): void {
    this.time += milliseconds;
    this.#uptime += milliseconds;
  }

  /** The text that the kernel or the installation has at a path; `undefined` for a path on the disk. */
  tellsAt(path: string): string | undefined {
    if (path === "/etc/machine-id") return this.machineId;
    if (path === "/proc/sys/kernel/random/boot_id") return this.bootId;
    if (path === "/proc/sys/kernel/random/uuid") return "fedcba98-7654-4321-8fed-cba987654321\n";
    if (path !== "/proc/stat" || this.bootId === undefined) return undefined;
    return `cpu  0 0\nbtime ${Math.floor((this.time - this.monotonic) / 1000)}\nprocesses 1\n`;
  }

  /** The place of a path: the disk, or the kernel for what it shows, if `/proc` is mounted. */
  at(path: string): MemoryDisk | MemoryKernel {
    const isShown = this.bootId !== undefined && isOfKernel(path) && !this.disk.has(path);
    return isShown ? this.kernel : this.disk;
  }

  /** Milliseconds since the boot; setting the wall clock does not change them. */
  get monotonic(): number {
    return this.#uptime - this.#booted;
  }
}

/** Thrown in a process that was killed; not an `Error`, so that no handler takes it for a failure. */
class Killed {}

/** One process and its `System`. */
export class MemoryProcess implements System {
  readonly calls: Call[] = [];
  stdout = "";
  stderr = "";
  ended = false;
  readonly #machine: MemoryMachine;
  readonly #start: Start;
  readonly #id: number;
  readonly #held = new Set<string>();

  constructor(machine: MemoryMachine, start: Start, id: number) {
    this.#machine = machine;
    this.#start = start;
    this.#id = id;
  }

  /** Ends the process: its locks are free, and whatever it still calls has no effect. */
  end(): void {
    this.ended = true;
    for (const path of this.#held) this.#machine.locks.delete(path);
  }

  environment(name: string): string | undefined {
    this.#requireAlive();
    return variableInMemory(this.#start.environment, name);
  }

  now(): number {
    this.#requireAlive();
    return this.#machine.time;
  }

  processId(): number {
    this.#requireAlive();
    return this.#id;
  }

  userId(): number {
    this.#requireAlive();
    return this.#start.userId ?? 0;
  }

  readStandardInput(limit: number): string {
    const path = "/dev/stdin";
    return this.#call("readStandardInput", "read", path, () => {
      const text = this.#start.stdin ?? "";
      if (Buffer.byteLength(text) > limit) throw new SystemError("read", path, "EFBIG");
      return text;
    });
  }

  standardInputBytes(): string {
    return Buffer.from(this.#start.stdin ?? "").toString("latin1");
  }

  writeStandardOutput(text: string): void {
    this.#call("writeStandardOutput", "write", "/dev/stdout", () => {
      this.stdout += text;
    });
  }

  writeStandardError(text: string): void {
    try {
      this.#call("writeStandardError", "write", "/dev/stderr", () => {
        this.stderr += text;
      });
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
    }
  }

  readFile(path: string, limit: number): string {
    return this.#call("readFile", "open", path, () => {
      const text = this.#machine.tellsAt(path) ?? this.#machine.at(path).readFile(path, limit);
      if (Buffer.byteLength(text) > limit) throw new SystemError("read", path, "EFBIG");
      return text;
    });
  }

  /** An operation like `readFile`, which may fail in the same way. */
  openFile(path: string, limit: number): OpenedFile {
    return this.#disk.openFile(path, limit, () => this.readFile(path, limit));
  }

  readFileIn(namespace: string, path: string, limit: number): string {
    return this.#call("readFileIn", "setns", namespace, () =>
      this.#machine.kernel.readFileIn(namespace, path, limit),
    );
  }

  createFile(path: string, text: string, mode: number): void {
    this.#call(
      "createFile",
      "open",
      path,
      () => this.#disk.createFile(path, text, mode),
      (part) => this.#disk.createFile(path, text.slice(0, text.length * part), mode),
    );
  }

  overwriteFile(path: string, text: string): void {
    this.#call(
      "overwriteFile",
      "open",
      path,
      () => this.#disk.overwriteFile(path, text),
      (part) =>
        this.#disk.overwriteFile(path, part < 0.5 ? this.#disk.readFile(path, 1e6) : `${text}\n\n`),
    );
  }

  readLink(path: string): string {
    return this.#call("readLink", "readlink", path, () => this.#machine.at(path).readLink(path));
  }

  linkStatus(path: string): FileStatus {
    return this.#call("linkStatus", "lstat", path, () => this.#disk.linkStatus(path));
  }

  permissions(path: string): Permissions {
    return this.#call("permissions", "lstat", path, () => this.#disk.permissions(path));
  }

  setModified(path: string, nanoseconds: bigint): void {
    this.#call("setModified", "utimensat", path, () => this.#disk.setModified(path, nanoseconds));
  }

  link(existing: string, path: string): void {
    this.#call("link", "link", path, () => this.#disk.link(existing, path));
  }

  rename(from: string, to: string): void {
    this.#call("rename", "rename", to, () => this.#disk.rename(from, to));
  }

  sync(path: string): void {
    this.#call("sync", "fsync", path, () => {});
  }

  unlink(path: string): void {
    this.#call("unlink", "unlink", path, () => this.#disk.unlink(path));
  }

  makeDirectories(path: string, mode?: number): void {
    this.#call("makeDirectories", "mkdir", path, () => this.#disk.makeDirectories(path, mode));
  }

  list(path: string): readonly string[] {
    return this.#call("list", "open", path, () => this.#machine.at(path).list(path));
  }

  listAddresses(path: string): Names {
    return this.#call("listAddresses", "open", path, () => namesOf(this.#disk.list(path)));
  }

  /** One call on a directory that nobody changes meanwhile, and one on each file, which may fail or wait. */
  readFiles(path: string, limit: number, withStatus: boolean): AddressFiles {
    const list = (): Names => namesOf(this.#disk.list(path));
    const listAddresses = (): Names => this.#call("readFiles", "open", path, list);
    const readFile = (file: string): string => this.readFile(file, limit);
    const openFile = (file: string): OpenedFile => this.openFile(file, limit);
    return readFilesBy({ listAddresses, readFile, openFile }, path, limit, withStatus);
  }

  linesWith(path: string, text: string): readonly string[] {
    return this.#call("linesWith", "open", path, () => {
      const content =
        this.#machine.tellsAt(path) ?? this.#machine.at(path).readFile(path, Number.MAX_VALUE);
      return [...eachLine(content)].filter((line) => line.includes(text));
    });
  }

  findLines(path: string, start: string | undefined): Lines {
    return this.#call("findLines", "open", path, () => this.#disk.findLines(path, start));
  }

  extendFile(path: string, text: string, header: string): void {
    this.#call(
      "extendFile",
      "open",
      path,
      () => this.#disk.extendFile(path, text, header),
      (part) => this.#disk.extendFile(path, text.slice(0, text.length * part), ""),
    );
  }

  appendLine(path: string, line: string, mode: number): void {
    this.#call(
      "appendLine",
      "open",
      path,
      () => this.#disk.appendLine(path, line, mode),
      (part) => this.#disk.appendLine(path, line.slice(0, line.length * part), mode),
    );
  }

  status(path: string): FileStatus {
    return this.#call("status", "stat", path, () => this.#machine.at(path).status(path));
  }

  namespaceHandle(path: string): NamespaceHandle | undefined {
    const word = "name_to_handle_at";
    return this.#call("namespaceHandle", word, path, () => {
      const place = this.#machine.at(path);
      return recover(
        () => (place instanceof MemoryKernel ? place.handleAt(path) : void place.status(path)),
        ({ code }) => {
          throw new SystemError(word, path, code);
        },
      );
    });
  }

  namespaceLives(handle: NamespaceHandle): boolean {
    return this.#call("namespaceLives", "open_by_handle_at", "nsfs", () =>
      this.#machine.kernel.lives(handle),
    );
  }

  linkedAddresses(family: 4 | 6, but?: string): string {
    return this.#call("linkedAddresses", "netlink", "route", () =>
      this.#machine.kernel.linkedAddresses(family, but),
    );
  }

  sleep(milliseconds: number): void {
    this.#requireAlive();
    this.#machine.wait(milliseconds);
  }

  isLocal(path: string): boolean {
    return this.#call("isLocal", "statfs", path, () => !this.#machine.isShared);
  }

  requireWritable(path: string): void {
    this.#call("requireWritable", "access", path, () => this.#disk.requireWritable(path));
  }

  requireOpenable(path: string, use: "read" | "write"): void {
    this.#call("requireOpenable", "open", path, () => this.#disk.requireOpenable(path, use));
  }

  /**
   * Locks like the native executable, which takes the Go plugin's own lock, unless another kind is named. It never waits: one
   * process runs at a time, so a lock that is held now stays so.
   */
  lock({ file, directory, timeout }: LockRequest): Lock {
    const path = `${directory ?? file}/${this.#start.lockKind ?? "lock"}`;
    return this.#call("lock", "open", file, () => {
      if (!this.#disk.has(file)) this.#disk.createFile(file, "", 0o600);
      else if (this.#disk.status(file).kind === "directory")
        throw new SystemError("open", file, "EISDIR");
      if (directory !== undefined) this.#disk.makeDirectories(directory, 0o700);
      const holder = this.#machine.locks.get(path);
      if (holder !== undefined) {
        this.#machine.wait(timeout);
        throw new LockTimeout(path, holder);
      }
      this.#machine.locks.set(path, `process ${this.#id}`);
      this.#held.add(path);
      return {
        release: () => this.#unlock(path, file),
        excludesGoPlugin: this.#start.lockKind === undefined && !this.#machine.isShared,
      };
    });
  }

  #unlock(path: string, file: string): void {
    try {
      this.#call("unlock", "rmdir", file, () => {
        this.#machine.locks.delete(path);
        this.#held.delete(path);
      });
    } catch (error) {
      // Like the real lock, one that cannot be released is released when its process exits.
      if (!(error instanceof SystemError)) throw error;
    }
  }

  get #disk(): MemoryDisk {
    return this.#machine.disk;
  }

  #requireAlive(): void {
    if (this.ended) throw new Killed();
  }

  #doPart(doPart: ((part: number) => void) | undefined, part: number): void {
    try {
      doPart?.(part);
    } catch (error) {
      // The call would have been refused; the process is killed all the same.
      if (!(error instanceof SystemError)) throw error;
    }
  }

  /**
   * Makes a call, unless something happens to the process there.
   *
   * @param word the system call's name in an error message
   * @param doPart leaves the effect half done, where the call can be stopped in its middle
   */
  #call<T>(
    operation: Operation,
    word: string,
    path: string,
    effect: () => T,
    doPart?: (part: number) => void,
  ): T {
    this.#requireAlive();
    const call = { number: this.calls.length + 1, operation, path };
    this.calls.push(call);
    const interruption = this.#start.interrupt?.(call);
    switch (interruption?.kind) {
      case "stop":
        if (interruption.written !== undefined) this.#doPart(doPart, interruption.written);
        this.end();
        throw new Killed();
      case "fail":
        throw new SystemError(word, path, interruption.code);
      case "pause":
        interruption.meanwhile();
    }
    return effect();
  }
}
