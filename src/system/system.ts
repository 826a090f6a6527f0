/** The interface to the operating system: every system call that the plugin makes. */

/** The kind of file at a path. */
export type FileKind = "file" | "directory" | "other";

/** The facts of `stat(2)` that the plugin uses; times in nanoseconds since the epoch. */
export interface FileStatus {
  readonly kind: FileKind;
  readonly device: bigint;
  readonly inode: bigint;
  /** How many names it has; of a directory in `/proc` what the kernel says there. */
  readonly links: number;
  readonly size: number;
  readonly modified: bigint;
  readonly changed: bigint;
}

/** Who may do what with a file. */
export interface Permissions {
  readonly kind: FileKind;
  /** The lower twelve bits of the mode, such as 0o600. */
  readonly mode: number;
  /** The id of the user to whom it belongs. */
  readonly user: number;
}

/** The names in a directory. */
export interface Names {
  /** The names that are four decimal octets without leading zeros, as numbers in ascending order. */
  readonly quads: readonly number[];
  /** All other names, in no order. */
  readonly others: readonly string[];
}

/** What `findLines` finds in a file. */
export interface Lines {
  /** The file's first line, without its end. */
  readonly first: string;
  /** The further lines that begin with the text in question, in their order, without their ends. */
  readonly found: readonly string[];
  /** The file's length, in bytes. */
  readonly size: number;
}

/** The files of a directory whose names have only the characters of addresses, as `readFiles` brings them. */
export interface AddressFiles {
  /**
   * A line `<first word> <second word> <name>` for each usual file, with the content of a reservation: two words with CR LF
   * between them, an identifier (letters, digits, `_`, `.`, `-`, not first), and 1 to 15 printable ASCII characters other
   * than `/` and `:`.
   *
   * With statuses a usual file is a regular one that only its owner can write to, and ` <inode>,<modified> <changed> <number>`
   * follows: times in nanoseconds since the epoch, and a name of four decimal octets without leading zeros as a number. These
   * come last, in ascending order; of any other name the number is empty.
   */
  readonly usual: string;
  /** How many lines that are. */
  readonly count: number;
  /** Every other file that is there, in no order. */
  readonly others: readonly NamedFile[];
}

/** A file that is no usual one, as `openFile` opens it; or why that is not possible. */
export interface NamedFile {
  readonly name: string;
  readonly file: OpenedFile | SystemError;
}

/** A file as it is opened once: its status and its content are of the same file. */
export interface OpenedFile extends Omit<FileStatus, "device" | "links" | "size"> {
  /** The lower twelve bits of the mode, such as 0o600. */
  readonly mode: number;
  /** The error where it cannot be read; the status is then that of a symbolic link itself. */
  readonly content: string | SystemError;
}

/** A network namespace by the name that the kernel gives to no other until the next boot. */
export interface NamespaceHandle {
  /** The namespace's id in decimal, of at most 64 bits. */
  readonly id: string;
  /** Its inode in the kernel's file system of namespaces, which another may have as soon as it is gone. */
  readonly inode: bigint;
}

/** A request for the lock. */
export interface LockRequest {
  /** The Go plugin's lock file, `<network directory>/lock`; created (mode 0600) where it is missing. */
  readonly file: string;
  /** The state directory, for a lock that is not `file`; created where it is needed; `undefined` where it is not used. */
  readonly directory: string | undefined;
  /** How long to wait, in milliseconds. */
  readonly timeout: number;
}

/**
 * The operating system as the plugin uses it. Paths are absolute or relative to the working directory.
 * Every call is synchronous and throws `SystemError` when the system call fails.
 */
export interface System {
  /** The value of an environment variable; `undefined` where it is not set. */
  environment(name: string): string | undefined;
  /**
   * Standard input to its end, decoded as UTF-8; more than `limit` bytes is an error (EFBIG), and so is no end within
   * `timeout` milliseconds (ETIMEDOUT), as far as that can be detected without blocking.
   */
  readStandardInput(limit: number, timeout: number): string;
  /** What `readStandardInput` has read: a character, U+0000 to U+00FF, for each byte. */
  standardInputBytes(): string;
  /** Writes all of `text`, or throws. */
  writeStandardOutput(text: string): void;
  /** Writes `text` as far as possible; never throws, since the error could not be reported. */
  writeStandardError(text: string): void;

