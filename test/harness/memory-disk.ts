/** A file system in memory, with the operations that the plugin uses. */

import { linesIn } from "../../src/system/lines.ts";
import {
  type FileKind,
  type FileStatus,
  itself,
  type Lines,
  type OpenedFile,
  type Permissions,
  recover,
  SystemError,
} from "../../src/system/system.ts";

import { byPath, type TreeEntry } from "./data-directory.ts";

/** The file, directory or link behind a name; several names may lead to the same inode. */
interface Inode {
  readonly kind: FileKind | "link";
  readonly device: bigint;
  readonly number: bigint;
  mode: number;
  /** The id of the user who owns it. */
  user: number;
  readonly entries: Map<string, Inode>;
  /** How many names lead to it. */
  links: number;
  /** A file's content, or the target of a symbolic link. */
  content: string;
  modified: bigint;
  changed: bigint;
}

/** A file that a process has open; the file keeps its number meanwhile, even after its last name is gone. */
interface Descriptor {
  readonly process: number;
  readonly use: string;
  readonly number: bigint;
  readonly hasNoName: boolean;
}

/** How many inode numbers a device has. Devices have different numbers, so each number belongs to one file. */
const NUMBERS = 1_000_000n;

/**
 * Directories and files with hard links, modes, devices and times. Errors have the messages of `node-system.ts`. Permissions
 * are not enforced: a test makes a call fail instead. A new file gets the lowest free number, as on ext4. A number becomes free
 * when the last name of its file goes, unless a process has the file open.
 */
export class MemoryDisk {
  /** Whether `link(2)` works; FAT and some network file systems refuse it with EPERM. */
  hardLinks = true;
  /** The step of the file system's clock, in nanoseconds; the kernel's step is one to ten milliseconds. */
  grain = 1n;
  /** The unit of all times, in nanoseconds, also of times that are set; old file systems keep full seconds. */
  resolution = 1n;
  readonly #now: () => bigint;
  #root: Inode;
  /**
   * The number of the next file or directory. If it is set, numbers count up from there instead of being the lowest free ones.
   */
  nextInode: bigint | undefined;
  /** The numbers that files had and that are free again, in ascending order, by device. */
  #free = new Map<bigint, bigint[]>();
  /** For each device, the first number that no file has ever had. */
  #unused = new Map<bigint, bigint>();
  /** The open files, with the processes that have them open. */
  #open: readonly Descriptor[] = [];
  #lastDevice = 1n;

  /** @param now the time in nanoseconds since the epoch */
  constructor(now: () => bigint) {
    this.#now = now;
    this.#root = this.#inode("directory", 0o755, 1n);
  }

  readFile(path: string, limit: number): string {
    const found = this.#find("open", path);
    if (found.kind === "link") throw new SystemError("open", path, "ENOENT");
    if (found.kind === "directory") throw new SystemError("read", path, "EISDIR");
    if (Buffer.byteLength(found.content) > limit) throw new SystemError("read", path, "EFBIG");
    return found.content;
  }

  openFile(path: string, limit: number, read = () => this.readFile(path, limit)): OpenedFile {
    const content = recover(read, itself);
    const { kind, inode, modified, changed } = this.linkStatus(path);
    return { kind, inode, modified, changed, mode: this.modeOf(path), content };
  }

  createFile(path: string, content: string, mode: number): void {
    const { directory, name } = this.#parent("open", path);
    if (directory.entries.has(name)) throw new SystemError("open", path, "EEXIST");
    if (Buffer.byteLength(name) > 255) throw new SystemError("open", path, "ENAMETOOLONG");
    const file = this.#inode("file", mode, directory.device);
    file.content = content;
    this.#enter(directory, name, file);
  }

  overwriteFile(path: string, content: string): void {
    const found = this.#find("open", path);
    if (found.kind === "link") throw new SystemError("open", path, "ELOOP");
    if (found.kind === "directory") throw new SystemError("open", path, "EISDIR");
    this.write(path, content);
  }

  readLink(path: string): string {
    const found = this.#find("readlink", path);
    if (found.kind !== "link") throw new SystemError("readlink", path, "EINVAL");
    return found.content;
  }

  setModified(path: string, nanoseconds: bigint): void {
    const found = this.#find("utimensat", path);
    found.modified = nanoseconds - (nanoseconds % this.resolution);
    found.changed = this.#time();
  }

  link(existing: string, path: string): void {
    const file = this.#find("link", existing, path);
    const { directory, name } = this.#parent("link", path);
    if (directory.entries.has(name)) throw new SystemError("link", path, "EEXIST");
    if (directory.device !== file.device) throw new SystemError("link", path, "EXDEV");
    if (!this.hardLinks) throw new SystemError("link", path, "EPERM");
    this.#enter(directory, name, file);
    file.changed = this.#time();
  }

