/**
 * The state of a disk at a loss of power, from the log of its writes. QEMU's blklogwrites writes the log in the format of
 * Linux's dm-log-writes (Documentation/admin-guide/device-mapper/log-writes.rst).
 */

import { closeSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { command } from "../../scripts/build/command.ts";
import type { Random } from "../harness/random.ts";

/** The unit of the log, in bytes: its head, the head of each entry, and the data of a write fill whole sectors. */
const SECTOR = 512;

const MAGIC = 0x6a736677736872n;

/** The flags of an entry that is not a plain write. */
const FLUSH = 1n;
const FORCED = 2n;
const DISCARD = 4n;

/** A write of a log, or the flush of a disk's cache. */
export interface Entry {
  readonly isFlush: boolean;
  /** Whether it is on the disk, and not only in its cache, as soon as it is answered. */
  readonly isForced: boolean;
  /** Its positions on the disk and in the log, and its length, in bytes. */
  readonly target: number;
  readonly source: number;
  readonly length: number;
}

/** The entries of a log, in their order, up to where the emulator was killed. */
export function entriesOf(log: string): readonly Entry[] {
  const descriptor = openSync(log, "r");
  try {
    const head = Buffer.alloc(SECTOR);
    readSync(descriptor, head, 0, SECTOR, 0);
    if (head.readBigUInt64LE(0) !== MAGIC) throw new Error(`${log} is no log of writes`);
    const end = statSync(log).size;
    const entries: Entry[] = [];
    let at = SECTOR;
    while (at + SECTOR <= end) {
      readSync(descriptor, head, 0, SECTOR, at);
      const flags = head.readBigUInt64LE(16);
      const length = Number(head.readBigUInt64LE(8)) * SECTOR;
      if (length === 0 && flags === 0n) break;
      const isFlush = (flags & FLUSH) !== 0n;
      const isForced = (flags & FORCED) !== 0n;
      const target = Number(head.readBigUInt64LE(0)) * SECTOR;
      const source = at + SECTOR;
      // Discarded data is no loss, since the file system does not need it any more.
      const written = (flags & DISCARD) !== 0n ? 0 : length;
      if (source + written > end) break;
      entries.push({ isFlush, isForced, target, source, length: written });
      at = source + written;
    }
    return entries;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The entries of a log that a disk has after a loss of power: all up to its last flush, and any part of the later ones.
 *
 * @param entries the entries up to the loss
 */
export function survivors(entries: readonly Entry[], random: Random): readonly Entry[] {
  const flushed = entries.findLastIndex(({ isFlush }) => isFlush);
  return entries.filter((entry, at) => at <= flushed || entry.isForced || random.chance(50));
}

/** Copies the image of a disk, without the parts that were never written. */
export function copyImage(from: string, to: string): void {
  command(["cp", "--sparse=always", from, to]);
}

/**
 * Makes the image of a disk.
 *
 * @param before the image as it was when the log began
 * @param entries its entries since then
 */
export function writeImage(
  image: string,
  before: string,
  log: string,
  entries: readonly Entry[],
): void {
  copyImage(before, image);
  const [from, to] = [openSync(log, "r"), openSync(image, "r+")];
  for (const { source, target, length } of entries) {
    const data = Buffer.alloc(length);
    readSync(from, data, 0, length, source);
    writeSync(to, data, 0, length, target);
  }
  closeSync(from);
  closeSync(to);
}
