/** The head of an executable, see elf(5). */

import { closeSync, openSync, readSync } from "node:fs";
import type { ElfKind } from "../build/architecture.ts";

/**
 * Reads for which machine an executable is.
 *
 * @throws where it is none of Linux
 */
export function elfKindOf(path: string): ElfKind {
  const head = Buffer.alloc(20);
  const file = openSync(path, "r");
  readSync(file, head);
  closeSync(file);
  if (head.toString("latin1", 0, 4) !== "\x7fELF") throw new Error("this is no executable (ELF)");
  const isLittle = head[5] === 1;
  return {
    bits: head[4] === 2 ? 64 : 32,
    endian: isLittle ? "little" : "big",
    machine: isLittle ? head.readUInt16LE(18) : head.readUInt16BE(18),
  };
}