  rename(from: string, to: string): void {
    const file = this.#find("rename", from, to);
    const source = this.#parent("rename", from);
    const { directory, name } = this.#parent("rename", to);
    if (directory.device !== file.device) throw new SystemError("rename", to, "EXDEV");
    if (directory.entries.get(name)?.kind === "directory") {
      throw new SystemError("rename", to, "EISDIR");
    }
    if (directory.entries.get(name) === file) return;
    source.directory.entries.delete(source.name);
    source.directory.modified = source.directory.changed = this.#time();
    file.links--;
    this.#drop(directory, name);
    this.#enter(directory, name, file);
  }

  unlink(path: string): void {
    const file = this.#find("unlink", path);
    if (file.kind === "directory") throw new SystemError("unlink", path, "EISDIR");
    const { directory, name } = this.#parent("unlink", path);
    this.#remove(directory, name);
    file.changed = this.#time();
  }

  findLines(path: string, start: string | undefined): Lines {
    const content = this.#lineFile(path);
    const end = content.indexOf("\n");
    const size = Buffer.byteLength(content);
    if (end < 0 || content.includes("\0")) return { first: "", found: [], size };
    const found = start === undefined ? [] : linesIn(content, start, end + 1);
    return { first: content.slice(0, end), found, size };
  }

  extendFile(path: string, text: string, header: string): void {
    this.write(path, `${header}${this.#lineFile(path).slice(header.length)}${text}`);
  }

  appendLine(path: string, line: string, mode: number): void {
    if (this.has(path)) this.write(path, `${this.#lineFile(path)}${line}`);
    else this.createFile(path, line, mode);
  }

