// test: own process
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { entriesOf, survivors, writeImage } from "./write-log.ts";

const SECTOR = 512;

const FLUSH = 1n;
const FORCED = 2n;
const DISCARD = 4n;

/** The head of a log or of an entry: numbers of 64 bits. */
function head(...numbers: readonly bigint[]): Buffer {
  const sector = Buffer.alloc(SECTOR);
  for (const [at, number] of numbers.entries()) sector.writeBigUInt64LE(number, 8 * at);
  return sector;
}

/** A write of sectors that are full of a letter. */
function written(letter: string, target: number, sectors: number, flags = 0n): Buffer {
  const data = Buffer.alloc(sectors * SECTOR, letter);
  return Buffer.concat([head(BigInt(target), BigInt(sectors), flags, 0n), data]);
}

const log = [
  head(0x6a736677736872n, 1n, 0n),
  written("a", 0, 2),
  head(0n, 0n, FLUSH, 0n),
  written("b", 1, 1),
  written("c", 3, 1, FORCED),
  head(0n, 8n, DISCARD, 0n),
  written("d", 2, 1),
];

/** Makes every random choice the same. */
const always = (chance: boolean) => ({
  integer: () => 0,
  chance: () => chance,
  pick: <T>([first]: readonly T[]): T => first as T,
});

test("what a disk has is known for each moment, with or without what it had in its cache", async (t) => {
  const directory = scratchDirectory(t);
  const [file, before, image] = ["log", "before", "image"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, Buffer.concat(log));
  writeFileSync(before, Buffer.alloc(4 * SECTOR, "."));
  const entries = entriesOf(file);
  const imageOf = (end: number, isKept: boolean): string => {
    writeImage(image, before, file, survivors(entries.slice(0, end), always(isKept)));
    const sectors = readFileSync(image, "latin1").match(/.{512}/gs) ?? [];
    return sectors.map((sector) => (/^(.)\1*$/s.exec(sector) ?? ["", "?"])[1]).join("");
  };

  t.equal(entries.length, 6);
  for (const [end, kept, lost] of [
    [0, "....", "...."],
    [1, "aa..", "...."],
    [2, "aa..", "aa.."],
    [4, "ab.c", "aa.c"],
    [6, "abdc", "aa.c"],
  ] as const) {
    t.same([imageOf(end, true), imageOf(end, false)], [kept, lost], `after ${end} writes`);
  }
});

test("a log that ends within a write ends before it", async (t) => {
  const file = join(scratchDirectory(t), "log");
  writeFileSync(file, Buffer.concat(log).subarray(0, -1));

  t.equal(entriesOf(file).length, 5);
  t.same(entriesOf(file)[0], {
    isFlush: false,
    isForced: false,
    target: 0,
    source: 2 * SECTOR,
    length: 2 * SECTOR,
  });
});

test("what is no log is refused", async (t) => {
  const file = join(scratchDirectory(t), "log");
  writeFileSync(file, Buffer.alloc(SECTOR));

  t.throws(() => entriesOf(file), { message: `${file} is no log of writes` });
});
