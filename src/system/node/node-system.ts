/** `System` on Node.js. */

import fs from "node:fs";
import { basename } from "node:path";
import { eachLine, linesIn } from "../lines.ts";
import { isLocalType } from "../local-file-systems.ts";
import { namesOf } from "../names.ts";
import { readFilesBy } from "../read-files.ts";
import {
  type FileKind,
  type FileStatus,
  isSystemError,
  itself,
  type Lines,
  makeDirectoriesBy,
  type Names,
  type OpenedFile,
  type Permissions,
  recover,
  type System,
  SystemError,
} from "../system.ts";
import { createLock } from "./lock.ts";
import { namespaceHandle, namespaceLives } from "./namespace-handle.ts";
import { linkedAddresses } from "./netlink.ts";
import { readInNamespace } from "./network-namespace.ts";
import { pause } from "./pause.ts";
import { readStandardInput, standardInputBytes, writeStandardOutput } from "./standard-streams.ts";
import { errnoOf, quietly, systemCall } from "./system-call.ts";
import { decodedUtf8, isInexact } from "./text.ts";
import { withFile } from "./with-file.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDONLY, O_WRONLY } = fs.constants;

/** `System`, the command line, and the exit of the process. */
export interface NodeSystem extends System {
  /** The name that the program was called by, without a directory. */
  readonly programName: string;
  /** The command-line arguments after the program's name. */
  readonly arguments: readonly string[];
  exit(code: number): never;
}

/** How often to open a file that is gone when it is opened, and there when it is looked at. */
const MOST_OPENINGS = 10;

/** Sets up this process for the plugin: files get the requested modes, independent of the caller's umask. */
export function createNodeSystem(): NodeSystem {
  process.umask(0o022);
  const network = createLock({
    status,
    readFile,
    isLocal,
    makeDirectories: (path) => makeDirectories(path, 0o700),
  });
  return {
    programName: basename(process.argv0),
    arguments: process.argv.slice(2),
    environment,
    readStandardInput,
    standardInputBytes,
    writeStandardOutput,
    writeStandardError,
    readFile,
    readFileIn: (namespace, path, limit) => readInNamespace(namespace, () => readFile(path, limit)),
    createFile,
    overwriteFile,
    link: (existing, path) => systemCall("link", path, () => fs.linkSync(existing, path)),
    rename: (from, to) => systemCall("rename", to, () => fs.renameSync(from, to)),
    sync,
    unlink: (path) => systemCall("unlink", path, () => fs.unlinkSync(path)),
    readLink: (path) =>
      systemCall("readlink", path, () =>
        decodedUtf8(fs.readlinkSync(path, { encoding: "buffer" })),
      ),
    makeDirectories,
    list,
    listAddresses,
    openFile: (path, limit) => openFile(path, limit),
    readFiles: (path, limit, withStatus) =>
      readFilesBy({ listAddresses, readFile, openFile }, path, limit, withStatus),
    findLines,
    linesWith,
    extendFile,
    appendLine,
    status,
    linkStatus,
    permissions,
    isLocal,
    requireWritable,
    requireOpenable: (path, use) =>
      withFile(path, use === "write" ? O_WRONLY | O_NOFOLLOW : O_RDONLY, () => {}),
    namespaceHandle: (path) => namespaceHandle(path),
    namespaceLives: (handle) => namespaceLives(handle),
    linkedAddresses,
    setModified,
    lock: network.lock,
    now: () => Date.now(),
    processId: () => process.pid,
    userId: () => process.geteuid?.() ?? 0,
    sleep,
    exit: (code) => process.exit(code),
  };
}

/**
 * Waits, without a library's handlers of signals: they would wait for the event loop, which never runs. Without them a signal
 * ends the process.
 */
function sleep(milliseconds: number): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(signal);
  pause(milliseconds);
}

function environment(name: string): string | undefined {
  const value = process.env[name];
  if (value === undefined || !isInexact(value)) return value;
  // The environment does not change after the start.
  const variables = quietly(() => fs.readFileSync("/proc/self/environ", "latin1")) ?? "";
  const found = variables.split("\0").find((variable) => variable.startsWith(`${name}=`));
  return found === undefined
    ? value
    : decodedUtf8(Buffer.from(found.slice(name.length + 1), "latin1"));
}

