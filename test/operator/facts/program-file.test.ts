/** program-file.ts: which files the kernel starts. */

import { test } from "tap";
import { whyNotStarted } from "../../../src/operator/facts/program-file.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { startOperator } from "../memory-node.ts";

interface Header {
  readonly machine: number;
  readonly isBigEndian?: boolean;
  readonly bits?: 32 | 64;
  /** Where the table of sections begins; it has two of 64 bytes. */
  readonly sections?: number;
}

/** An ELF file of 256 bytes, in characters up to U+00FF. */
function elf({ machine, isBigEndian = false, bits = 64, sections = 0 }: Header): string {
  const bytes = Buffer.alloc(256);
  bytes.write("\x7fELF", "latin1");
  bytes[4] = bits === 64 ? 2 : 1;
  bytes[5] = isBigEndian ? 2 : 1;
  const put = (value: number, at: number): unknown =>
    isBigEndian ? bytes.writeUInt16BE(value, at) : bytes.writeUInt16LE(value, at);
  put(machine, 18);
  bytes.writeBigUInt64LE(BigInt(sections), 40);
  put(64, 58);
  put(2, 60);
  return bytes.toString("latin1");
}

const AMD64 = elf({ machine: 62 });
const ARM64 = elf({ machine: 183 });

for (const [what, text, own, expected] of [
  ["a program of this machine", AMD64, AMD64, undefined],
  ["one of another machine", ARM64, AMD64, "it is for arm64, and this node is amd64"],
  ["one of this other machine", ARM64, ARM64, undefined],
  [
    "one of a machine with the other byte order",
    elf({ machine: 22, isBigEndian: true }),
    AMD64,
    "it is for s390x, and this node is amd64",
  ],
  [
    "one of a machine without a known name",
    elf({ machine: 999 }),
    AMD64,
    "it is for machine 999 of elf(5), and this node is amd64",
  ],
  ["one of 32 bits", elf({ machine: 3, bits: 32 }), AMD64, undefined],
  ["one of another machine, where the own is not seen", ARM64, undefined, undefined],
  ["one with all of its sections", elf({ machine: 62, sections: 100 }), AMD64, undefined],
  [
    "one whose sections are cut off",
    elf({ machine: 62, sections: 257 }),
    AMD64,
    "it is cut off after 256 of 385 bytes",
  ],
  ["the beginning of a header", AMD64.slice(0, 40), AMD64, "it is cut off after 40 bytes"],
  ["a script", "#!/bin/sh\n", AMD64, undefined],
  ["a text", "not found\n", AMD64, "it is neither a program nor a script"],
] as const) {
  test(`${what}: ${expected ?? "nothing to say"}`, async (t) => {
    const machine = new MemoryMachine();
    machine.disk.put("/opt/cni/bin/plugin", text, 0o755);
    if (own !== undefined) machine.disk.put("/proc/self/exe", own, 0o755);
    const { system } = startOperator(machine);
    t.equal(whyNotStarted(system, "/opt/cni/bin/plugin"), expected);
  });
}

test("of a file that cannot be read nothing is said", async (t) => {
  const { system } = startOperator(new MemoryMachine());
  t.equal(whyNotStarted(system, "/opt/cni/bin/plugin"), undefined);
});
