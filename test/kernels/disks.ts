/** The disks of emulated machines, one for each file system on which nodes keep reservations. */

import { closeSync, mkdirSync, openSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { command } from "../../scripts/build/command.ts";
import type { Random } from "../harness/random.ts";
import type { Disk } from "./emulator.ts";
import { copyImage, entriesOf, survivors, writeImage } from "./write-log.ts";

/** The program that makes each file system, by the name of its disks. XFS and Btrfs need this many megabytes. */
const fileSystems: Readonly<Record<string, readonly [megabytes: number, ...words: string[]]>> = {
  ext4: [64, "mkfs.ext4", "-q", "-F"],
  // Dates have full seconds on this file system.
  "ext4-128": [64, "mkfs.ext4", "-q", "-F", "-I", "128"],
  xfs: [320, "mkfs.xfs", "-q"],
  btrfs: [160, "mkfs.btrfs", "-q"],
};

/** How many cuts of each log are made into disks. */
const CUTS = 2;

/** A disk whose writes are logged. */
export interface LoggedDisk extends Disk {
  readonly log: string;
  /** Its image before the first write of the log. */
  readonly before: string;
}

/**
 * Makes empty disks.
 *
 * @param directory the directory for their images
 * @throws if a program that makes a file system is missing
 */
export function emptyDisks(directory: string): readonly LoggedDisk[] {
  mkdirSync(directory, { recursive: true });
  return Object.entries(fileSystems).map(([name, [megabytes, ...words]]) => {
    const [image, before, log] = ["image", "before", "log"].map((kind) =>
      join(directory, `${name}.${kind}`),
    ) as [string, string, string];
    for (const file of [before, log]) closeSync(openSync(file, "w"));
    truncateSync(before, megabytes * 2 ** 20);
    command([...words, before], { environment: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` } });
    copyImage(before, image);
    return { name, image, log, before };
  });
}

/**
 * Makes the disks as they were at a loss of power: as the kill of the emulator left them, and as losses between the beginning
 * of the storm and then would have left them.
 *
 * @param began the length of each log at the beginning of the storm, in bytes
 */
export function disksAfterLoss(
  disks: readonly LoggedDisk[],
  began: readonly number[],
  random: Random,
): readonly Disk[] {
  return disks.flatMap(({ name, image, log, before }, disk) => {
    const entries = entriesOf(log);
    const first = entries.filter(({ source }) => source <= (began[disk] ?? 0)).length;
    const cuts = Array.from(
      { length: CUTS },
      () => first + random.integer(entries.length - first),
    ).toSorted((a, b) => a - b);
    return [
      ...cuts.map((end, at) => {
        const cut = { name: `${name}-cut-${at + 1}`, image: `${image}.${at}` };
        writeImage(cut.image, before, log, survivors(entries.slice(0, end), random));
        return cut;
      }),
      { name: `${name}-killed`, image },
    ];
  });
}

/** The length of each disk's log, in bytes. */
export function lengthsOf(disks: readonly LoggedDisk[]): readonly number[] {
  return disks.map(({ log }) => statSync(log).size);
}
