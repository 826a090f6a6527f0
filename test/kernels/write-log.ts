/**
 * What a disk had at a loss of power, by the log of its writes: that of QEMU's blklogwrites, which has the format of Linux's
 * dm-log-writes (Documentation/admin-guide/device-mapper/log-writes.rst).
 */

import { closeSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { command } from "../../scripts/build/command.ts";
import type { Random } from "../harness/random.ts";

/** Of the head of the log and of an entry, in bytes; a write, and the head of an entry, fill whole ones. */
const SECTOR = 512;

const MAGIC = 0x6a736677736872n;

/** What an entry is, besides a write. */
const FLUSH = 1n;
const FORCED = 2n;
const DISCARD = 4n;

/** A write of a log, or the flush of a disk's cache. */
export interface Entry {
  readonly isFlush: boolean;
  /** Whether it is on the disk, not only in its cache, as soon as it is answered. */
  readonly isForced: boolean;
  /** Where it is on the disk, and in the log, and how long it is, in bytes. */
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
      // What a file system does not need any more is no loss.
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
 * What of a log a disk has that loses its power: all up to its last flush, and of what it has got later any part.
 *
 * @param entries up to the loss
 */
export function survivors(entries: readonly Entry[], random: Random): readonly Entry[] {
  const flushed = entries.findLastIndex(({ isFlush }) => isFlush);
  return entries.filter((entry, at) => at <= flushed || entry.isForced || random.chance(50));
}

/** Copies the image of a disk, without what it has not been written to. */
export function copyImage(from: string, to: string): void {
  command(["cp", "--sparse=always", from, to]);
}

/**
 * Makes the image of a disk.
 *
 * @param before the image as it was when the log began
 * @param entries what it has got since
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
