/** A journal that is corrupt, foreign or wrong. */

import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isRoot } from "../../harness/unprivileged.ts";
import { putFifo, putHuge } from "./file-debris.ts";
import { journalOf, linesOf, type SealText, sealed, writeJournal } from "./journal-file.ts";
import type { WatchedNetwork } from "./watched-network.ts";

/** A way in which the journal is wrong. */
export interface JournalDebris {
  readonly name: string;
  readonly spoil: (network: WatchedNetwork) => void;
  /**
   * What a current seal over such lies, which nothing but a forger leaves, may mislead until the next search: the ADD of
   * an attachment that has an address already, or STATUS in a full network.
   */
  readonly misleads?: "ADD" | "STATUS";
}

const HOUR_AGO = Date.now() / 1000 - 3600;

/** As long as a seal. */
const HEADER = 192;

const anotherBoot = "00000000-0000-4000-8000-000000000000";

/** Something else at the journal's path. */
function instead(put: (path: string, network: WatchedNetwork) => void): JournalDebris["spoil"] {
  return (network) => {
    rmSync(journalOf(network), { recursive: true, force: true });
    put(journalOf(network), network);
  };
}

/** The journal with its text changed; its seal stays. */
function edited(edit: (journal: Buffer) => Buffer | string): JournalDebris["spoil"] {
  return (network) => writeJournal(network, edit(readFileSync(journalOf(network))));
}

/** The journal with a seal that claims something else, and is otherwise current. */
function claiming(claims: Partial<SealText>): JournalDebris["spoil"] {
  return (network) => writeJournal(network, sealed(network, linesOf(network), claims));
}

/** The journal with other lines under a current seal. */
function listing(change: (lines: readonly string[]) => readonly string[]): JournalDebris["spoil"] {
  return (network) => writeJournal(network, sealed(network, change(linesOf(network))));
}

/** Further lines under a current seal. */
function telling(...lines: readonly string[]): JournalDebris["spoil"] {
  return listing((before) => [...before, ...lines]);
}

/** What version 1.0.0 kept in the journal's place: a link for each attachment, and a stamp. */
function putOldIndex(network: WatchedNetwork): void {
  const owners = network.ownPath("owners");
  mkdirSync(owners, { recursive: true });
  symlinkSync("10.0.0.2 2001:db8::2", join(owners, "other:eth0"));
  symlinkSync("10.0.0.9", join(owners, "nobody:eth0"));
  symlinkSync("2 1 1 1 1 1 1 2 0 settled", network.ownPath("stamp"));
}

/** The links that are left of the old index. */
export function oldIndexOf(network: WatchedNetwork): readonly string[] {
  const paths = readdirSync(network.ownPath(""), { recursive: true, encoding: "utf8" });
  return paths.filter((path) => lstatSync(network.ownPath(path)).isSymbolicLink());
}

/** Foreign files, old enough to be mistaken for leftovers. */
function putForeign(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (let at = 0; at < 20; at++) {
    const path = join(directory, `foreign-${at}`);
    writeFileSync(path, "host-local-journal 2");
    utimesSync(path, HOUR_AGO, HOUR_AGO);
  }
  mkdirSync(join(directory, "foreign.d"));
}

/** Where foreign files lie that nothing may touch. */
export function foreignFiles(network: WatchedNetwork): readonly string[] {
  const places = [
    journalOf(network),
    network.ownPath("owners"),
    join(network.directory, "outside"),
  ];
  return places.flatMap((directory) => {
    try {
      return readdirSync(directory)
        .filter((name) => name.startsWith("foreign"))
        .map((name) => join(directory, name));
    } catch {
      return [];
    }
  });
}

/** A link to a foreign file with this content. */
function linkedTo(content: (network: WatchedNetwork) => string): JournalDebris["spoil"] {
  return (network) => {
    const outside = join(network.directory, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "foreign"), content(network));
    instead((path) => symlinkSync(join(outside, "foreign"), path))(network);
  };
}

/** A copy is made and put back; in between, the network is changed. */
function restored(copy: string, restore: string): JournalDebris["spoil"] {
  return (network) => {
    const shell = (script: string): void => {
      execFileSync("sh", ["-ec", script], { cwd: network.directory, stdio: "ignore" });
    };
    shell(copy);
    // What happened between the copy and its return.
    for (const name of ["10.0.0.3", "2001:db8::3"]) rmSync(network.path(name), { force: true });
    for (const name of ["10.0.0.4", "2001:db8::4"]) {
      writeFileSync(network.path(name), "nobody\r\neth0", { mode: 0o600 });
    }
    writeJournal(network, sealed(network, [...linesOf(network), "nobody eth0 10.0.0.4"]));
    shell(restore);
  };
}

