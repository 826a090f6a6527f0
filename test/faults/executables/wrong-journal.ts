/** Whatever the journal contains, the answers follow the reservations. */

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { grantedAddresses } from "../../blackbox/network.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireFailure, requireSuccess } from "./call-requirements.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { foreignFiles, type JournalDebris, journalDebris, oldIndexOf } from "./journal-debris.ts";
import { journalOf, linesOf, sealed, writeJournal } from "./journal-file.ts";
import { sampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { WatchedNetwork } from "./watched-network.ts";

const FULL = "no IP addresses available";

/** The first call on the wrong journal, which may correct it for those that follow. */
const firstCalls = ["ADD", "DEL", "GC", "CHECK"] as const;

type First = (typeof firstCalls)[number];

async function attemptWith(
  context: Context,
  { name, spoil, misleads }: JournalDebris,
  first: First,
): Promise<Attempt> {
  const network = new WatchedNetwork(context);
  const verifier = new Verifier();
  for (const containerId of ["other", "victim"]) await network.do("ADD", containerId);
  await network.do("DEL", "nobody");
  const keepsJournal = ensureJournal(network);
  spoil(network);
  const foreign = foreignFiles(network).flatMap(stateOf);

  if (first === "CHECK") await check(network, verifier);
  if (first === "GC") {
    requireSuccess(verifier, await network.do("GC"), "GC");
    requireNothing(network, verifier, "victim", "other");
  } else {
    if (first === "ADD") await add(network, verifier, misleads);
    await requireDeletion(network, verifier, "nobody");
    await requireDeletion(network, verifier, "victim");
    requireSuccess(verifier, await network.do("STATUS"), "STATUS of a network with room");
    const others = network.heldBy("other").length;
    verifier.require(others === 2, "double", `another is left with ${others} addresses`);
    await requireDeletion(network, verifier, "third");
    await requireDeletion(network, verifier, "other");
  }
  await requireRoom(network, verifier, misleads);
  const touched = changesBetween(foreign, foreignFiles(network).flatMap(stateOf));
  verifier.require(touched === "", "escaped", `foreign files: ${touched}`);
  const old = keepsJournal ? oldIndexOf(network).join(" ") : "";
  verifier.require(old === "", "leak", `of the index of version 1.0.0, ${old} is left`);
  return { what: `${name}, met by ${first}`, violations: verifier.violations };
}

/**
 * The Go plugin, and a portable executable whose lock is another, meet a journal that others could have left.
 *
 * @returns whether the executable keeps a journal
 */
function ensureJournal(network: WatchedNetwork): boolean {
  if (existsSync(journalOf(network))) {
    const expected = sealed(network, linesOf(network), { renewed: "" }).slice(0, 150).trimEnd();
    if (readFileSync(journalOf(network), "utf8").startsWith(expected)) return true;
    throw new Error("The journal does not have the form that it is given here.");
  }
  if (network.subject.name === "native") throw new Error("It keeps no journal.");
  mkdirSync(network.ownPath(""), { recursive: true });
  const held = ["other", "victim"].flatMap((containerId) =>
    network.heldBy(containerId).map((address) => `${containerId} eth0 ${address}`),
  );
  writeJournal(network, sealed(network, [...held, "nobody eth0"]));
  return false;
}

/** Every address can be had, once; a full network is known for full, an empty one for empty. */
async function requireRoom(
  network: WatchedNetwork,
  verifier: Verifier,
  misleads: JournalDebris["misleads"],
): Promise<void> {
  const late = ["late-1", "late-2", "late-3"];
  const granted: string[] = [];
  for (const containerId of late) {
    const outcome = await network.do("ADD", containerId);
    requireSuccess(verifier, outcome, `ADD ${containerId}`, "leak");
    granted.push(...grantedAddresses(outcome));
  }
  verifier.require(new Set(granted).size === granted.length, "double", granted.join(" "));
  await requireFull(network, verifier, misleads);
  for (const containerId of late) await requireDeletion(network, verifier, containerId);
  const left = network.reserved().join(" ");
  verifier.require(left === "", "leak", `${left} is left`);
  requireSuccess(verifier, await network.do("STATUS"), "STATUS of an empty network");
}

async function requireFull(
  network: WatchedNetwork,
  verifier: Verifier,
  misleads: JournalDebris["misleads"],
): Promise<void> {
  const status = async (when: string): Promise<void> => {
    if (network.subject.name === "Go") return;
    requireFailure(verifier, await network.do("STATUS"), `STATUS ${when}`, "50 ", FULL);
  };
  if (misleads !== "STATUS") await status("of a full network");
  requireFailure(verifier, await network.do("ADD", "beyond"), "ADD beyond", FULL);
  await status("after an ADD has failed");
}

async function check(network: WatchedNetwork, verifier: Verifier): Promise<void> {
  const before = stateOf(network.directory);
  for (const containerId of ["other", "victim"]) {
    requireSuccess(verifier, await network.do("CHECK", containerId), `CHECK ${containerId}`);
  }
  requireFailure(verifier, await network.do("CHECK", "nobody"), "CHECK of none", "nobody");
  requireSuccess(verifier, await network.do("STATUS"), "STATUS of a network with room");
  const changes = changesBetween(before, stateOf(network.directory));
  verifier.require(changes === "", "torn", `CHECK and STATUS change ${changes}`);
}

/** One attachment more than there is room for, and one that has its address. */
async function add(
  network: WatchedNetwork,
  verifier: Verifier,
  misleads: JournalDebris["misleads"],
): Promise<void> {
  if (misleads !== "ADD") {
    requireFailure(verifier, await network.do("ADD", "victim"), "a second ADD", "duplicate");
  }
  const third = await network.do("ADD", "third");
  requireSuccess(verifier, third, "ADD");
  const granted = grantedAddresses(third).join(" ");
  const isRight = third.exitCode !== 0 || granted === "10.0.0.4 2001:db8::4";
  verifier.require(isRight, "double", `ADD got ${granted}`);
  await requireFull(network, verifier, misleads);
}

async function requireDeletion(
  network: WatchedNetwork,
  verifier: Verifier,
  containerId: string,
): Promise<void> {
  requireSuccess(verifier, await network.do("DEL", containerId), `DEL ${containerId}`);
  requireNothing(network, verifier, containerId);
}

function requireNothing(
  network: WatchedNetwork,
  verifier: Verifier,
  ...containerIds: readonly string[]
): void {
  const left = containerIds.flatMap((containerId) => network.heldBy(containerId)).join(" ");
  verifier.require(left === "", "leak", `${left} of ${containerIds.join(" ")} is left`);
}

/** In all but an exhaustive run, each piece is met by one kind of call, in turn. */
function pairsOf(context: Context): readonly (readonly [JournalDebris, First])[] {
  // The GC of the Go plugin does nothing, whatever is there.
  const calls = firstCalls.filter((first) => first !== "GC" || context.subject.name !== "Go");
  const pairs = journalDebris.flatMap((debris, at) =>
    calls
      .filter((_, call) => context.extent === "exhaustive" || call === at % calls.length)
      .map((first) => [debris, first] as const),
  );
  return sampleOf(context, pairs);
}

export const wrongJournalScenarios: readonly Scenario[] = [
  {
    fault:
      "a journal that is missing, corrupt, foreign, wrong, or an older copy; the index of version 1.0.0",
    promise: "every verb answers according to the reservations, and no foreign file is touched",
    attempt: (context) =>
      sideBySide(pairsOf(context), 3, ([debris, first]) => attemptWith(context, debris, first)),
  },
];
