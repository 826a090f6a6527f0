/** `System` on the C host of the native executable. */

import { flockTimeout } from "../flock-holder.ts";
import { isLocalType } from "../local-file-systems.ts";
import {
  type FileStatus,
  type Files,
  isSystemError,
  makeDirectoriesBy,
  type OtherFile,
  type System,
  SystemError,
} from "../system.ts";

/** The functions of host.c; each throws a `HostError` when its system call fails. */
interface Host {
  serve(call: (programName: string) => void): void;
  environment(name: string): string | undefined;
  readInput(limit: number, milliseconds: number): string;
  writeOutput(text: string): void;
  writeError(text: string): void;
  readFile(path: string, limit: number): string;
  createFile(path: string, text: string, mode: number): void;
  overwriteFile(path: string, text: string): void;
  link(existing: string, path: string): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  symlink(target: string, path: string): void;
  readLink(path: string): string;
  setModified(path: string, seconds: number, nanoseconds: number): void;
  makeDirectory(path: string, mode: number): void;
  changeMode(path: string, mode: number): void;
  removeDirectory(path: string): void;
  list(path: string): readonly string[];
  listAddresses(path: string): readonly [quads: readonly number[], others: readonly string[]];
  readFiles(path: string, limit: number): readonly [string, number, readonly HostFile[]];
  findLines(
    path: string,
    start: string | undefined,
  ): readonly [first: string, found: readonly string[], size: number];
  extendFile(path: string, text: string, header: string): void;
  status(path: string): Fields;
  linkStatus(path: string): Fields;
  fileSystemType(path: string): number;
  requireWritable(path: string): void;
  lock(path: string, milliseconds: number): number;
  unlock(descriptor: number): void;
  now(): number;
  monotonic(): number;
  processId(): number;
  exit(code: number): void;
}

/** Kind, device, inode, size, modified, changed. */
type Fields = readonly [number, bigint, bigint, number, bigint, bigint];

/** Its content, or the operation that failed with the errno's name. */
type HostFile =
  | readonly [name: string, content: string]
  | readonly [name: string, operation: string, code: string];

interface HostError {
  readonly operation: string;
  readonly code: string;
}

declare const host: Host;

/** A second in nanoseconds. */
const SECOND = 1_000_000_000n;

/** `System`, and the exit of the process. */
export interface QuickJsSystem extends System {
  exit(code: number): void;
}

/** The system of the plugin; host.c has set up the process. */
export function createQuickJsSystem(): QuickJsSystem {
  return {
    environment: (name) => host.environment(name),
    readStandardInput: (limit, timeout) =>
      callHost("/dev/stdin", () => host.readInput(limit, timeout)),
    writeStandardOutput: (text) => callHost("/dev/stdout", () => host.writeOutput(text)),
    writeStandardError,
    readFile,
    createFile: (path, text, mode) => callHost(path, () => host.createFile(path, text, mode)),
    overwriteFile: (path, text) => callHost(path, () => host.overwriteFile(path, text)),
    link: (existing, path) => callHost(path, () => host.link(existing, path)),
    rename: (from, to) => callHost(to, () => host.rename(from, to)),
    unlink: (path) => callHost(path, () => host.unlink(path)),
    symlink: (target, path) => callHost(path, () => host.symlink(target, path)),
    readLink: (path) => callHost(path, () => host.readLink(path)),
    setModified: (path, time) =>
      callHost(path, () => host.setModified(path, Number(time / SECOND), Number(time % SECOND))),
    makeDirectories,
    changeMode: (path, mode) => callHost(path, () => host.changeMode(path, mode)),
    removeDirectory: (path) => callHost(path, () => host.removeDirectory(path)),
    list: (path) => callHost(path, () => host.list(path)),
    listAddresses: (path) => {
      const [quads, others] = callHost(path, () => host.listAddresses(path));
      return { quads, others };
    },
    readFiles,
    findLines: (path, start) => {
      const [first, found, size] = callHost(path, () => host.findLines(path, start));
      return { first, found, size };
    },
    extendFile: (path, text, header) => callHost(path, () => host.extendFile(path, text, header)),
    status,
    linkStatus: (path) => statusOf(callHost(path, () => host.linkStatus(path))),
    isLocal: (path) => isLocalType(callHost(path, () => host.fileSystemType(path))),
    requireWritable: (path) => callHost(path, () => host.requireWritable(path)),
    locksOutGoPlugin: true,
    lock: ({ file, timeout }) => lock(file, timeout),
    now: () => callHost("", () => host.now()),
    monotonic: () => callHost("", () => host.monotonic()),
    processId: () => host.processId(),
    exit: (code) => host.exit(code),
  };
}

/**
 * Says what serves a call of the plugin; to be called once, at the end of the program.
 *
 * @param call is given the name that the program was called by, without a directory
 */
export function serve(call: (programName: string) => void): void {
  host.serve(call);
}

/** Calls a function of the host and converts its error to a `SystemError`. */
export function callHost<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (!isHostError(error)) throw error;
    throw new SystemError(error.operation, path, error.code);
  }
}

function isHostError(error: unknown): error is HostError {
  return typeof error === "object" && error !== null && "operation" in error;
}

function writeStandardError(text: string): void {
  try {
    host.writeError(text);
  } catch {
    // There is no other stream to report it on.
  }
}

function readFiles(path: string, limit: number): Files {
  const [pairs, count, others] = callHost(path, () => host.readFiles(path, limit));
  const otherOf = ([name, text, code]: HostFile): OtherFile => ({
    name,
    content: code === undefined ? text : new SystemError(text, `${path}/${name}`, code),
  });
  return { pairs, count, others: others.map(otherOf) };
}

function readFile(path: string, limit: number): string {
  return callHost(path, () => host.readFile(path, limit));
}

function makeDirectories(path: string, mode?: number): void {
  makeDirectoriesBy((one) => makeDirectory(one, mode), path);
}

function makeDirectory(path: string, mode = 0o755): void {
  try {
    callHost(path, () => host.makeDirectory(path, mode));
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
    if (!isDirectory(path)) throw new SystemError("mkdir", path, "ENOTDIR");
  }
}

function isDirectory(path: string): boolean {
  try {
    return status(path).kind === "directory";
  } catch (error) {
    if (!isSystemError(error, "ENOENT", "ELOOP")) throw error;
    return false;
  }
}

function status(path: string): FileStatus {
  return statusOf(callHost(path, () => host.status(path)));
}

function statusOf([kind, device, inode, size, modified, changed]: Fields): FileStatus {
  const letter = String.fromCharCode(kind);
  return {
    kind: letter === "f" ? "file" : letter === "d" ? "directory" : "other",
    device,
    inode,
    size,
    modified,
    changed,
  };
}

/** Takes `flock(2)` on the reference's own lock file. */
function lock(path: string, timeout: number): () => void {
  let descriptor: number;
  try {
    descriptor = callHost(path, () => host.lock(path, timeout));
  } catch (error) {
    if (!(error instanceof SystemError) || error.code !== "EAGAIN") throw error;
    throw flockTimeout({ status, readFile }, path);
  }
  return () => unlockQuietly(descriptor);
}

/** Releases the lock; if that fails, it is released when the process exits. */
function unlockQuietly(descriptor: number): void {
  try {
    host.unlock(descriptor);
  } catch (error) {
    if (!isHostError(error)) throw error;
  }
}
