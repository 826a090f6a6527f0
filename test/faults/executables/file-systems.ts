/** File systems that are made in a file, with the tools of the machine. */

import { spawnSync } from "node:child_process";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { lacking } from "../../harness/needs.ts";

/** A kind of file system. */
export interface FileSystem {
  readonly name: string;
  /** The program that makes one, with its options. */
  readonly make: readonly string[];
  /** The smallest possible size, in MiB. */
  readonly size: number;
  /** The program that repairs one after a power loss, as a machine does at its start; most repair themselves. */
  readonly mend?: readonly string[];
}

const mke2fs = (type: string, ...options: readonly string[]): FileSystem["make"] => [
  ...["mke2fs", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", "-t", type],
  ...options,
];

const mend = ["e2fsck", "-fy"];

/** The kinds on which the executables are tested. */
export const fileSystems = {
  ext4: { name: "ext4", make: mke2fs("ext4"), size: 8, mend },
  ext4WithoutJournal: {
    name: "ext4 without a journal",
    make: mke2fs("ext4", "-O", "^has_journal"),
    size: 8,
    mend,
  },
  ext2: { name: "ext2", make: mke2fs("ext2"), size: 8, mend },
  /** Inodes of 128 bytes have room for whole seconds only. */
  ext4OfSeconds: {
    name: "ext4 with inodes of 128 bytes",
    make: mke2fs("ext4", "-I", "128"),
    size: 8,
  },
  xfs: { name: "XFS", make: ["mkfs.xfs", "-q", "-f"], size: 300 },
  btrfs: { name: "Btrfs", make: ["mkfs.btrfs", "-q", "-f"], size: 128 },
} as const satisfies Readonly<Record<string, FileSystem>>;

/** The environment of a root shell: the tools for file systems are in directories that a user's PATH lacks. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

/** Why a file system of this kind cannot be mounted here; `undefined` where it can. */
export function fileSystemObstacle({ name, make: [program = ""] }: FileSystem): string | undefined {
  const obstacle = lacking("mounts");
  if (obstacle !== false) return obstacle;
  if (spawnSync(program, ["-V"], { env }).error !== undefined) {
    return `${program} is not installed.`;
  }
  const type = name.split(" ")[0]?.toLowerCase() ?? "";
  spawnSync("modprobe", ["--quiet", "--all", type, "loop"], { env });
  const isKnown = readFileSync("/proc/filesystems", "utf8").includes(`\t${type}\n`);
  if (!isKnown) return `The kernel of this machine has no ${name}.`;
  const loop = spawnSync("losetup", ["--find"], { env, encoding: "utf8" });
  return loop.status === 0 ? undefined : `There are no loop devices here: ${loop.stderr?.trim()}`;
}

/** Makes a file system in a new file. */
export function makeImage(path: string, { make, size }: FileSystem): void {
  writeFileSync(path, "");
  truncateSync(path, size * 2 ** 20);
  must([...make, path]);
}

/** Repairs a file system after a power loss, if its kind needs that. */
export function mendImage(path: string, { mend = [] }: FileSystem): void {
  // Exit codes up to 2 say that everything is repaired.
  if (mend.length > 0) must([...mend, path], 2);
}

function must([program = "", ...rest]: readonly string[], highest = 0): void {
  const { status, stderr, error } = spawnSync(program, rest, { env, encoding: "utf8" });
  if (status === null || status > highest)
    throw new Error(`${program}: ${error?.message ?? stderr}`);
}
