/**
 * Every disk that a loss of power may leave after some calls. Nothing is ever synced, so all that they did may be missing,
 * within what a file system keeps in order (see ALICE, OSDI '14, and Ferrite, ASPLOS '16):
 *
 * - ext4 (data=ordered) and Btrfs: names and times as after a prefix of the calls' changes, since these go through one
 *   journal. The data of a file is as after some prefix of the writes to it, whatever the prefix of names: a new file may
 *   be empty, an old one may have what is newer than its directory. Where a file replaces another by rename(2), its
 *   data is written before.
 * - XFS: the same, without the last sentence.
 * - weakest: each directory as after a prefix of its own changes, so that a renamed file has two names or none; and data
 *   may be NULs.
 *
 * A write of so few bytes is one sector, so none is there by half. The calls run one after another, since all their
 * changes are made under the lock. A prefix of all contains those of a loss in the middle.
 */

import type { Extent } from "../harness/extent.ts";
import type { MemoryDisk } from "../harness/memory-disk.ts";
import { MemoryKernel } from "../harness/memory-kernel.ts";
import type { Calls } from "./calls.ts";
import { type Program, runAnswered } from "./process.ts";
import type { Judge } from "./rules.ts";
import { cast, NO_TROUBLE, prepare } from "./scenes.ts";
import { clockIn, type Machine, type Operation, type World, type Worlds } from "./world.ts";

/** A change that a call has made. */
interface Change {
  readonly operation: Operation;
  /** The number of the file that it makes; here none is used again. */
  readonly inode: bigint;
  /** The number of the file that it writes into; `undefined` where it changes names or times. */
  readonly file: string | undefined;
}

export const fileSystems = ["ext4 and Btrfs", "XFS", "weakest"] as const;

export type FileSystem = (typeof fileSystems)[number];

/** The changes of some calls to the disk, one after another. */
function changesOf(world: World, programs: readonly Program[]): readonly Change[] {
  const machine: Machine = { ...world, disk: copyOf(world), locks: new Map() };
  return programs.flatMap((program, at) => {
    const made: Change[] = [];
    const number = 100 * (at + 1);
    runAnswered(program, number, clockIn(world), (operation, step) => {
      const inode = BigInt(number * 100_000 + step * 4);
      machine.disk.nextInode = inode;
      try {
        const value = operation.run(machine);
        const isLock = ["flock", "unlock", "close"].includes(operation.word);
        const file = operation.word === "write" ? operation.text.split(" ")[2] : undefined;
        if (operation.reach === "changes" && !isLock) made.push({ operation, inode, file });
        return { value };
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        return { error };
      }
    });
    return made;
  });
}

/** All worlds, after the next boot, that a file system may have kept of some changes. */
function worldsAfter(
  worlds: Worlds,
  start: World,
  changes: readonly Change[],
  fileSystem: FileSystem,
): readonly World[] {
  const found = new Set<World>();
  const names = changes.filter(({ file }) => file === undefined);
  const files = [...new Set(changes.flatMap(({ file }) => file ?? []))];
  const isNew = (file: string): boolean => changes.some(({ inode }) => `${inode}` === file);
  const directories = [...new Set(names.flatMap(directoriesOf))];
  const cuts = fileSystem === "weakest" ? cutsOf(names, directories) : prefixesOf(names);
  for (const kept of cuts) {
    for (const written of product(files.map((file) => writesOf(file)))) {
      const world = worlds.change(start, ({ disk }) => {
        for (const change of kept) change(disk);
        for (const write of written) write(disk);
      });
      found.add(worlds.later(world, 60_000, 1));
    }
  }
  return [...found];

  /** What may have been written into a file. */
  function writesOf(file: string): readonly ((disk: MemoryDisk) => void)[] {
    const writes = changes.filter((change) => change.file === file);
    const write = (count: number) => (disk: MemoryDisk) => {
      for (const change of writes.slice(0, count)) redo(disk, change);
    };
    const counts = writes.map((_, at) => at + 1);
    const isFlushed = fileSystem === "ext4 and Btrfs" && isNew(file) && replacesAnother(file);
    const prefixes = (isFlushed ? counts.slice(-1) : [0, ...counts]).map(write);
    const nuls = (disk: MemoryDisk): void => {
      write(writes.length)(disk);
      disk.writeInto(BigInt(file), (content) => "\0".repeat(content.length));
    };
    return fileSystem === "weakest" ? [...prefixes, nuls] : prefixes;
  }

  function replacesAnother(file: string): boolean {
    const path = changes.find(({ inode }) => `${inode}` === file)?.operation.path;
    return names.some(
      ({ operation }) => operation.word === "rename" && operation.text.includes(` ${path} `),
    );
  }
}