  /** A whole file, decoded as UTF-8; more than `limit` bytes is an error (EFBIG). Never blocks on a FIFO. */
  readFile(path: string, limit: number): string;
  /**
   * `readFile` as this process would read in another network namespace, for files such as `/proc/self/net/fib_trie`. It
   * needs CAP_SYS_ADMIN (else EPERM).
   *
   * @param namespace the path where it is mounted, or that of a process's
   */
  readFileIn(namespace: string, path: string, limit: number): string;
  /** Creates a file exclusively (EEXIST where the path exists) and writes `text`. */
  createFile(path: string, text: string, mode: number): void;
  /**
   * Overwrites an existing file in place, without following a symbolic link (ELOOP). If the process is killed meanwhile,
   * the file has the old text, or the new one followed by line ends.
   */
  overwriteFile(path: string, text: string): void;
  /**
   * The first line of a file, and those further ones that begin with `start`; none without `start`. Without following a
   * symbolic link (ELOOP). A line without its end is none, and a file has no lines if NUL is in what is read of it.
   */
  findLines(path: string, start: string | undefined): Lines;
  /**
   * The lines of a file that have `text` in them, in their order, without their ends; its size need not be told, as that of the
   * kernel's files. Without following a symbolic link (ELOOP); anything but a file is an error (EINVAL).
   */
  linesWith(path: string, text: string): readonly string[];
  /**
   * Appends `text` to an existing file, and then overwrites its beginning with `header`, without following a symbolic
   * link (ELOOP).
   */
  extendFile(path: string, text: string, header: string): void;
  /**
   * Appends a line to a file, which is made where it is missing, without following a symbolic link (ELOOP). It is one `write(2)`
   * with O_APPEND: of processes that append at once, none loses a line. Where the disk has room for a part alone, that stays, and
   * is an error (ENOSPC).
   */
  appendLine(path: string, line: string, mode: number): void;
  /**
   * Opens a file, and reads its status and its content, decoded as UTF-8; more than `limit` bytes is an error (EFBIG). Never
   * blocks on a FIFO.
   */
  openFile(path: string, limit: number): OpenedFile;
  /** Reads the files of a directory that are named like addresses in one call, see `AddressFiles`; `limit` as of `openFile`. */
  readFiles(path: string, limit: number, withStatus: boolean): AddressFiles;
  /** `link(2)`: gives the file or symbolic link `existing` the further name `path`; EEXIST where the path exists. */
  link(existing: string, path: string): void;
  /** `rename(2)`. */
  rename(from: string, to: string): void;
  /** `fsync(2)`: returns once the content of a file is on disk. */
  sync(path: string): void;
  /** `unlink(2)`. */
  unlink(path: string): void;
  /** `readlink(2)`: the target of the symbolic link at `path`. */
  readLink(path: string): string;
  /** Makes a directory and its missing parents, each with `mode` (by default 0755); does nothing where it exists. */
  makeDirectories(path: string, mode?: number): void;
  /** The names in a directory, in no order. */
  list(path: string): readonly string[];
  /** The names in a directory, those of IPv4 addresses as numbers: a full /16 would be 65 000 strings. */
  listAddresses(path: string): Names;
  /** `stat(2)`, following links. */
  status(path: string): FileStatus;
  /** `lstat(2)`: as `status`, of a symbolic link itself. */
  linkStatus(path: string): FileStatus;
  /** `lstat(2)`, what it tells of permissions. */
  permissions(path: string): Permissions;
  /**
   * `name_to_handle_at(2)`, following links, of a network namespace; `undefined` where the kernel gives no handles of namespaces
   * (before Linux 6.18), nobody may ask for one, or the path leads to something else. It takes no privilege.
   */
  namespaceHandle(path: string): NamespaceHandle | undefined;
  /**
   * Whether `open_by_handle_at(2)` finds a namespace, which it does as long as anything holds it: a process, a mount, an open
   * file, or in Linux 6.18 a socket. It is also false (ESTALE) for one that this process may not see, so only a process that
   * sees all may take it for gone: in the first user namespace and the first PID namespace, and with CAP_SYS_ADMIN in effect.
   */
  namespaceLives(handle: NamespaceHandle): boolean;
  /**
   * The addresses of a family in the network namespace of this process, and in those for which the kernel has an id there: any to
   * which a link leads, such as the other end of a veth, and any that was given one. A line `<address> <id>` for each: the
   * address as a number, in hexadecimal without leading zeros, and the id, or `-` for this process's own. Without
   * CAP_NET_ADMIN where another namespace belongs, it is left out; before Linux 4.20 every one is.
   *
   * @param but the path of a namespace that gets an id, unless it has one, and is left out; nothing of it is, where that fails
   */
  linkedAddresses(family: 4 | 6, but?: string): string;
  /** Sets the time of last modification, in nanoseconds since the epoch, as precisely as the file system stores it. */
  setModified(path: string, nanoseconds: bigint): void;
  /** Whether no other machine can write below a directory, as far as its file system tells. */
  isLocal(path: string): boolean;
  /**
   * Throws where this process may not create files in the directory `path`; ENOSPC where a file system of this machine is known
   * to have no room for one.
   */
  requireWritable(path: string): void;
  /**
   * Throws where this process cannot open a file that is there: to read it, or to write to it, then without following a
   * symbolic link (ELOOP). Changes nothing, and never blocks on a FIFO.
   */
  requireOpenable(path: string, use: "read" | "write"): void;

