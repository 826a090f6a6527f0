/** `OperatorSystem` on Node.js. */

import { type StdioOptions, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import tty from "node:tty";
import type { CompletedProcess, OperatorSystem, PluginCall } from "../operator-system.ts";
import { SystemError } from "../system.ts";
import { killGroup } from "./kill-group.ts";
import { namespaceId, networkLinks } from "./netlink.ts";
import { createNodeSystem, type NodeSystem } from "./node-system.ts";
import { serve } from "./serve.ts";
import { readToEnd } from "./standard-streams.ts";
import { errnoOf, systemCall } from "./system-call.ts";
import { decodedUtf8 } from "./text.ts";
import { withFile } from "./with-file.ts";

const { O_CREAT, O_EXCL, O_RDONLY, O_WRONLY } = fs.constants;

const STDIN = 0;

/** The exit code of a program that could not be started, as in a shell. */
const NOT_STARTED = 127;

/** The longest captured standard error, in bytes: what follows is cut. */
const LONGEST_ERRORS = 64 * 1024;

/** How much of it Node.js can take, in bytes: a program that writes more than any log is killed. */
const MOST_ERRORS = 64 * 1024 * 1024;

/** A longer line is cut here, in bytes. */
const LONGEST_LINE = 4096;

/** Sets up this process for the operator's tool; see `createNodeSystem`. */
export function createNodeOperatorSystem(): OperatorSystem & NodeSystem {
  const system = createNodeSystem();
  const commands: Omit<OperatorSystem, keyof NodeSystem> = {
    isTerminal: (stream) => tty.isatty(stream),
    terminalSize: () => (process.stdout.isTTY ? process.stdout : undefined),
    monotonic: () => Number(process.hrtime.bigint() / 1_000_000n),
    readLine,
    readPipe,
    copyFile,
    networkLinks,
    namespaceId,
    hasText: (path, text) => contentOf(path).includes(text),
    run,
    serve,
  };
  return Object.assign(system, commands);
}

/** Opening a FIFO waits for its writer. */
function readPipe(path: string, limit: number, timeout: number): string {
  const pipe = systemCall("open", path, () => fs.openSync(path, "r"));
  try {
    return decodedUtf8(readToEnd(pipe, path, limit, timeout));
  } finally {
    fs.closeSync(pipe);
  }
}

/** Byte by byte, so that what follows the line is left for the next reader. */
function readLine(): string | undefined {
  const bytes: number[] = [];
  const byte = Buffer.alloc(1);
  while (bytes.length < LONGEST_LINE) {
    const count = systemCall("read", "/dev/stdin", () => fs.readSync(STDIN, byte));
    if (count === 0 && bytes.length === 0) return undefined;
    if (count === 0 || byte[0] === 0x0a) break;
    bytes.push(byte[0] ?? 0);
  }
  return decodedUtf8(Buffer.from(bytes));
}

function contentOf(path: string): Buffer {
  return withFile(path, O_RDONLY, (file) => systemCall("read", path, () => fs.readFileSync(file)));
}

function copyFile(from: string, to: string, mode: number): void {
  const content = contentOf(from);
  const write = (file: number): void => {
    try {
      systemCall("write", to, () => fs.writeFileSync(file, content));
      systemCall("fsync", to, () => fs.fsyncSync(file));
    } catch (error) {
      fs.rmSync(to, { force: true });
      throw error;
    }
  };
  withFile(to, O_WRONLY | O_CREAT | O_EXCL, write, mode);
}

function run(
  [program, ...words]: readonly [string, ...string[]],
  limit: number,
  plugin?: PluginCall,
): CompletedProcess {
  if (!isProgram(program)) throw new SystemError("exec", program, "ENOEXEC");
  const { PATH } = process.env;
  const options = {
    argv0: plugin?.name ?? program,
    stdio: ["ignore", "pipe", plugin ? "pipe" : "inherit"] satisfies StdioOptions,
    // The program is killed beyond this, for either stream.
    maxBuffer: plugin ? limit + MOST_ERRORS : limit,
    env: plugin ? { PATH: PATH || undefined, CNI_COMMAND: plugin.command } : process.env,
    timeout: plugin?.timeout,
    killSignal: "SIGKILL" as const,
    // A process group of its own lets it be killed with its children.
    detached: plugin !== undefined,
  };
  const { pid, status, signal, stdout, stderr, error } = spawnSync(program, words, options);
  if (error !== undefined) {
    const code = errnoOf(error);
    if (plugin !== undefined && pid > 0) killGroup(pid);
    if (code === "ENOBUFS") throw new SystemError("read", program, "EFBIG");
    if (plugin !== undefined || (code !== "ENOENT" && code !== "EACCES"))
      throw new SystemError("exec", program, code);
    return { exitCode: NOT_STARTED, stdout: "", stderr: "" };
  }
  if (stdout.length > limit) throw new SystemError("read", program, "EFBIG");
  const exitCode = status ?? 128 + (signal === null ? 0 : os.constants.signals[signal]);
  const errors = stderr === null ? "" : decodedUtf8(stderr.subarray(0, LONGEST_ERRORS));
  return { exitCode, stdout: decodedUtf8(stdout), stderr: errors };
}

/** This program, also after its file was replaced or deleted, as by another installer beside the agent. */
const OWN_PROGRAM = "/proc/self/exe";

/**
 * Whether execve(2) takes a file, which Node.js would give to a shell otherwise; a name to look up in `PATH` is not examined.
 */
function isProgram(path: string): boolean {
  if (!path.includes("/")) return true;
  let start: Buffer;
  try {
    start = startOf(path, HEADER);
  } catch {
    return true;
  }
  if (start.toString("latin1", 0, 2) === "#!") return true;
  const own = machineOf(startOf(OWN_PROGRAM, HEADER));
  const machine = machineOf(start);
  return machine !== undefined && (machine === own || machine === olderMachines.get(own));
}

/** How much of a file has what the kernel chooses a loader by, in bytes. */
const HEADER = 20;

/** The beginning of a file. */
function startOf(path: string, length: number): Buffer {
  const start = Buffer.alloc(length);
  const read = (file: number): number => systemCall("read", path, () => fs.readSync(file, start));
  return start.subarray(0, withFile(path, O_RDONLY, read));
}

/** The number of the machine of an ELF file that begins so; `undefined` if it is none. */
function machineOf(start: Buffer): number | undefined {
  const isWhole = start.length === HEADER && start.toString("latin1", 0, 4) === "\x7fELF";
  return isWhole ? start.readUInt16LE(HEADER - 2) : undefined;
}

/** The machines of 32 bits whose programs run on those of 64 bits, by the numbers of elf(5): x86 and ARM. */
const olderMachines: ReadonlyMap<number | undefined, number> = new Map([
  [62, 3],
  [183, 40],
]);
