/** Reading standard input to its end, and writing standard output to the last byte. */

import fs from "node:fs";
import { SystemError } from "../system.ts";
import { pause } from "./pause.ts";
import { errnoOf } from "./system-call.ts";
import { decodedUtf8 } from "./text.ts";

const STDIN = 0;
const STDOUT = 1;

/** What was read of standard input. */
let input: Buffer = Buffer.alloc(0);

/** See `System`. The timeout does not apply to a socket or terminal. */
export function readStandardInput(limit: number, timeout: number): string {
  if (wasClosed(STDIN)) throw new SystemError("read", "/dev/stdin", "EBADF");
  input = readToEnd(STDIN, "/dev/stdin", limit, timeout);
  return decodedUtf8(input);
}

/** See `System`. */
export function standardInputBytes(): string {
  return input.toString("latin1");
}

/** Reads an open file to its end, see `System.readStandardInput`. */
export function readToEnd(
  descriptor: number,
  path: string,
  limit: number,
  timeout: number,
): Buffer {
  const input = withoutBlocking(descriptor);
  const deadline = Date.now() + timeout;
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const count = retrying("read", path, () => fs.readSync(input, chunk), deadline);
    if (count === 0) return Buffer.concat(chunks);
    length += count;
    if (length > limit) throw new SystemError("read", path, "EFBIG");
    chunks.push(chunk.subarray(0, count));
  }
}

/** See `System`. */
export function writeStandardOutput(text: string): void {
  if (wasClosed(STDOUT)) throw new SystemError("write", "/dev/stdout", "EBADF");
  const bytes = Buffer.from(text, "utf8");
  for (let written = 0; written < bytes.length; ) {
    written += retrying("write", "/dev/stdout", () => fs.writeSync(STDOUT, bytes, written));
  }
}

/** Retries on EAGAIN, since the caller's pipe may be non-blocking. */
function retrying(
  operation: string,
  path: string,
  call: () => number,
  deadline = Number.POSITIVE_INFINITY,
): number {
  for (;;) {
    try {
      return call();
    } catch (error) {
      const code = errnoOf(error);
      if (code !== "EAGAIN") throw new SystemError(operation, path, code);
      if (Date.now() > deadline) throw new SystemError(operation, path, "ETIMEDOUT");
      pause(1);
    }
  }
}

/**
 * Opens a pipe again in non-blocking mode, which does not affect others that share it. Any other descriptor is returned
 * as it is: a regular file would be read from the beginning, and has an end anyway.
 */
function withoutBlocking(descriptor: number): number {
  try {
    if (!fs.fstatSync(descriptor).isFIFO()) return descriptor;
    const flags = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;
    return fs.openSync(`/proc/self/fd/${descriptor}`, flags);
  } catch {
    return descriptor;
  }
}

/**
 * Node.js opens `/dev/null` for reading and writing in place of a standard stream that was closed when it started; a
 * caller that redirects to it opens it for reading or writing.
 */
function wasClosed(descriptor: number): boolean {
  try {
    const { rdev } = fs.fstatSync(descriptor);
    if (rdev !== DEV_NULL) return false;
    const flags = /^flags:\s*0*([0-7]+)/m.exec(
      fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"),
    );
    return (
      flags !== null && (Number.parseInt(flags[1] ?? "0", 8) & ACCESS_MODE) === fs.constants.O_RDWR
    );
  } catch {
    return false;
  }
}

/** Device number 1:3. */
const DEV_NULL = 0x103;

const ACCESS_MODE = 3;
