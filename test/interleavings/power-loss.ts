/**
 * Every disk that a loss of power may leave after some calls. As if nothing were synced, all their changes may be missing,
 * within the order that a file system keeps (see ALICE, OSDI '14, and Ferrite, ASPLOS '16). The weakest file system keeps only
 * this: each directory has a prefix of its own changes, so that a renamed file has two names or none; and a file has a prefix
 * of its writes, or NULs. ext4, Btrfs and XFS keep names and times in the order of all changes, so the disks that they may
 * leave are among these.
 *
 * A write of so few bytes is one sector, which is written wholly or not at all. The calls run one after another, since all
 * their changes are made under the lock. A loss in the middle leaves a prefix of all changes.
 */

import type { Extent } from "../harness/extent.ts";
import type { MemoryDisk } from "../harness/memory-disk.ts";
import { MemoryKernel } from "../harness/memory-kernel.ts";
import { type Program, runAnswered } from "./process.ts";
import type { Judge } from "./rules.ts";
import { cast, NO_TROUBLE, prepare } from "./scenes.ts";
import { clockIn, copyOf, type Operation, replyTo, type World, type Worlds } from "./world.ts";

/** A change that a call has made. */
interface Change {
  readonly operation: Operation;
  /** The number of the file that it makes; no number is used twice here. */
  readonly inode: bigint;
  /** The number of the file that it writes into; `undefined` if it changes names or times. */
  readonly file: string | undefined;
}

/** The changes of some calls to the disk, one after another. */
function changesOf(world: World, programs: readonly Program[]): readonly Change[] {
  const machine = copyOf(world);
  return programs.flatMap((program, at) => {
    const made: Change[] = [];
    const number = 100 * (at + 1);
    runAnswered(program, number, clockIn(world), (operation, step) => {
      const inode = BigInt(number * 100_000 + step * 4);
      machine.disk.nextInode = inode;
      const reply = replyTo(operation, machine);
      const isOther = ["flock", "unlock", "close", "netlink", "runtime"].includes(operation.word);
      const isOfDisk =
        operation.reach === "changes" && !isOther && operation.path !== "/dev/stdout";
      const isChange = isOfDisk && reply.error === undefined;
      const file = operation.word === "write" ? operation.text.split(" ")[2] : undefined;
      if (isChange) made.push({ operation, inode, file });
      return reply;
    });
    return made;
  });
}

/** All worlds after the next boot in which a file system may have kept only some changes. */
function worldsAfter(worlds: Worlds, start: World, changes: readonly Change[]): readonly World[] {
  const found = new Set<World>();
  const names = changes.filter(({ file }) => file === undefined);
  const files = [...new Set(changes.flatMap(({ file }) => file ?? []))];
  for (const kept of cutsOf(names)) {
    for (const written of product(files.map((file) => writesOf(file, changes)))) {
      const world = worlds.change(start, ({ disk }) => {
        for (const part of [...kept, ...written]) part(disk);
      });
      found.add(worlds.later(world, 60_000, 1));
    }
  }
  return [...found];
}

/** A part of the changes. */
type Part = (disk: MemoryDisk) => void;

/** The contents that a file may have. */
function writesOf(file: string, changes: readonly Change[]): readonly Part[] {
  const writes = changes.filter((change) => change.file === file);
  const write = (count: number) => (disk: MemoryDisk) => {
    for (const change of writes.slice(0, count)) redo(disk, change);
  };
  const nuls = (disk: MemoryDisk): void => {
    write(writes.length)(disk);
    disk.writeInto(BigInt(file), (content) => "\0".repeat(content.length));
  };
  return [...[0, ...writes.map((_, at) => at + 1)].map(write), nuls];
}

/** All choices in which each directory has a prefix of its own changes. */
function cutsOf(names: readonly Change[]): readonly (readonly Part[])[] {
  const directories = [...new Set(names.flatMap(directoriesOf))];
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
          if (kept.every((isThere) => isThere)) redo(disk, change);
          else if (kept.some((isThere) => isThere)) redoHalf(disk, change, kept[0] === true);
        },
    );
  });
}

/** Makes a rename in one directory only: the new name is there beside the old one, or the old one is gone. */
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
    // The change depends on a missing one, so it is missing, too.
  }
}

/** The directories that a change affects; for a rename, the directory of the new name first. */
function directoriesOf({ operation: { word, path, text } }: Change): readonly string[] {
  const parentOf = (name: string): string => name.slice(0, name.lastIndexOf("/"));
  if (word === "utimensat") return [path];
  const to = parentOf(path);
  const from = word === "rename" ? parentOf(text.split(" ")[2] ?? "") : to;
  return from === to ? [to] : [to, from];
}

function product<T>(choices: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return choices.reduce<readonly (readonly T[])[]>(
    (all, choice) => all.flatMap((some) => choice.map((chosen) => [...some, chosen])),
    [[]],
  );
}

/** The calls after which, or during which, power is lost, each with the extent of the tests. */
export const losses: readonly (readonly [calls: string, extent: Extent])[] = [
  ["ADD a", "short"],
  ["DEL c", "short"],
  ["GC a", "short"],
  ["ADD a, DEL a", "full"],
  ["DEL c, ADD c", "full"],
  ["ADD a, ADD b", "exhaustive"],
];

/** All worlds that a loss of power may leave, in a network in which `c` has an address. */
export function worldsAfterLoss(lost: string): {
  readonly judge: Judge;
  readonly worlds: readonly World[];
} {
  // The network namespaces of `a` and `b` get other numbers than that of `c`, so that GC releases the address of `c`.
  const before = "mount x, mount y, ADD c, unmount x, unmount y, unmount c";
  const { worlds, judge, search, calls } = prepare(
    cast("ADD a ∥ ADD b", { dead: ["c"], before }),
    NO_TROUBLE,
  );
  const { start } = search.scene;
  const changes = changesOf(start, calls.thread(lost));
  return { judge, worlds: worldsAfter(worlds, start, changes) };
}