function writeStandardError(text: string): void {
  try {
    fs.writeSync(2, text);
  } catch {
    // There is no other stream to report it on.
  }
}

/** See `System.readFile`. */
export function readFile(path: string, limit: number): string {
  return withFile(path, O_RDONLY, (file) => readText(file, path, limit));
}

/** Reads an open file from where it stands, see `System.readFile`. */
function readText(file: number, path: string, limit: number): string {
  return systemCall("read", path, () => {
    let buffer = Buffer.allocUnsafe(512);
    let length = 0;
    for (;;) {
      const count = fs.readSync(file, buffer, length, buffer.length - length, null);
      if (count === 0) return decodedUtf8(buffer.subarray(0, length));
      length += count;
      if (length > limit) throw new SystemError("read", path, "EFBIG");
      if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(length)]);
    }
  });
}

function openFile(path: string, limit: number, openings = MOST_OPENINGS): OpenedFile {
  try {
    return withFile(path, O_RDONLY, (file) => {
      const found = systemCall("fstat", path, () => fs.fstatSync(file, { bigint: true }));
      return openedFile(
        found,
        recover(() => readText(file, path, limit), itself),
      );
    });
  } catch (error) {
    // A link to nothing is there, too; any other file that is missing was removed, and may be there again.
    const found = systemCall("lstat", path, () => fs.lstatSync(path, { bigint: true }));
    if (!isSystemError(error)) throw error;
    const isAgain = error.code === "ENOENT" && !found.isSymbolicLink() && openings > 1;
    return isAgain ? openFile(path, limit, openings - 1) : openedFile(found, error);
  }
}

function openedFile(found: fs.BigIntStats, content: OpenedFile["content"]): OpenedFile {
  const { kind, inode, modified, changed } = statusOf(found);
  return { kind, inode, modified, changed, mode: Number(found.mode) & 0o7777, content };
}

function createFile(path: string, text: string, mode: number): void {
  const file = systemCall("open", path, () => fs.openSync(path, "wx", mode));
  try {
    systemCall("write", path, () => writeAndClose(file, text));
  } catch (error) {
    // The error of the write is the one to report.
    quietly(() => fs.unlinkSync(path));
    throw error;
  }
}

/** A network file system may report only on close that the text could not be written. */
function writeAndClose(file: number, text: string): void {
  try {
    fs.writeFileSync(file, text);
  } catch (error) {
    quietly(() => fs.closeSync(file));
    throw error;
  }
  try {
    fs.closeSync(file);
  } catch (error) {
    // An interrupted close has closed the file nevertheless.
    if (errnoOf(error) !== "EINTR") throw error;
  }
}

/** How much of a longer file is overwritten before it is truncated, in bytes. */
const OVERWRITE_LIMIT = 4096;

function overwriteFile(path: string, text: string): void {
  changeFile(path, (file) => {
    const length = Buffer.byteLength(text);
    const rest = Math.min(fs.fstatSync(file).size, OVERWRITE_LIMIT) - length;
    fs.writeSync(file, text.padEnd(text.length + rest, "\n"), 0);
    fs.ftruncateSync(file, length);
  });
}

/** Changes an existing file in place; a symbolic link is not followed. */
function changeFile(path: string, change: (file: number) => void): void {
  withFile(path, O_WRONLY | O_NOFOLLOW, (file) => systemCall("write", path, () => change(file)));
}

function list(path: string): readonly string[] {
  return systemCall("open", path, () => {
    const names = fs.readdirSync(path);
    if (!names.some(isInexact)) return names;
    return fs.readdirSync(path, { encoding: "buffer" }).map(decodedUtf8);
  });
}

function listAddresses(path: string): Names {
  return namesOf(list(path));
}

/** The kernel's list of some hundred thousand mounts is smaller, in bytes. */
const LARGEST_OF_KERNEL = 256 * 1024 * 1024;

/** The first line is looked for in so many bytes, where no other is. */
const FIRST_LINE = 4096;

