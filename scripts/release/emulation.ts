/** Runs the programs of other architectures here, with QEMU, as if they were this machine's own. */

import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Architecture, type ElfKind, runsHere } from "../build/architecture.ts";

const DIRECTORY = "/proc/sys/fs/binfmt_misc";

const EXECUTABLE = 2;

/**
 * Registers QEMU with the kernel (binfmt_misc) for some architectures while something runs. Where an architecture has its
 * emulator registered already, that stays.
 *
 * @throws where the process may not do that, or QEMU is not installed
 */
export async function emulating<T>(
  architectures: readonly Architecture[],
  action: () => Promise<T>,
): Promise<T> {
  const added: string[] = [];
  const unregister = (): void => {
    for (const entry of added.splice(0)) writeFileSync(entry, "-1");
  };
  const stop = (): never => process.exit(1);
  process.once("exit", unregister).once("SIGINT", stop).once("SIGTERM", stop);
  try {
    for (const architecture of architectures) {
      if (runsHere(architecture) || isRegistered(architecture)) continue;
      added.push(register(architecture));
    }
    return await action();
  } finally {
    unregister();
    process.off("exit", unregister).off("SIGINT", stop).off("SIGTERM", stop);
  }
}

/** Whether the kernel runs programs of an architecture through an emulator that somebody has registered. */
function isRegistered({ qemu }: Architecture): boolean {
  return existsSync(join(DIRECTORY, `qemu-${qemu}`));
}

/** Returns the file of the entry. */
function register({ name, qemu, elf }: Architecture): string {
  const found = spawnSync("sh", ["-c", `command -v qemu-${qemu}`], { encoding: "utf8" });
  const emulator = found.stdout.trim();
  if (emulator === "") throw new Error(`qemu-${qemu} is missing: install qemu-user.`);
  if (!existsSync(join(DIRECTORY, "register"))) {
    spawnSync("mount", ["-t", "binfmt_misc", "binfmt_misc", DIRECTORY]);
  }
  const { magic, mask } = headOf(elf);
  const entry = `host-local-${qemu}-${process.pid}`;
  // F: the kernel opens the emulator now, so that programs run in other roots, too.
  const line = `:${entry}:M::${escaped(magic)}:${escaped(mask)}:${emulator}:F`;
  try {
    writeFileSync(join(DIRECTORY, "register"), line);
  } catch (error) {
    throw new Error(`The kernel cannot be told to run programs for ${name} with QEMU: ${error}`);
  }
  return join(DIRECTORY, entry);
}

/** The first bytes of an executable, and which of their bits count: not the operating system's, and a PIE as well. */
function headOf({ bits, endian, machine }: ElfKind): { magic: Buffer; mask: Buffer } {
  const magic = Buffer.alloc(20);
  const mask = Buffer.alloc(20, 0xff);
  magic.write("\x7fELF", "latin1");
  magic[4] = bits === 64 ? 2 : 1;
  magic[5] = endian === "little" ? 1 : 2;
  magic[6] = 1;
  mask[7] = 0;
  if (endian === "little") {
    magic.writeUInt16LE(EXECUTABLE, 16);
    magic.writeUInt16LE(machine, 18);
    mask.writeUInt16LE(0xfffe, 16);
  } else {
    magic.writeUInt16BE(EXECUTABLE, 16);
    magic.writeUInt16BE(machine, 18);
    mask.writeUInt16BE(0xfffe, 16);
  }
  return { magic, mask };
}

function escaped(bytes: Buffer): string {
  return [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}
