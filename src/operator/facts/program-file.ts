/** Whether the kernel can start a file, by what is in it: no program is started. */

import type { OperatorSystem } from "../../system/operator-system.ts";
import { attempt } from "../../system/system.ts";

/** The names of machines as release archives have them, by the numbers of elf(5). */
const MACHINES: ReadonlyMap<number, string> = new Map([
  [21, "ppc64"],
  [22, "s390x"],
  [62, "amd64"],
  [183, "arm64"],
  [243, "riscv64"],
  [258, "loong64"],
]);

/** This program. */
const SELF = "/proc/self/exe";

/** The length of the header of an ELF file of 64 bits, in bytes. */
const HEADER = 64;

/** What the header of an ELF file of 64 bits says, see elf(5). */
interface Elf {
  readonly machine: number;
  /** Where the table of its sections ends, the last thing in a file; 0 where there is none. */
  readonly end: number;
}

/**
 * Why no runtime can start a file that it may execute: it is neither a script nor a program, of another machine than this program, or
 * cut off. A program of 32 bits may run on a machine of 64.
 *
 * @returns a clause; `undefined` where it can be started, or that cannot be told
 */
export function whyNotStarted(system: OperatorSystem, path: string): string | undefined {
  const start = attempt(() => system.firstBytes(path, HEADER), undefined);
  if (start === undefined || start.startsWith("#!")) return undefined;
  if (!start.startsWith("\x7fELF")) return "it is neither a program nor a script";
  if (start.length < HEADER) return `it is cut off after ${start.length} bytes`;
  const elf = elfOf(start);
  const own = attempt(() => elfOf(system.firstBytes(SELF, HEADER)), undefined);
  if (elf === undefined || own === undefined) return undefined;
  if (elf.machine !== own.machine) {
    return `it is for ${nameOf(elf)}, and this node is ${nameOf(own)}`;
  }
  const size = attempt(() => system.status(path).size, elf.end);
  return size < elf.end ? `it is cut off after ${size} of ${elf.end} bytes` : undefined;
}

function nameOf({ machine }: Elf): string {
  return MACHINES.get(machine) ?? `machine ${machine} of elf(5)`;
}

/** `undefined` for one of 32 bits. */
function elfOf(start: string): Elf | undefined {
  if (start.charCodeAt(4) !== 2) return undefined;
  const isBigEndian = start.charCodeAt(5) === 2;
  const numberAt = (at: number, length: number): number => {
    const bytes = [...start.slice(at, at + length)].map((one) => one.charCodeAt(0));
    const digits = isBigEndian ? bytes : bytes.toReversed();
    return digits.reduce((number, byte) => number * 256 + byte, 0);
  };
  const sections = numberAt(40, 8);
  const end = sections === 0 ? 0 : sections + numberAt(58, 2) * numberAt(60, 2);
  return { machine: numberAt(18, 2), end };
}