function findLines(path: string, start: string | undefined): Lines {
  const find = (file: number): Lines => {
    const { size } = fs.fstatSync(file);
    const buffer = Buffer.allocUnsafe(start === undefined ? Math.min(size, FIRST_LINE) : size);
    let length = 0;
    while (length < buffer.length) {
      const count = fs.readSync(file, buffer, length, buffer.length - length, length);
      // Lines are missing: the length is not that of the seal.
      if (count === 0) return { first: "", found: [], size: length };
      length += count;
    }
    const text = decodedUtf8(buffer);
    const end = text.indexOf("\n");
    if (end < 0 || buffer.includes(0)) return { first: "", found: [], size };
    const found = start === undefined ? [] : linesIn(text, start, end + 1);
    return { first: text.slice(0, end), found, size };
  };
  return withFile(path, O_RDONLY | O_NOFOLLOW, (file) =>
    systemCall("read", path, () => find(file)),
  );
}

function linesWith(path: string, text: string): readonly string[] {
  const content = withFile(path, O_RDONLY | O_NOFOLLOW, (file) => {
    // Anything but a file may have no end.
    if (!fs.fstatSync(file).isFile()) throw new SystemError("read", path, "EINVAL");
    return readText(file, path, LARGEST_OF_KERNEL);
  });
  return [...eachLine(content)].filter((line) => line.includes(text));
}

function extendFile(path: string, text: string, header: string): void {
  changeFile(path, (file) => {
    const { size } = fs.fstatSync(file);
    if (text !== "") writeAt(file, text, size);
    writeAt(file, header, 0);
  });
}

function appendLine(path: string, line: string, mode: number): void {
  const append = (file: number): void => {
    const bytes = Buffer.from(line);
    if (fs.writeSync(file, bytes) < bytes.length) throw new SystemError("write", path, "ENOSPC");
  };
  withFile(
    path,
    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW,
    (file) => systemCall("write", path, () => append(file)),
    mode,
  );
}

function writeAt(file: number, text: string, position: number): void {
  const bytes = Buffer.from(text);
  let written = 0;
  while (written < bytes.length) {
    written += fs.writeSync(file, bytes, written, bytes.length - written, position + written);
  }
}

function sync(path: string): void {
  withFile(path, O_RDONLY | O_NOFOLLOW, (file) =>
    systemCall("fsync", path, () => fs.fsyncSync(file)),
  );
}

function makeDirectories(path: string, mode = 0o755): void {
  const make = (directory: string): void => {
    systemCall("mkdir", directory, () => fs.mkdirSync(directory, mode));
  };
  makeDirectoriesBy({ make, status }, path);
}

function status(path: string): FileStatus {
  return statusOf(systemCall("stat", path, () => fs.statSync(path, { bigint: true })));
}

function linkStatus(path: string): FileStatus {
  return statusOf(systemCall("lstat", path, () => fs.lstatSync(path, { bigint: true })));
}

function permissions(path: string): Permissions {
  const found = systemCall("lstat", path, () => fs.lstatSync(path));
  return { kind: kindOf(found), mode: found.mode & 0o7777, user: found.uid };
}

function kindOf(found: fs.StatsBase<unknown>): FileKind {
  return found.isFile() ? "file" : found.isDirectory() ? "directory" : "other";
}

/** The status in the form of `System`. */
function statusOf(found: fs.BigIntStats): FileStatus {
  return {
    kind: kindOf(found),
    device: found.dev,
    inode: found.ino,
    links: Number(found.nlink),
    size: Number(found.size),
    modified: found.mtimeNs,
    changed: found.ctimeNs,
  };
}

function requireWritable(path: string): void {
  const mode = fs.constants.W_OK | fs.constants.X_OK;
  systemCall("access", path, () => fs.accessSync(path, mode));
  const found = quietly(() => fs.statfsSync(path));
  if (found === undefined || !isLocalType(found.type)) return;
  const { blocks, bfree, files, ffree } = found;
  // File systems that make inodes as they need them, such as Btrfs, count none, and may have room for a small file.
  const isFull = files > 0 && ((blocks > 0 && bfree === 0) || ffree === 0);
  if (isFull) throw new SystemError("access", path, "ENOSPC");
}

function isLocal(path: string): boolean {
  return isLocalType(systemCall("statfs", path, () => fs.statfsSync(path).type));
}

/** Node.js takes seconds as a number, which is precise to a fraction of a microsecond. */
function setModified(path: string, nanoseconds: bigint): void {
  const seconds = Number(nanoseconds) / 1e9;
  systemCall("utimensat", path, () => fs.utimesSync(path, seconds, seconds));
}