/** As /dev/zero: there is no end to read. */
function putZeroDevice(path: string): void {
  execFileSync("mknod", [path, "c", "1", "5"]);
}

const garbage = "\u{1f40c} %s ../..";

const everyByte = Buffer.from(Array.from({ length: 4096 }, (_, at) => at % 256));

/** About 10 MiB. */
const crowd = Array.from(
  { length: 250_000 },
  (_, at) => `crowd-${at} eth0 2001:db8:1::${at.toString(16)}`,
);

export const journalDebris: readonly JournalDebris[] = [
  {
    name: ".host-local gone",
    spoil: (network) => rmSync(network.ownPath(".."), { recursive: true }),
  },
  { name: "gone", spoil: (network) => rmSync(journalOf(network)) },
  { name: "empty", spoil: edited(() => "") },
  { name: "cut off in the seal", spoil: edited((journal) => journal.subarray(0, HEADER / 2)) },
  { name: "cut off after the seal", spoil: edited((journal) => journal.subarray(0, HEADER)) },
  {
    name: "cut off between lines",
    spoil: edited((journal) => journal.subarray(0, journal.indexOf("\n", HEADER) + 1)),
  },
  { name: "cut off within a line", spoil: edited((journal) => journal.subarray(0, -7)) },
  {
    name: "cut off between lines, and sealed so",
    spoil: listing((lines) => lines.filter((line) => !line.startsWith("victim"))),
    misleads: "ADD",
  },
  {
    name: "cut off within a line, and sealed so",
    spoil: (network) => {
      const length = readFileSync(journalOf(network)).length - 1;
      claiming({ length: String(length) })(network);
      truncateSync(journalOf(network), length);
    },
  },
  { name: "doubled", spoil: edited((journal) => Buffer.concat([journal, journal])) },
  { name: "its lines doubled, and sealed so", spoil: listing((lines) => [...lines, ...lines]) },
  { name: "its lines in the reverse order", spoil: listing((lines) => lines.toReversed()) },
  { name: "garbage", spoil: edited(() => garbage) },
  { name: "every byte that there is", spoil: edited(() => everyByte) },
  { name: "NULs of its length", spoil: edited((journal) => Buffer.alloc(journal.length)) },
  {
    name: "NULs below its seal",
    spoil: edited((journal) => journal.fill(0, HEADER)),
    misleads: "ADD",
  },
  { name: "10 MiB of others' lines", spoil: listing((lines) => [...crowd, ...lines]) },
  { name: "a line of 2 MiB", spoil: telling(`nobody eth0 ${"1".repeat(2 ** 21)}`) },
  { name: "a sparse file of a TiB", spoil: instead(putHuge) },
  { name: "a TiB long", spoil: (network) => truncateSync(journalOf(network), 2 ** 40) },
  {
    name: "a TiB long, and sealed so",
    spoil: (network) => {
      claiming({ length: String(2 ** 40), renewed: String(2 ** 40) })(network);
      truncateSync(journalOf(network), 2 ** 40);
    },
  },
  { name: "of a later version", spoil: claiming({ form: "host-local-journal 3" }) },
  { name: "of an earlier version", spoil: claiming({ form: "host-local-journal 1" }) },
  { name: "of another boot, or of another machine", spoil: claiming({ boot: anotherBoot }) },
  { name: "without a boot", spoil: claiming({ boot: "" }) },
  { name: "of another directory", spoil: claiming({ directory: "1,1,1" }) },
  {
    name: "its older copy put back",
    spoil: (network) => {
      const journal = readFileSync(journalOf(network));
      rmSync(network.path("10.0.0.3"));
      writeFileSync(network.path("10.0.0.3"), "victim\r\neth0", { mode: 0o600 });
      writeJournal(network, journal);
    },
  },
  {
    name: "an older copy of the data directory put back with its times, by cp in place",
    spoil: restored(
      "cp -a . ../copy-$$ && mv ../copy-$$ copy",
      "rm net/* && cp -a copy/net copy/.host-local . && rm -r copy",
    ),
  },
  {
    name: "an older copy of the data directory put back with its times, by mv",
    spoil: restored(
      "cp -a . ../copy-$$ && mv ../copy-$$ copy",
      "rm -r net .host-local && mv copy/net copy/.host-local . && rm -r copy",
    ),
  },
  {
    name: "an older copy of the data directory put back with its times, by tar",
    spoil: restored(
      "tar -cf copy.tar --format=posix net .host-local",
      "rm -r net .host-local && tar -xf copy.tar && rm copy.tar",
    ),
  },
  {
    name: "older reservations put back with their times, and the journal not",
    spoil: restored("cp -a net copy", "rm net/* && cp -a copy/. net && rm -r copy"),
  },
  { name: "a seal of -1 reservations", spoil: claiming({ reservations: "-1" }) },
  { name: "a seal of no number of reservations", spoil: claiming({ reservations: "NaN" }) },
  { name: "a seal of 1e400 reservations", spoil: claiming({ reservations: "1e400" }) },
  { name: "a seal of half a reservation", spoil: claiming({ reservations: "0.5" }) },
  { name: "a seal of too many reservations", spoil: claiming({ reservations: "999999999999" }) },
  {
    name: "a seal of too few reservations",
    spoil: claiming({ reservations: "0" }),
    misleads: "STATUS",
  },
  { name: "a seal of another length", spoil: claiming({ length: "1000000" }) },
  { name: "a seal of length -1", spoil: claiming({ length: "-1" }) },
  { name: "a seal renewed at length 0", spoil: claiming({ renewed: "0" }) },
  { name: "a seal with a word too many", spoil: claiming({ renewed: "1 1" }) },
  {
    name: "lines with another's addresses",
    spoil: listing((lines) => [
      ...lines.filter((line) => !line.startsWith("victim")),
      "victim eth0 10.0.0.2",
      "victim eth0 2001:db8::2",
    ]),
  },
  {
    name: "lines of more than is held",
    spoil: telling(
      "victim eth0 10.0.0.2",
      "victim eth0 10.0.0.9",
      "victim eth0 2001:db8::3",
      "victim eth0 x",
    ),
  },
  {
    name: "lines of addresses that lead out",
    spoil: telling("nobody eth0 ../../etc/passwd", "victim eth0 /etc/passwd"),
  },
  {
    name: "lines of somebody who holds nothing",
    spoil: telling("nobody eth0 10.0.0.2", "nobody eth0 10.0.0.3", "third eth0 2001:db8::3"),
  },
  {
    name: "lines of a container without an interface",
    spoil: telling("nobody / 10.0.0.2", "victim / 10.0.0.2"),
  },
  { name: "a line of nothing but spaces", spoil: telling("  ", "victim  ", "victim eth0 ") },
  {
    name: "400 lines for one",
    spoil: listing((lines) => [...lines, ...Array(400).fill("nobody eth0 10.0.0.2")]),
  },
  {
    name: "a directory",
    spoil: instead((path) => mkdirSync(path)),
  },
  { name: "a directory of foreign files", spoil: instead(putForeign) },
  { name: "a FIFO", spoil: instead(putFifo) },
  { name: "a link to nowhere", spoil: instead((path) => symlinkSync("nowhere/at/all", path)) },
  { name: "a link to itself", spoil: instead((path) => symlinkSync("journal", path)) },
  { name: "a link to /dev/zero", spoil: instead((path) => symlinkSync("/dev/zero", path)) },
  ...(isRoot ? [{ name: "a device", spoil: instead(putZeroDevice) }] : []),
  {
    name: "a link to where it was moved",
    spoil: (network) => {
      renameSync(journalOf(network), network.ownPath("journal.moved"));
      symlinkSync("journal.moved", journalOf(network));
    },
  },
  { name: "a link to a foreign file", spoil: linkedTo(() => "foreign") },
  {
    name: "a link to a foreign journal, current and of nothing but lies",
    spoil: linkedTo((network) => sealed(network, ["victim eth0 -10.0.0.3", "other eth0"])),
  },
  {
    name: "the index of version 1.0.0 in its place",
    spoil: (network) => {
      rmSync(journalOf(network));
      putOldIndex(network);
    },
  },
  { name: "the index of version 1.0.0 beside it", spoil: putOldIndex },
  {
    name: "the index of version 1.0.0 with foreign files in it",
    spoil: (network) => {
      rmSync(journalOf(network));
      putOldIndex(network);
      putForeign(network.ownPath("owners"));
    },
  },
];
