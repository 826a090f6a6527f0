/** Damage that may be in place of a file of ours. */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { Case } from "./scenario.ts";

/** Something at a path. */
export interface Damage extends Case {
  /** @param foreign a directory of another owner, to which links lead */
  readonly put: (path: string, foreign: string) => void;
  /**
   * Its effect in place of a reservation. `free`: nothing uses it, so an ADD that finds nothing else takes the address.
   * `stale`: the reservation of a container that does not exist, so GC frees it. `kept`: may be in use, or an administrator's.
   */
  readonly becomes: "free" | "stale" | "kept";
  /** Whether ADD also works with this in place of a cursor. */
  readonly isOverwritten?: true;
  /** Whether a user to whom permissions apply can see it. */
  readonly isClosed?: true;
}

/** The files of the foreign directory: the first has the name of a killed call's file, and its age. */
export const FOREIGN = { old: "1.0", ghost: "ghost", empty: "empty" } as const;

/** The reservation of a container that does not exist. */
export const GHOST = "ghost\r\neth0";

/** An age in seconds: an empty file may be reused once it is ten seconds old; GC keeps a file that is younger than two. */
export const OLD = 11;

/** An age in seconds, in the future, so that the file stays young however long an attempt takes. */
const YOUNG = -60;

const DAY = 86_400;

/** Dates a file, or a link itself, this many seconds back. */
export function age(path: string, seconds: number): void {
  const then = Date.now() / 1000 - seconds;
  lutimesSync(path, then, then);
}

/** Puts a file that was last changed `seconds` ago. */
export function putDated(path: string, content: string | Buffer, seconds: number): void {
  writeFileSync(path, content, { mode: 0o600 });
  age(path, seconds);
}

function file(content: string | Buffer, seconds = OLD): Damage["put"] {
  return (path) => putDated(path, content, seconds);
}

function link(target: string): Damage["put"] {
  return (path, foreign) => {
    symlinkSync(resolve(foreign, target), path);
    age(path, OLD);
  };
}

/** Puts a sparse file, which takes no space. */
function putHuge(path: string): void {
  writeFileSync(path, "", { mode: 0o600 });
  truncateSync(path, 2 ** 40);
}

function putClosed(path: string): void {
  writeFileSync(path, GHOST);
  chmodSync(path, 0);
}

function putDirectoryWithReservation(path: string): void {
  mkdirSync(path);
  putDated(join(path, "198.51.100.9"), GHOST, OLD);
}

function putSocket(path: string): void {
  // The killed process leaves the socket behind. The socket's name is relative, since it may not be long.
  const program = `require("net").createServer().listen(${JSON.stringify(basename(path))}, () => process.kill(process.pid, "SIGKILL"))`;
  try {
    execFileSync(process.execPath, ["--eval", program], { cwd: dirname(path), stdio: "ignore" });
  } catch {
    // The process was killed.
  }
}

export function putFifo(path: string): void {
  execFileSync("mkfifo", [path]);
}

/** Puts a device like /dev/zero, which can be read without end. */
function putDevice(path: string): void {
  execFileSync("mknod", [path, "c", "1", "5"], { stdio: "ignore" });
}

/** Whether such a device can be made and opened, which takes CAP_MKNOD, and a file system that is not mounted with `nodev`. */
function canPutDevice(): boolean {
  const directory = mkdtempSync(join(tmpdir(), "host-local-device-"));
  const path = join(directory, "device");
  try {
    putDevice(path);
    closeSync(openSync(path, "r"));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** All bytes from 0 to 255. */
const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

const isOverwritten = true;

/** Damage that is special only in place of a reservation. */
export const halfReservations: readonly Damage[] = [
  { what: "a blank file that may be about to be written", put: file("", YOUNG), becomes: "kept" },
  { what: "an empty file dated a day ahead", put: file("", -DAY), becomes: "free" },
  { what: "white space", put: file(" \r\n\t\n"), becomes: "free" },
  { what: "a file cut off in the container id", put: file("gho"), becomes: "stale" },
  { what: "a file cut off before the interface", put: file("ghost\r\n"), becomes: "stale" },
  { what: "a file cut off in the interface", put: file("ghost\r\net"), becomes: "stale" },
  { what: "a file with a line too many", put: file(`${GHOST}\r\nx`), becomes: "kept" },
  { what: "a file that may not be read", put: putClosed, becomes: "kept", isClosed: true },
];

/** Every other kind of damage. */
export const damages: readonly Damage[] = [
  { what: "an empty file", put: file(""), becomes: "free", isOverwritten },
  { what: "NULs", put: file("\0".repeat(4096)), becomes: "free", isOverwritten },
  { what: "a note in words", put: file("for the printer\n"), becomes: "kept", isOverwritten },
  { what: "every byte that there is", put: file(allBytes), becomes: "kept", isOverwritten },
  { what: "a MiB of letters", put: file("x".repeat(2 ** 20)), becomes: "kept", isOverwritten },
  { what: "a sparse file of a TiB", put: putHuge, becomes: "kept", isOverwritten },
  { what: "an empty directory", put: (path) => mkdirSync(path), becomes: "kept" },
  { what: "a directory with a reservation", put: putDirectoryWithReservation, becomes: "kept" },
  { what: "a link to nowhere", put: link("nowhere/at/all"), becomes: "kept", isOverwritten },
  { what: "a link to itself", put: (path) => symlinkSync(basename(path), path), becomes: "kept" },
  { what: "a link to a directory", put: link("."), becomes: "kept", isOverwritten },
  { what: "a link to a container id", put: link(FOREIGN.old), becomes: "stale", isOverwritten },
  { what: "a link to an empty file", put: link(FOREIGN.empty), becomes: "kept", isOverwritten },
  { what: "a link to a reservation", put: link(FOREIGN.ghost), becomes: "stale", isOverwritten },
  { what: "a link to what has no end", put: link("/dev/zero"), becomes: "kept", isOverwritten },
  { what: "a FIFO", put: putFifo, becomes: "kept" },
  { what: "a socket", put: putSocket, becomes: "kept" },
  ...(canPutDevice() ? [{ what: "a device", put: putDevice, becomes: "kept" } as const] : []),
];
