/** The state of a machine as immutable values: its disk, its network namespaces, who holds which lock, its boot. */

import { isSystemError, type SystemError } from "../../src/system/system.ts";
import { MemoryDisk } from "../harness/memory-disk.ts";
import { MemoryKernel } from "../harness/memory-kernel.ts";

/** The answer of a system call. */
export type Reply =
  | { readonly value: unknown; readonly error?: never }
  | { readonly error: Error; readonly value?: never };

/** A system call that a process is about to make. */
export interface Operation {
  /** The system call's name in an error message. */
  readonly word: string;
  /** The path, and everything else that distinguishes the call from others: calls with equal texts do the same. */
  readonly path: string;
  readonly text: string;
  /**
   * Whom the call concerns. `own`: no other process changes what it reads, or sees it; `kernel`: only the runtime changes what
   * it reads.
   */
  readonly reach: "own" | "kernel" | "reads" | "changes";
  readonly run: (machine: Machine) => unknown;
  /** The purpose for which it opens a file. */
  readonly opens?: string | undefined;
}

/** The machine on which an operation works; it is a copy if the operation changes anything. */
export interface Machine {
  readonly disk: MemoryDisk;
  readonly kernel: MemoryKernel;
  /** The processes that hold locks, by the lock file's inode or the lock directory. */
  readonly locks: Map<string, number>;
  readonly boot: number;
}

/** Makes a system call on a machine, which may be changed by it. */
export function replyTo({ run }: Operation, machine: Machine): Reply {
  try {
    return { value: run(machine) };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { error };
  }
}

/** Returned by an operation that has to wait. */
export const WAIT = Symbol("wait");

/** The state of a machine. Equal ones are the same object, within one `Worlds`. */
export interface World extends Machine {
  readonly id: number;
  /** The time, in milliseconds since the epoch. */
  readonly time: number;
  readonly made: Map<string, Made>;
}

/** The result of an operation on a world. */
export interface Made {
  readonly world: World;
  readonly reply: Reply;
  readonly waits: boolean;
}

/**
 * The time that a process reads from its clock, in milliseconds since the epoch. Files are dated by the kernel's last tick, or
 * on some file systems by the last full second, as far behind this time as can be.
 */
export function clockIn({ disk, time }: Pick<World, "disk" | "time">): number {
  return time + (disk.resolution > 1n ? 999 : 3);
}

const START = Date.UTC(2026, 0, 31, 12);

/** All worlds of one search. The result of an operation on a world is computed once. */
export class Worlds {
  readonly #known = new Map<string, World>();

  /** A machine with an empty disk. */
  first(): World {
    const disk = new MemoryDisk(() => BigInt(START) * 1_000_000n);
    disk.mount("/run");
    return this.#world({ disk, kernel: new MemoryKernel(), locks: new Map(), boot: 1 }, START);
  }

  /** Makes a system call. */
  make(world: World, operation: Operation): Made {
    const known = world.made.get(operation.text);
    if (known !== undefined) return known;
    const machine = operation.reach === "changes" ? copyOf(world) : world;
    const reply = replyTo(operation, machine);
    const after = machine === world ? world : this.#world(machine, world.time);
    const made = { world: after, reply, waits: reply.value === WAIT };
    world.made.set(operation.text, made);
    return made;
  }

  /** Changes a world from outside. */
  change(world: World, change: (machine: Machine) => void): World {
    const machine = copyOf(world);
    change(machine);
    return this.#world(machine, world.time);
  }

  /** Ends a process: its locks are free, and its open files are closed. */
  release(world: World, process: number): World {
    return this.change(world, ({ disk, locks }) => {
      for (const [lock, holder] of locks) if (holder === process) locks.delete(lock);
      disk.close(process);
    });
  }

  /** The world some time later; with `boots`, after a start of the machine. */
  later(world: World, milliseconds: number, boots = 0): World {
    const time = world.time + milliseconds;
    const disk = world.disk.copy(() => BigInt(time) * 1_000_000n);
    const locks = boots > 0 ? new Map<string, number>() : world.locks;
    const { hasHandles } = world.kernel;
    const kernel = boots > 0 ? Object.assign(new MemoryKernel(), { hasHandles }) : world.kernel;
    if (boots > 0) disk.close();
    return this.#world({ disk, kernel, locks, boot: world.boot + boots }, time);
  }

  #world(machine: Machine, time: number): World {
    const { disk, kernel, locks, boot } = machine;
    const held = JSON.stringify([...locks].sort());
    const text = `${boot} ${time} ${held}\n${kernel.text}\n${disk.text}`;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const world = { disk, kernel, locks, boot, time, id: this.#known.size, made: new Map() };
    this.#known.set(text, world);
    return world;
  }
}

/** A copy of a machine at a time, which may be changed. */
export function copyOf({ disk, kernel, locks, boot, time }: World, now = time): Machine {
  return {
    disk: disk.copy(() => BigInt(now) * 1_000_000n),
    kernel: new MemoryKernel(kernel),
    locks: new Map(locks),
    boot,
  };
}

const texts = new WeakMap<Reply, string>();

/** A reply as text: equal texts are equal replies. */
export function textOfReply(reply: Reply): string {
  const known = texts.get(reply);
  if (known !== undefined) return known;
  const { value, error } = reply;
  const text =
    error !== undefined
      ? `! ${error.message} ${(error as SystemError).code}`
      : (JSON.stringify(value, (_, member: unknown) =>
          typeof member === "bigint" ? `${member}n` : member,
        ) ?? "");
  texts.set(reply, text);
  return text;
}