  /** Takes the lock; throws `LockTimeout` on timeout. */
  lock(request: LockRequest): Lock;

  /** Wall-clock time, in milliseconds since the epoch. */
  now(): number;
  /** The id of this process. */
  processId(): number;
  /** The id of the user to whom its files belong. */
  userId(): number;
  /** Blocks the process for some milliseconds. */
  sleep(milliseconds: number): void;
}

/** A lock that is held. */
export interface Lock {
  /** Releases it. */
  readonly release: () => void;
  /**
   * Whether it excludes the Go plugin, too. Not where another machine can write: there `flock(2)` may exclude this machine
   * alone (NFS mounted `nolock`) or this mount (9P, FUSE).
   */
  readonly excludesGoPlugin: boolean;
}

/** A system call that failed, with Go's message: `open /a/b: permission denied`. */
export class SystemError extends Error {
  /** The name of the errno, such as `ENOENT`. */
  readonly code: string;
  /** The description of the errno alone, such as `permission denied`. */
  readonly reason: string;
  readonly path: string;

  constructor(operation: string, path: string, code: string) {
    const reason = REASONS[code] ?? code;
    super(`${operation} ${path}: ${reason}`);
    this.code = code;
    this.reason = reason;
    this.path = path;
  }
}

/** The lock was not released within the timeout. */
export class LockTimeout extends Error {
  /** The holder, where it is known. */
  readonly holder: string | undefined;
  /** The holder's variable `TRACEPARENT`, where that is known and `holder` does not name its trace. */
  readonly traceparent: string | undefined;

  constructor(path: string, holder: string | undefined, traceparent?: string) {
    super(`lock ${path}: timed out`);
    this.holder = holder;
    this.traceparent = traceparent;
  }
}

