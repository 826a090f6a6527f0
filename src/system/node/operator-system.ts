/** The machine of the operator commands through Node.js. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import tty from "node:tty";
import type { Finished, OperatorSystem, Permissions } from "../operator-system.ts";
import { SystemError } from "../system.ts";
import { createNodeSystem, type NodeSystem } from "./node-system.ts";
import { errnoOf, systemCall } from "./system-call.ts";

const STDIN = 0;

/** No line that somebody types is longer. */
const LONGEST_LINE = 4096;

export function createNodeOperatorSystem(): OperatorSystem & NodeSystem {
  return {
    ...createNodeSystem(),
    isTerminal: (stream) => tty.isatty(stream),
    readLine,
    permissions,
    copyFile,
    run,
  };
}

/** Byte by byte, so that nothing behind the line is taken away from whoever reads next. */
function readLine(): string | undefined {
  const bytes: number[] = [];
  const byte = Buffer.alloc(1);
  while (bytes.length < LONGEST_LINE) {
    const count = systemCall("read", "/dev/stdin", () => fs.readSync(STDIN, byte));
    if (count === 0 && bytes.length === 0) return undefined;
    if (count === 0 || byte[0] === 0x0a) break;
    bytes.push(byte[0] ?? 0);
  }
  return Buffer.from(bytes).toString("utf8");
}

function permissions(path: string): Permissions {
  const { mode, uid } = systemCall("lstat", path, () => fs.lstatSync(path));
  return { mode: mode & 0o7777, user: uid };
}

function copyFile(from: string, to: string, mode: number): void {
  systemCall("open", from, () => fs.accessSync(from, fs.constants.R_OK));
  systemCall("open", to, () => fs.closeSync(fs.openSync(to, "wx", mode)));
  try {
    systemCall("write", to, () => fs.copyFileSync(from, to));
    systemCall("chmod", to, () => fs.chmodSync(to, mode));
  } catch (error) {
    fs.rmSync(to, { force: true });
    throw error;
  }
}

function run([program, ...words]: readonly [string, ...string[]], limit: number): Finished {
  const { status, signal, stdout, error } = spawnSync(program, words, {
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: limit,
  });
  if (error !== undefined) {
    const code = errnoOf(error);
    if (code === "ENOBUFS") throw new SystemError("read", program, "EFBIG");
    if (code !== "ENOENT" && code !== "EACCES") throw new SystemError("exec", program, code);
    return { exitCode: 127, stdout: "" };
  }
  const exitCode = status ?? 128 + (signal === null ? 0 : os.constants.signals[signal]);
  return { exitCode, stdout: stdout.toString("utf8") };
}
