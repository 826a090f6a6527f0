/** Runs the programs of another architecture here, with QEMU, as if they were this machine's own. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Architecture, runsHere } from "../build/architecture.ts";
import { command, MissingProgram } from "../build/command.ts";

const DIRECTORY = "/proc/sys/fs/binfmt_misc";

/**
 * Registers QEMU with the kernel (binfmt_misc) for an architecture while something runs. Where it is registered already,
 * that stays.
 *
 * @param program one of the architecture, static
 * @throws where the process may not do that, or QEMU is not installed
 */
export async function emulating(
  architecture: Architecture,
  program: string,
  action: () => Promise<void>,
): Promise<void> {
  const isRegistered = existsSync(join(DIRECTORY, `qemu-${architecture.qemu}`));
  if (runsHere(architecture) || isRegistered) return action();
  const entry = register(architecture, program);
  const unregister = (): void => writeFileSync(entry, "-1");
  process.once("exit", unregister);
  try {
    await action();
  } finally {
    process.off("exit", unregister);
    unregister();
  }
}

/** Returns the file of the entry. */
function register({ name, qemu }: Architecture, program: string): string {
  const emulator = pathOf(`qemu-${qemu}`);
  if (!existsSync(join(DIRECTORY, "register"))) {
    command(["mount", "-t", "binfmt_misc", "binfmt_misc", DIRECTORY]);
  }
  const magic = readFileSync(program).subarray(0, 20);
  const mask = Buffer.alloc(magic.length, 0xff);
  // Of the head, see elf(5), these do not count: the operating system, and whether it is a PIE.
  mask[7] = 0;
  const isLittle = magic[5] === 1;
  mask[isLittle ? 16 : 17] = 0xfe;
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

function pathOf(program: string): string {
  try {
    return command(["sh", "-c", `command -v ${program}`]).trim();
  } catch {
    throw MissingProgram.of(program, new Error("it is not in PATH"));
  }
}

function escaped(bytes: Buffer): string {
  return [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}