  /** The content of a file that is not opened through a symbolic link. */
  #lineFile(path: string): string {
    const found = this.#find("open", path);
    if (found.kind === "link") throw new SystemError("open", path, "ELOOP");
    if (found.kind === "directory") throw new SystemError("open", path, "EISDIR");
    return found.content;
  }

  removeDirectory(path: string): void {
    const found = this.#find("rmdir", path);
    if (found.kind !== "directory") throw new SystemError("rmdir", path, "ENOTDIR");
    if (found.entries.size > 0) throw new SystemError("rmdir", path, "ENOTEMPTY");
    const { directory, name } = this.#parent("rmdir", path);
    this.#remove(directory, name);
  }

  makeDirectories(path: string, mode = 0o755): void {
    let directory = this.#root;
    let made = "";
    for (const name of partsOf(path)) {
      made += `/${name}`;
      let next = directory.entries.get(name);
      if (next === undefined) {
        next = this.#inode("directory", mode, directory.device);
        this.#enter(directory, name, next);
      }
      if (next.kind !== "directory") throw new SystemError("mkdir", made, "ENOTDIR");
      directory = next;
    }
  }

  list(path: string): readonly string[] {
    const found = this.#find("open", path);
    if (found.kind !== "directory") throw new SystemError("open", path, "ENOTDIR");
    return [...found.entries.keys()];
  }

  /** The status of a file; for a link, the status of its absolute target. */
  status(path: string, named = path): FileStatus {
    const found = this.#find("stat", path, named);
    if (found.kind === "link") return this.status(found.content, named);
    return statusOf(found, found.kind);
  }

  linkStatus(path: string): FileStatus {
    const found = this.#find("lstat", path);
    return statusOf(found, found.kind === "link" ? "other" : found.kind);
  }

  permissions(path: string): Permissions {
    const { kind, mode, user } = this.#find("lstat", path);
    return { kind: kind === "link" ? "other" : kind, mode, user };
  }

  requireWritable(path: string): void {
    this.#find("access", path);
  }

  requireOpenable(path: string, use: "read" | "write"): void {
    const { kind, content } = this.#find("open", path);
    if (kind === "link" && use === "read") this.#find("open", content, path);
    if (kind === "link" && use === "write") throw new SystemError("open", path, "ELOOP");
    if (kind === "directory" && use === "write") throw new SystemError("open", path, "EISDIR");
  }

  /** Puts a file there, with its directories, in place of any other. */
  put(path: string, content: string, mode = 0o600): void {
    this.makeDirectories(parentOf(path));
    const { directory, name } = this.#parent("open", path);
    this.#drop(directory, name);
    this.createFile(path, content, mode);
  }

  /** Writes into an existing file, like a program that has it open. */
  write(path: string, content: string): void {
    const file = this.#find("open", path);
    file.content = content;
    file.modified = file.changed = this.#time();
  }

  /** Puts a symbolic link there, with its directories, in place of any other. */
  putLink(path: string, target: string): void {
    this.makeDirectories(parentOf(path));
    const { directory, name } = this.#parent("symlink", path);
    this.#drop(directory, name);
    const link = this.#inode("link", 0o777, directory.device);
    link.content = target;
    this.#enter(directory, name, link);
  }

  /** Removes `path` and everything below it, as `rm -rf`. */
  removeAll(path: string): void {
    if (!this.has(path)) return;
    const { directory, name } = this.#parent("unlink", path);
    this.#remove(directory, name);
  }

  /** Makes something that is neither file nor directory: a FIFO, a device. */
  putOther(path: string): void {
    this.makeDirectories(parentOf(path));
    const { directory, name } = this.#parent("open", path);
    this.#enter(directory, name, this.#inode("other", 0o600, directory.device));
  }

  /** Mounts an empty file system of its own at `path`. */
  mount(path: string): void {
    this.makeDirectories(parentOf(path));
    const { directory, name } = this.#parent("open", path);
    this.#lastDevice += 1n;
    this.#drop(directory, name);
    this.#enter(directory, name, this.#inode("directory", 0o755, this.#lastDevice));
  }

  /**
   * Opens a file, so that its number is not used again meanwhile.
   *
   * @param use the purpose: a process opens only one file for each use
   */
  open(process: number, use: string, path: string): void {
    const { number } = this.#find("open", path);
    this.#open = [...this.#open, { process, use, number, hasNoName: false }];
  }

  /** Closes the files that a process has open, for one use or for all; without a process, the files of all processes. */
  close(process?: number, use?: string): void {
    const isClosed = (descriptor: Descriptor): boolean =>
      (process === undefined || descriptor.process === process) &&
      (use === undefined || descriptor.use === use);
    const closed = this.#open.filter(isClosed);
    this.#open = this.#open.filter((descriptor) => !closed.includes(descriptor));
    const isOpen = (number: bigint): boolean =>
      this.#open.some((descriptor) => descriptor.number === number);
    const free = closed.filter((descriptor) => descriptor.hasNoName && !isOpen(descriptor.number));
    for (const number of new Set(free.map((descriptor) => descriptor.number)))
      this.#release(number);
  }

  /** Takes a snapshot; returns the function that restores it. */
  remember(): () => void {
    const copy = this.copy(this.#now);
    return () => {
      this.#root = copy.#root;
      this.#free = copy.#free;
      this.#unused = copy.#unused;
      this.#open = copy.#open;
    };
  }

  /** A disk with the same content and another clock. */
  copy(now: () => bigint): MemoryDisk {
    const copy = new MemoryDisk(now);
    Object.assign(copy, this);
    copy.#lastDevice = this.#lastDevice;
    copy.#free = new Map([...this.#free].map(([device, free]) => [device, [...free]]));
    copy.#unused = new Map(this.#unused);
    copy.#open = this.#open;
    copy.#root = this.#copyOfRoot();
    return copy;
  }

  /** Everything that a process can find out, as text: disks with the same text are the same. */
  get text(): string {
    const visit = (inode: Inode, path: string): string => {
      const { kind, number, mode, user, content, modified, changed, entries } = inode;
      const own = `${path} ${kind} ${number} ${mode} ${user} ${modified} ${changed} ${JSON.stringify(content)}\n`;
      const names = [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
      return own + names.map(([name, entry]) => visit(entry, `${path}/${name}`)).join("");
    };
    const open = this.#open.map(({ process, use, number }) => `${process} ${use} ${number}`);
    return `${open.sort()}\n${visit(this.#root, "")}`;
  }

  /** Writes into the file with this number, even if it was renamed; if it has no name any more, nobody sees the change. */
  writeInto(number: bigint, change: (content: string) => string): void {
    const find = (inode: Inode): Inode | undefined => {
      if (inode.number === number) return inode;
      for (const entry of inode.entries.values()) {
        const found = find(entry);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    const file = find(this.#root);
    if (file === undefined) return;
    file.content = change(file.content);
    file.modified = file.changed = this.#time();
  }

  #copyOfRoot(): Inode {
    const copies = new Map<Inode, Inode>();
    const copy = (inode: Inode): Inode => {
      const known = copies.get(inode);
      if (known !== undefined) return known;
      const made = { ...inode, entries: new Map<string, Inode>() };
      copies.set(inode, made);
      for (const [name, entry] of inode.entries) made.entries.set(name, copy(entry));
      return made;
    };
    return copy(this.#root);
  }

  /** Gives `path` to a user, as chown(2), or other permissions, as chmod(2). */
  give(path: string, { user, mode }: { readonly user?: number; readonly mode?: number }): void {
    const found = this.#find("chown", path);
    found.user = user ?? found.user;
    found.mode = mode ?? found.mode;
    found.changed = this.#time();
  }

  /** The permission bits of `path`. */
  modeOf(path: string): number {
    return this.#find("stat", path).mode;
  }

  /** Whether `path` exists. */
  has(path: string): boolean {
    return partsOf(path).reduce(enter, this.#root) !== undefined;
  }

  /** Every file below `path` with its content, by its path from there, in the order of the paths. */
  filesUnder(path: string): Readonly<Record<string, string>> {
    const found: [string, string][] = [];
    const visit = (directory: Inode, prefix: string): void => {
      for (const [name, entry] of directory.entries) {
        if (entry.kind === "directory") visit(entry, `${prefix}${name}/`);
        else found.push([`${prefix}${name}`, entry.content]);
      }
    };
    if (this.has(path)) visit(this.#find("open", path), "");
    return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Everything below the directory `path`, in the order of the paths. */
  tree(path: string): readonly TreeEntry[] {
    const visit = (directory: Inode, prefix: string): readonly TreeEntry[] =>
      [...directory.entries].flatMap(([name, entry]) => {
        const mode = entry.mode.toString(8);
        if (entry.kind !== "directory") {
          const content = Buffer.from(entry.content).toString("latin1");
          return [{ path: `${prefix}${name}`, mode, content }];
        }
        return [{ path: `${prefix}${name}/`, mode }, ...visit(entry, `${prefix}${name}/`)];
      });
    return visit(this.#find("open", path), "").toSorted(byPath);
  }

  #find(operation: string, path: string, named = path): Inode {
    let found = this.#root;
    for (const name of partsOf(path)) {
      if (found.kind !== "directory") throw new SystemError(operation, named, "ENOTDIR");
      if (Buffer.byteLength(name) > 255) throw new SystemError(operation, named, "ENAMETOOLONG");
      const next = found.entries.get(name);
      if (next === undefined) throw new SystemError(operation, named, "ENOENT");
      found = next;
    }
    return found;
  }

  #parent(operation: string, path: string): { directory: Inode; name: string } {
    const directory = this.#find(operation, parentOf(path), path);
    if (directory.kind !== "directory") throw new SystemError(operation, path, "ENOTDIR");
    return { directory, name: partsOf(path).at(-1) ?? "" };
  }

  #inode(kind: Inode["kind"], mode: number, device: bigint): Inode {
    const now = this.#time();
    return {
      kind,
      device,
      number: this.#number(device),
      mode,
      user: 0,
      links: 0,
      entries: new Map(),
      content: "",
      modified: now,
      changed: now,
    };
  }

  #number(device: bigint): bigint {
    if (this.nextInode !== undefined) return this.nextInode++;
    const lowest = this.#free.get(device)?.shift();
    if (lowest !== undefined) return lowest;
    const unused = this.#unused.get(device) ?? (device - 1n) * NUMBERS + 1n;
    this.#unused.set(device, unused + 1n);
    return unused;
  }

  /** Makes a number free again, on its device. */
  #release(number: bigint): void {
    if (this.nextInode !== undefined) return;
    const device = (number - 1n) / NUMBERS + 1n;
    const free = this.#free.get(device) ?? [];
    this.#free.set(device, free);
    const at = free.findLastIndex((unused) => unused < number);
    free.splice(at + 1, 0, number);
  }

  #time(): bigint {
    const now = this.#now();
    const tick = now - (now % this.grain);
    return tick - (tick % this.resolution);
  }

  #enter(directory: Inode, name: string, entry: Inode): void {
    directory.entries.set(name, entry);
    directory.modified = directory.changed = this.#time();
    entry.links++;
  }

  #remove(directory: Inode, name: string): void {
    this.#drop(directory, name);
    directory.modified = directory.changed = this.#time();
  }

  /** Takes a name away, with all below it. */
  #drop(directory: Inode, name: string): void {
    const entry = directory.entries.get(name);
    if (entry === undefined) return;
    for (const below of entry.entries.keys()) this.#drop(entry, below);
    directory.entries.delete(name);
    entry.links--;
    if (entry.links > 0) return;
    const isOpen = this.#open.some(({ number }) => number === entry.number);
    if (!isOpen) this.#release(entry.number);
    this.#open = this.#open.map((descriptor) =>
      descriptor.number === entry.number ? { ...descriptor, hasNoName: true } : descriptor,
    );
  }
}

function statusOf(found: Inode, kind: FileKind): FileStatus {
  const { device, number, links, content, modified, changed } = found;
  const size = Buffer.byteLength(content);
  return { kind, device, inode: number, links, size, modified, changed };
}

function enter(from: Inode | undefined, name: string): Inode | undefined {
  return from?.entries.get(name);
}

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}

function parentOf(path: string): string {
  return `/${partsOf(path).slice(0, -1).join("/")}`;
}
