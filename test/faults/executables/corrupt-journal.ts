/** A journal that is corrupt, foreign or wrong. */

import { execFileSync } from "node:child_process";
import {
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
import { line } from "../../harness/journal-line.ts";
import { isRoot } from "../../harness/unprivileged.ts";
import { putFifo, putHuge } from "./corrupt-file.ts";
import { journalOf, linesOf, type SealText, sealed, writeJournal } from "./journal-file.ts";
import type { FaultNetwork } from "./network.ts";
import type { Case } from "./scenario.ts";

/** A way in which the journal is wrong. */
export interface CorruptJournal extends Case {
  readonly spoil: (network: FaultNetwork) => void;
}

const HOUR_AGO = Date.now() / 1000 - 3600;

const anotherBoot = "00000000-0000-4000-8000-000000000000";

/** Something else at the journal's path. */
function instead(put: (path: string, network: FaultNetwork) => void): CorruptJournal["spoil"] {
  return (network) => {
    rmSync(journalOf(network), { recursive: true, force: true });
    put(journalOf(network), network);
  };
}

/** The journal with its text changed; its seal stays. */
function edited(edit: (journal: Buffer) => Buffer | string): CorruptJournal["spoil"] {
  return (network) => writeJournal(network, edit(readFileSync(journalOf(network))));
}

/** The journal with a seal that claims something else, and is otherwise current. */
function claiming(claims: Partial<SealText>): CorruptJournal["spoil"] {
  return (network) => writeJournal(network, sealed(network, linesOf(network), claims));
}

/** The journal with other lines under a current seal. */
function listing(change: (lines: readonly string[]) => readonly string[]): CorruptJournal["spoil"] {
  return (network) => writeJournal(network, sealed(network, change(linesOf(network))));
}

/** Further lines under a current seal. */
function telling(...lines: readonly string[]): CorruptJournal["spoil"] {
  return listing((before) => [...before, ...lines]);
}

/** Foreign files, old enough to be mistaken for leftovers. */
function putForeign(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (let at = 0; at < 20; at++) {
    const path = join(directory, `foreign-${at}`);
    writeFileSync(path, "host-local-journal 4");
    utimesSync(path, HOUR_AGO, HOUR_AGO);
  }
  mkdirSync(join(directory, "foreign.d"));
}

/** Where foreign files lie that nothing may touch. */
export function foreignFiles(network: FaultNetwork): readonly string[] {
  const places = [journalOf(network), join(network.directory, "outside")];
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
function linkedTo(content: (network: FaultNetwork) => string): CorruptJournal["spoil"] {
  return (network) => {
    const outside = join(network.directory, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "foreign"), content(network));
    instead((path) => symlinkSync(join(outside, "foreign"), path))(network);
  };
}

/** A copy is made and put back; in between, the network is changed. */
function restored(copy: string, restore: string): CorruptJournal["spoil"] {
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
    writeJournal(network, sealed(network, [...linesOf(network), line("nobody eth0 10.0.0.4")]));
    shell(restore);
  };
}

/** As /dev/zero: there is no end to read. */
function putZeroDevice(path: string): void {
  execFileSync("mknod", [path, "c", "1", "5"]);
}

const everyByte = Buffer.from(Array.from({ length: 4096 }, (_, at) => at % 256));

/** About 10 MiB. */
const strangers = Array.from({ length: 250_000 }, (_, at) =>
  line(`stranger-${at} eth0 2001:db8:1::${at.toString(16)}`),
);

export const corruptJournals: readonly CorruptJournal[] = [
  {
    what: ".host-local gone",
    spoil: (network) => rmSync(network.ownPath(".."), { recursive: true }),
  },
  { what: "gone", spoil: (network) => rmSync(journalOf(network)) },
  { what: "empty", spoil: edited(() => "") },
  { what: "cut off within a line", spoil: edited((journal) => journal.subarray(0, -7)) },
  { what: "every byte that there is", spoil: edited(() => everyByte) },
  { what: "10 MiB of others' lines", spoil: listing((lines) => [...strangers, ...lines]) },
  { what: "a sparse file of a TiB", spoil: instead(putHuge) },
  {
    what: "a TiB long, and sealed so",
    spoil: (network) => {
      claiming({ length: String(2 ** 40), renewed: String(2 ** 40) })(network);
      truncateSync(journalOf(network), 2 ** 40);
    },
  },
  { what: "of another boot, or of another machine", spoil: claiming({ boot: anotherBoot }) },
  {
    what: "its older copy put back",
    spoil: (network) => {
      const journal = readFileSync(journalOf(network));
      rmSync(network.path("10.0.0.3"));
      writeFileSync(network.path("10.0.0.3"), "victim\r\neth0", { mode: 0o600 });
      writeJournal(network, journal);
    },
  },
  {
    what: "an older copy of the data directory put back with its times, by cp in place",
    spoil: restored(
      "cp -a . ../copy-$$ && mv ../copy-$$ copy",
      "rm net/* && cp -a copy/net copy/.host-local . && rm -r copy",
    ),
  },
  {
    what: "an older copy of the data directory put back with its times, by mv",
    spoil: restored(
      "cp -a . ../copy-$$ && mv ../copy-$$ copy",
      "rm -r net .host-local && mv copy/net copy/.host-local . && rm -r copy",
    ),
  },
  {
    what: "an older copy of the data directory put back with its times, by tar",
    spoil: restored(
      "tar -cf copy.tar --format=posix net .host-local",
      "rm -r net .host-local && tar -xf copy.tar && rm copy.tar",
    ),
  },
  {
    what: "older reservations put back with their times, and the journal not",
    spoil: restored("cp -a net copy", "rm net/* && cp -a copy/. net && rm -r copy"),
  },
  {
    what: "lines with another's addresses",
    spoil: listing((lines) => [
      ...lines.filter((one) => !one.startsWith(line("victim "))),
      line("victim eth0 10.0.0.2"),
      line("victim eth0 2001:db8::2"),
    ]),
  },
  {
    what: "lines of addresses that lead out",
    spoil: telling(line("nobody eth0 ../../etc/passwd"), line("victim eth0 /etc/passwd")),
  },
  {
    what: "a directory",
    spoil: instead((path) => mkdirSync(path)),
  },
  { what: "a directory of foreign files", spoil: instead(putForeign) },
  { what: "a FIFO", spoil: instead(putFifo) },
  { what: "a link to nowhere", spoil: instead((path) => symlinkSync("nowhere/at/all", path)) },
  { what: "a link to itself", spoil: instead((path) => symlinkSync("journal", path)) },
  { what: "a link to /dev/zero", spoil: instead((path) => symlinkSync("/dev/zero", path)) },
  ...(isRoot ? [{ what: "a device", spoil: instead(putZeroDevice) }] : []),
  {
    what: "a link to where it was moved",
    spoil: (network) => {
      renameSync(journalOf(network), network.ownPath("journal.moved"));
      symlinkSync("journal.moved", journalOf(network));
    },
  },
  { what: "a link to a foreign file", spoil: linkedTo(() => "foreign") },
  {
    what: "a link to a foreign journal, current and of nothing but lies",
    spoil: linkedTo((network) =>
      sealed(network, [line("victim eth0 -10.0.0.3"), line("other eth0")]),
    ),
  },
];