/** The errors of `link(2)` where the file system has no hard links, or no further one. */
export const NO_HARD_LINK: readonly string[] = ["EPERM", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** The errors of a path where there is nothing, no regular file, or one that is far too large. */
export const NO_FILE: readonly string[] = ["ENOENT", "EISDIR", "ELOOP", "ENXIO", "EFBIG"];

/** A larger file is refused (EFBIG), in bytes: of those that a configuration names, and of the kernel's that are read whole. */
export const LARGEST_FILE = 16 * 1024 * 1024;

/** The permissions of group and others to write, see inode(7). */
export const WRITABLE_BY_OTHERS = 0o022;

/** Whether `error` is a failed system call, with one of `codes` (names of errnos) where any are given. */
export function isSystemError(error: unknown, ...codes: readonly string[]): error is SystemError {
  return error instanceof SystemError && (codes.length === 0 || codes.includes(error.code));
}

/**
 * The result of `action`, or `value` where a system call in it fails: with one of `codes` (names of errnos) where any are
 * given. Every other error is thrown.
 *
 * @example
 * attempt(() => system.list(directory), [], "ENOENT") // a missing directory is empty
 */
export function attempt<T, U>(action: () => T, value: U, ...codes: readonly string[]): T | U {
  // This repeats `recover` to save a function and a list in each call, which cost more than the system call itself.
  try {
    return action();
  } catch (error) {
    requireSystemError(error, codes);
    return value;
  }
}

/** Runs a call as `attempt` does; what `handle` returns or throws for the failed system call takes the place of the value. */
export function recover<T, U>(
  action: () => T,
  handle: (error: SystemError) => U,
  ...codes: readonly string[]
): T | U {
  try {
    return action();
  } catch (error) {
    return handle(requireSystemError(error, codes));
  }
}

/** The error itself, for `recover`: it takes the place of the value. */
export function itself(error: SystemError): SystemError {
  return error;
}

function requireSystemError(error: unknown, codes: readonly string[]): SystemError {
  if (isSystemError(error, ...codes)) return error;
  throw error;
}

/** Whether a path exists, links followed; false where that cannot be determined. */
export function exists(system: System, path: string): boolean {
  return attempt(() => system.status(path), undefined) !== undefined;
}

/** What making directories takes: `mkdir(2)`, and what is there. */
interface DirectoryMaker extends Pick<System, "status"> {
  make(path: string): void;
}

/**
 * Makes a directory and its missing parents, as Go's `os.MkdirAll`: an error names the directory that could not be
 * made.
 *
 * @throws SystemError
 */
export function makeDirectoriesBy(maker: DirectoryMaker, path: string): void {
  const slash = path.lastIndexOf("/");
  try {
    makeOrFind(maker, path);
  } catch (error) {
    if (!isSystemError(error, "ENOENT", "ENOTDIR") || slash <= 0) throw error;
    makeDirectoriesBy(maker, path.slice(0, slash));
    makeOrFind(maker, path);
  }
}

function makeOrFind({ make, status }: DirectoryMaker, path: string): void {
  try {
    make(path);
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
    const kind = attempt(() => status(path).kind, undefined, "ENOENT", "ELOOP");
    if (kind !== "directory") throw new SystemError("mkdir", path, "ENOTDIR");
  }
}

/** The messages of Go's `syscall.Errno` for errnos on Linux. */
const REASONS: Readonly<Record<string, string>> = {
  EPERM: "operation not permitted",
  ENOENT: "no such file or directory",
  ENOEXEC: "exec format error",
  EIO: "input/output error",
  EBADF: "bad file descriptor",
  EACCES: "permission denied",
  EEXIST: "file exists",
  EXDEV: "invalid cross-device link",
  ENOTDIR: "not a directory",
  EISDIR: "is a directory",
  EINVAL: "invalid argument",
  EMFILE: "too many open files",
  ENFILE: "too many open files in system",
  EFBIG: "file too large",
  ENOSPC: "no space left on device",
  EROFS: "read-only file system",
  EMLINK: "too many links",
  EPIPE: "broken pipe",
  ENAMETOOLONG: "file name too long",
  ELOOP: "too many levels of symbolic links",
  EDQUOT: "disk quota exceeded",
  ENXIO: "no such device or address",
  EINTR: "interrupted system call",
  EAGAIN: "resource temporarily unavailable",
  EBUSY: "device or resource busy",
  ETIMEDOUT: "connection timed out",
  EADDRINUSE: "address already in use",
  EADDRNOTAVAIL: "cannot assign requested address",
  ENOTEMPTY: "directory not empty",
  ESTALE: "stale file handle",
};

/** Whether a text is the reason of a `SystemError`, such as `no space left on device`. */
export function isReason(text: string): boolean {
  return Object.values(REASONS).includes(text);
}
