/** Faults at one chosen system call of an executable, by `strace`. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Call } from "../../harness/executable.ts";
import { callWithin, type Ending } from "./running-call.ts";

/** A system call of a run that touches the data directory. */
export interface SystemCall {
  readonly name: string;
  /** Its place among the calls of this name in its process, from 1. */
  readonly occurrence: number;
  /** The path that it touches, below the data directory, without process numbers and random parts. */
  readonly target: string;
}

/** A run under a fault. */
export interface Injected {
  readonly ending: Ending;
  /** Whether the fault hit the intended call. */
  readonly isHit: boolean;
}

/** The time limit of a call, in milliseconds, enough even if each system call fails and is repeated. */
const LIMIT = 180_000;

const traced = ["--trace=%file,%desc", "--follow-forks", "--decode-fds=path", "--quiet=all"];

/** Why no fault can be injected here; `undefined` if it can. */
export function injectionObstacle(): string | undefined {
  const { status } = spawnSync("strace", [
    "--output=/dev/null",
    "--inject=close:error=EIO:when=99",
    "true",
  ]);
  return status === 0 ? undefined : "strace is missing, or may not trace here.";
}

/**
 * Runs a call and lists its system calls on the data directory.
 *
 * @param program the executable
 * @param call what to give it
 * @param directory the data directory
 */
export async function systemCallsOf(
  program: string,
  call: Call,
  directory: string,
): Promise<readonly SystemCall[]> {
  const { log } = await trace(program, call, []);
  return parse(log, directory).map(({ name, occurrence, target }) => ({
    name,
    occurrence,
    target,
  }));
}

/**
 * Runs a call with a fault at one of its system calls.
 *
 * @param fault the fault for `strace --inject`, such as `signal=KILL` or `error=EIO`
 * @param times how many successive calls of that name it hits, counted from the given one
 */
export async function runInjected(
  program: string,
  call: Call,
  directory: string,
  at: SystemCall,
  fault: string,
  times: number,
): Promise<Injected> {
  const when = times === 1 ? `${at.occurrence}` : `${at.occurrence}..${at.occurrence + times - 1}`;
  const { ending, log } = await trace(program, call, [`--inject=${at.name}:${fault}:when=${when}`]);
  const struck = parse(log, directory).find(
    ({ name, occurrence }) => name === at.name && occurrence === at.occurrence,
  );
  return { ending, isHit: struck?.target === at.target && struck.wasStruck };
}

async function trace(
  program: string,
  call: Call,
  injection: readonly string[],
): Promise<{ ending: Ending; log: string }> {
  const scratch = mkdtempSync(join(tmpdir(), "host-local-strace-"));
  const file = join(scratch, "log");
  try {
    const command = [program, ...(call.arguments ?? [])];
    const args = [...traced, `--output=${file}`, ...injection, "--", ...command];
    const ending = await callWithin("strace", { ...call, arguments: args }, { limit: LIMIT });
    return { ending, log: readFileSync(file, "latin1") };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

interface Traced extends SystemCall {
  wasStruck: boolean;
}

/** The random part in the name of a temporary file. */
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** The end of a line for a call that the fault hit: the fault in place of a result, or no result. */
const STRUCK = /\(INJECTED\)$| = \?$|<unfinished \.\.\.>$/;

/**
 * The calls of a log that touch the directory. Each line is `<process> <call>(<arguments>) = <result>`; if another thread comes
 * between, the result is in a later line.
 */
function parse(log: string, directory: string): readonly Traced[] {
  const counts = new Map<string, number>();
  const latest = new Map<string, Traced>();
  const found: Traced[] = [];
  for (const line of log.split("\n")) {
    const [, process = "", start = ""] = /^([0-9]+) +(.*)$/.exec(line) ?? [];
    const begun = latest.get(process);
    if (start.startsWith("<... ") && begun !== undefined) begun.wasStruck = STRUCK.test(start);
    const [, name, rest = ""] = /^([a-z0-9_]+)\((.*)$/.exec(start) ?? [];
    if (name === undefined) continue;
    latest.delete(process);
    const key = `${process} ${name}`;
    const occurrence = (counts.get(key) ?? 0) + 1;
    counts.set(key, occurrence);
    const at = rest.lastIndexOf(directory);
    if (at < 0) continue;
    const path = /^[^">]*/.exec(rest.slice(at + directory.length))?.[0] ?? "";
    // In a container the process number is short, and may occur in the random part.
    const own = new RegExp(`(?<![0-9])${process}-`);
    const target = path.replace(UUID, "<random>").replace(own, "<process>-");
    const call = { name, occurrence, target, wasStruck: STRUCK.test(rest) };
    latest.set(process, call);
    found.push(call);
  }
  return found;
}
