/** Anything but an address where the cursor of a range set would be. */

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireDistinct } from "./answers.ts";
import {
  outsideOf,
  putDanglingLink,
  putDirectoryWithReservation,
  putFifo,
  putHuge,
  putLoop,
} from "./corrupt-file.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { FaultNetwork, FULL } from "./network.ts";
import { type Case, eachOf, type Scenario, sampleOf, type Trial } from "./scenario.ts";

const CURSORS = ["last_reserved_ip.0", "last_reserved_ip.1"];

/** Something at the path of a cursor. */
interface CorruptCursor extends Case {
  readonly put: (path: string) => void;
}

function file(what: string, content: string | Buffer): CorruptCursor {
  return { what, put: (path) => writeFileSync(path, content, { mode: 0o600 }) };
}

/** Files: the next ADD overwrites them. */
const files: readonly CorruptCursor[] = [
  file("empty", ""),
  file("an address with a newline", "10.0.0.3\n"),
  file("cut off", "10.0.0"),
  file("an address with line ends behind it", `10.0.0.2${"\n".repeat(30)}`),
  file("an address of the other family", "2001:db8::3"),
  file("an address of either family, in IPv6's form", "::ffff:10.0.0.3"),
  file("an address outside of the range", "192.0.2.1"),
  file("the last address there is", "255.255.255.255"),
  file("two addresses", "10.0.0.2 10.0.0.3"),
  file("garbage", "a cursor? \u{1f40c}"),
  file("NULs", "\0".repeat(4096)),
  file("bytes that are no text", Buffer.from([0xff, 0xfe, 0x80, 0x00, 0xc3])),
  file("a reservation", "other\r\neth0"),
  file("a MiB of digits", "1".repeat(2 ** 20)),
  { what: "a sparse file of a TiB", put: putHuge },
  { what: "a link to nowhere", put: putDanglingLink },
];

/** Anything but files: ADD may fail. */
const others: readonly CorruptCursor[] = [
  { what: "an empty directory", put: (path) => mkdirSync(path) },
  { what: "a directory with a file", put: putDirectoryWithReservation },
  { what: "a FIFO", put: putFifo },
  { what: "a link to itself", put: putLoop },
  { what: "a link to a directory", put: (path) => symlinkSync(directoryOutside(path), path) },
  { what: "a link to a file elsewhere", put: (path) => symlinkSync(fileOutside(path), path) },
];

function directoryOutside(path: string): string {
  mkdirSync(outsideOf(path), { recursive: true });
  return outsideOf(path);
}

function fileOutside(path: string): string {
  const outside = join(directoryOutside(path), "foreign");
  writeFileSync(outside, "10.0.0.3");
  return outside;
}

async function overwrite(trial: Trial, { put }: CorruptCursor): Promise<void> {
  const network = new FaultNetwork(trial);
  await network.do("ADD", "other");
  for (const cursor of CURSORS) {
    rmSync(network.path(cursor), { force: true });
    put(network.path(cursor));
  }
  const granted = [...network.heldBy("other")];
  for (const id of ["second", "third"]) granted.push(...(await network.mustWork("ADD", id)));
  requireDistinct(trial.verifier, granted);
  await network.mustFail("ADD", "fourth", FULL);
  await network.mustRelease("other", "second", "third");
}

async function refuse(trial: Trial, { put }: CorruptCursor): Promise<void> {
  const network = new FaultNetwork(trial);
  await network.do("ADD", "other");
  const [, second = ""] = CURSORS;
  rmSync(network.path(second), { force: true });
  put(network.path(second));
  const outside = (): readonly string[] => stateOf(outsideOf(network.path("any")));
  const before = outside();

  await network.mayAdd("victim", network.path(second));
  const changes = changesBetween(before, outside());
  trial.verifier.require(changes === "", "escaped", changes);
  await network.mustRelease("victim");

  rmSync(network.path(second), { recursive: true, force: true });
  await network.mustWork("ADD", "victim");
  await network.mustRelease("victim", "other");
}

export const corruptCursorScenarios: readonly Scenario[] = [
  {
    fault: "a cursor with anything but an address of its range, or a huge one",
    promise: "ADDs work, and hand out every address once",
    attempt: eachOf(files, overwrite, { some: sampleOf }),
  },
  {
    fault: "a directory, FIFO or link where a cursor would be",
    promise:
      "ADD works, or fails, says where and releases what it reserved; nothing is written through a link; DEL works",
    attempt: eachOf(others, refuse),
  },
];
