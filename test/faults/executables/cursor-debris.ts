/** Debris where the cursor of a range set would be. */

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { grantedAddresses } from "../../blackbox/network.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireEnd, requireFailure, requireSuccess } from "./call-requirements.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import {
  outsideOf,
  putDanglingLink,
  putDirectoryWithReservation,
  putFifo,
  putHuge,
  putLoop,
} from "./file-debris.ts";
import { sampleOf, shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { WatchedNetwork } from "./watched-network.ts";

const CURSORS = ["last_reserved_ip.0", "last_reserved_ip.1"];

/** A piece of debris at the path of a cursor. */
interface CursorDebris {
  readonly name: string;
  readonly put: (path: string) => void;
}

function file(name: string, content: string | Buffer): CursorDebris {
  return { name, put: (path) => writeFileSync(path, content, { mode: 0o600 }) };
}

/** Files: the next ADD overwrites them. */
const files: readonly CursorDebris[] = [
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
  { name: "a sparse file of a TiB", put: putHuge },
  { name: "a link to nowhere", put: putDanglingLink },
];

/** Anything but files: ADD may fail. */
const others: readonly CursorDebris[] = [
  { name: "an empty directory", put: (path) => mkdirSync(path) },
  { name: "a directory with a file", put: putDirectoryWithReservation },
  { name: "a FIFO", put: putFifo },
  { name: "a link to itself", put: putLoop },
  { name: "a link to a directory", put: (path) => symlinkSync(directoryOutside(path), path) },
  { name: "a link to a file elsewhere", put: (path) => symlinkSync(fileOutside(path), path) },
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

async function overwrite(context: Context, { name, put }: CursorDebris): Promise<Attempt> {
  const network = new WatchedNetwork(context);
  const verifier = new Verifier();
  await network.do("ADD", "other");
  for (const cursor of CURSORS) {
    rmSync(network.path(cursor), { force: true });
    put(network.path(cursor));
  }
  const granted = network.heldBy("other");
  for (const containerId of ["second", "third"]) {
    const added = await network.do("ADD", containerId);
    requireSuccess(verifier, added, `ADD ${containerId}`);
    granted.push(...grantedAddresses(added));
  }
  verifier.require(new Set(granted).size === granted.length, "double", granted.join(" "));
  requireFailure(verifier, await network.do("ADD", "fourth"), "ADD beyond", "no IP addresses");
  await requireDeletion(network, verifier, ["other", "second", "third"]);
  return { what: name, violations: verifier.violations };
}

async function refuse(context: Context, { name, put }: CursorDebris): Promise<Attempt> {
  const network = new WatchedNetwork(context);
  const verifier = new Verifier();
  await network.do("ADD", "other");
  const [, second = ""] = CURSORS;
  rmSync(network.path(second), { force: true });
  put(network.path(second));
  const outside = stateOf(outsideOf(network.path("any")));

  const added = await network.do("ADD", "victim");
  if (requireEnd(verifier, added, "ADD") && added.exitCode !== 0) {
    requireFailure(verifier, added, "ADD", network.path(second));
    const kept = network.heldBy("victim").join(" ");
    verifier.require(kept === "", "kept", `a failed ADD keeps ${kept}`);
  }
  const changes = changesBetween(outside, stateOf(outsideOf(network.path("any"))));
  verifier.require(changes === "", "escaped", changes);
  await requireDeletion(network, verifier, ["victim"]);

  rmSync(network.path(second), { recursive: true, force: true });
  requireSuccess(verifier, await network.do("ADD", "victim"), "ADD without the debris");
  await requireDeletion(network, verifier, ["victim", "other"]);
  return { what: name, violations: verifier.violations };
}

async function requireDeletion(
  network: WatchedNetwork,
  verifier: Verifier,
  containerIds: readonly string[],
): Promise<void> {
  for (const containerId of containerIds) {
    requireSuccess(verifier, await network.do("DEL", containerId), `DEL ${containerId}`);
    const left = network.heldBy(containerId).join(" ");
    verifier.require(left === "", "leak", `DEL leaves ${left}`);
  }
}

export const cursorDebrisScenarios: readonly Scenario[] = [
  {
    fault: "a cursor with anything but an address of its range, or a huge one",
    promise: "ADDs work, and hand out every address once",
    attempt: (context) =>
      sideBySide(sampleOf(context, files), 3, (debris) => overwrite(context, debris)),
  },
  {
    fault: "a directory, FIFO or link where a cursor would be",
    promise:
      "ADD works, or fails, says where and releases what it reserved; nothing is written through a link; DEL works",
    attempt: (context) =>
      sideBySide(shortSampleOf(context, others), 3, (debris) => refuse(context, debris)),
  },
];