type Part = (disk: MemoryDisk) => void;

function prefixesOf(names: readonly Change[]): readonly (readonly Part[])[] {
  const parts = names.map(
    (change): Part =>
      (disk) =>
        redo(disk, change),
  );
  return [...parts, undefined].map((_, at) => parts.slice(0, at));
}

/** Each directory has a prefix of its own changes. */
function cutsOf(
  names: readonly Change[],
  directories: readonly string[],
): readonly (readonly Part[])[] {
  const own = (directory: string): readonly Change[] =>
    names.filter((change) => directoriesOf(change).includes(directory));
  const counts = directories.map((directory) => [...own(directory).keys(), own(directory).length]);
  return product(counts).map((some) => {
    const isKept = (change: Change, directory: string): boolean =>
      own(directory).indexOf(change) < (some[directories.indexOf(directory)] ?? 0);
    return names.map(
      (change): Part =>
        (disk) => {
          const kept = directoriesOf(change).map((directory) => isKept(change, directory));
          if (kept.every((one) => one)) redo(disk, change);
          else if (kept.some((one) => one)) redoHalf(disk, change, kept[0] === true);
        },
    );
  });
}

/** A rename of which only one directory knows: the new name is there beside the old one, or the old one is gone. */
function redoHalf(disk: MemoryDisk, { operation }: Change, isNamed: boolean): void {
  const [, to = "", from = ""] = operation.text.split(" ");
  if (!disk.has(from)) return;
  if (isNamed) {
    if (disk.has(to)) disk.unlink(to);
    disk.link(from, to);
  } else disk.unlink(from);
}

function redo(disk: MemoryDisk, { operation, inode }: Change): void {
  disk.nextInode = inode;
  try {
    operation.run({ disk, kernel: new MemoryKernel(), locks: new Map(), boot: 1 });
  } catch {
    // What it needs is missing, so it is missing, too.
  }
}

/** The directories that a change is in; of a rename that of the new name first. */
function directoriesOf({ operation: { word, path, text } }: Change): readonly string[] {
  const parentOf = (one: string): string => one.slice(0, one.lastIndexOf("/"));
  if (word === "utimensat") return [path];
  const to = parentOf(path);
  const from = word === "rename" ? parentOf(text.split(" ")[2] ?? "") : to;
  return from === to ? [to] : [to, from];
}

function product<T>(choices: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return choices.reduce<readonly (readonly T[])[]>(
    (all, choice) => all.flatMap((some) => choice.map((one) => [...some, one])),
    [[]],
  );
}

function copyOf({ disk, time }: World): MemoryDisk {
  return disk.copy(() => BigInt(time) * 1_000_000n);
}

/** Calls after which, or within which, power is lost. */
export interface Loss {
  readonly name: string;
  readonly extent: Extent;
  readonly calls: (calls: Calls) => readonly Program[];
}

export const losses: readonly Loss[] = [
  { name: "ADD a", extent: "short", calls: (calls) => [calls.add("a")] },
  { name: "DEL c", extent: "short", calls: (calls) => [calls.del("c")] },
  { name: "GC a", extent: "short", calls: (calls) => [calls.gc("a")] },
  { name: "ADD a, DEL a", extent: "full", calls: (calls) => [calls.add("a"), calls.del("a")] },
  { name: "DEL c, ADD c", extent: "full", calls: (calls) => [calls.del("c"), calls.add("c")] },
  { name: "ADD a, ADD b", extent: "full", calls: (calls) => [calls.add("a"), calls.add("b")] },
];

/** All worlds that a loss of power may leave, in a network in which `c` has an address. */
export function worldsAfterLoss(
  loss: Loss,
  fileSystem: FileSystem,
): { readonly judge: Judge; readonly worlds: readonly World[] } {
  // The numbers that the network namespaces of `a` and `b` get are not that of `c`, so that GC releases what that has.
  const before = (some: Calls): readonly Program[] => [
    ...["x", "y"].map((one) => some.mount(one)),
    some.add("c"),
    ...["x", "y", "c"].map((one) => some.unmount(one)),
  ];
  const { worlds, judge, search, calls } = prepare(
    cast(["ADD a", "ADD b"], { dead: ["c"], before }),
    NO_TROUBLE,
  );
  const { start } = search.scene;
  const changes = changesOf(start, loss.calls(calls));
  return { judge, worlds: worldsAfter(worlds, start, changes, fileSystem) };
}
