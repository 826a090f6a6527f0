/** Files in place of a reservation that are not reservations. */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lutimesSync,
  mkdirSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Case } from "./scenario.ts";

/** Something at the path of a reservation. */
export interface CorruptFile extends Case {
  readonly put: (path: string) => void;
  /**
   * `free`: nothing uses it, so an ADD that finds nothing else takes the address. `stale`: the reservation of a
   * container that does not exist, so GC frees it. `kept`: may be in use, or an administrator's, so it stays.
   */
  readonly becomes: "free" | "stale" | "kept";
  /** Whether a user to whom permissions apply can see it. */
  readonly isClosed?: true;
}

/** An empty file may be reused once it is ten seconds old. */
const OLD = 11;

/** Seconds in the future, so that the file stays young however long an attempt takes. */
const YOUNG = -60;

const DAY = 86_400;

const PRIVATE = { mode: 0o600 };

/** Every byte that there is. */
const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

/** Puts a file that was last changed `age` seconds ago. */
export function putDated(path: string, content: string | Buffer, age: number): void {
  writeFileSync(path, content, PRIVATE);
  const then = Date.now() / 1000 - age;
  utimesSync(path, then, then);
}

function file(content: string | Buffer, age: number): (path: string) => void {
  return (path) => putDated(path, content, age);
}

/** A link to a file outside the network's directory. */
function linkTo(content: string): (path: string) => void {
  return (path) => {
    const outside = join(outsideOf(path), `behind-${basename(path)}`);
    mkdirSync(dirname(outside), { recursive: true });
    writeFileSync(outside, content, PRIVATE);
    symlinkSync(outside, path);
    // GC keeps what is young.
    const then = Date.now() / 1000 - OLD;
    lutimesSync(path, then, then);
  };
}

/** Where the files lie to which links at `path` lead: these files are foreign, whatever happens to the link. */
export function outsideOf(path: string): string {
  return join(dirname(path), "../outside");
}

function putClosed(path: string): void {
  writeFileSync(path, "ghost\r\neth0");
  chmodSync(path, 0);
}

function putSocket(path: string): void {
  // Killed, it leaves the socket; its name is relative, since that of a socket may not be long.
  const program = `require("net").createServer().listen(${JSON.stringify(basename(path))}, () => process.kill(process.pid, "SIGKILL"))`;
  try {
    execFileSync(process.execPath, ["--eval", program], { cwd: dirname(path), stdio: "ignore" });
  } catch {
    // It was killed.
  }
}

/** Sparse, so that it takes no space. */
export function putHuge(path: string): void {
  writeFileSync(path, "", PRIVATE);
  truncateSync(path, 2 ** 40);
}

export function putFifo(path: string): void {
  execFileSync("mkfifo", [path]);
}

export function putDanglingLink(path: string): void {
  symlinkSync(join(outsideOf(path), "nowhere/at/all"), path);
}

export function putLoop(path: string): void {
  symlinkSync(basename(path), path);
}

export function putDirectoryWithReservation(path: string): void {
  mkdirSync(path);
  writeFileSync(join(path, "10.0.0.9"), "ghost\r\neth0", PRIVATE);
}

/** Every kind. */
export const corruptFiles: readonly CorruptFile[] = [
  { what: "an empty file", put: file("", OLD), becomes: "free" },
  { what: "an empty file that may be about to be written", put: file("", YOUNG), becomes: "kept" },
  { what: "an empty file dated a day ahead", put: file("", -DAY), becomes: "kept" },
  { what: "white space", put: file(" \r\n\t\n", OLD), becomes: "free" },
  { what: "NULs", put: file("\0".repeat(4096), DAY), becomes: "free" },
  { what: "a file cut off in the container id", put: file("gho", OLD), becomes: "stale" },
  { what: "a file cut off before the interface", put: file("ghost\r\n", OLD), becomes: "stale" },
  { what: "a file cut off in the interface", put: file("ghost\r\net", OLD), becomes: "stale" },
  { what: "a file with a line too many", put: file("ghost\r\neth0\r\nx", OLD), becomes: "kept" },
  { what: "a note in words", put: file("kept for the printer\n", DAY), becomes: "kept" },
  { what: "every byte that there is", put: file(allBytes, OLD), becomes: "kept" },
  { what: "a MiB of letters", put: file("x".repeat(2 ** 20), OLD), becomes: "kept" },
  { what: "a sparse file of a TiB", put: putHuge, becomes: "kept" },
  { what: "a file that may not be read", put: putClosed, becomes: "kept", isClosed: true },
  { what: "an empty directory", put: (path) => mkdirSync(path), becomes: "kept" },
  { what: "a directory with a reservation", put: putDirectoryWithReservation, becomes: "kept" },
  { what: "a link to nowhere", put: putDanglingLink, becomes: "kept" },
  { what: "a link to itself", put: putLoop, becomes: "kept" },
  { what: "a link to an empty file", put: linkTo(""), becomes: "kept" },
  { what: "a link to a reservation", put: linkTo("ghost\r\neth0"), becomes: "stale" },
  { what: "a FIFO", put: putFifo, becomes: "kept" },
  { what: "a socket", put: putSocket, becomes: "kept" },
];
