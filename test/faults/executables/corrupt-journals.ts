/** Whatever the journal contains, the answers follow the reservations. */

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { line } from "../../harness/journal-line.ts";
import { type CorruptJournal, corruptJournals, foreignFiles } from "./corrupt-journal.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { journalOf, linesOf, sealed, writeJournal } from "./journal-file.ts";
import { FaultNetwork } from "./network.ts";
import { type Context, eachOf, type Scenario, sampleOf, type Trial } from "./scenario.ts";

/** The first call on the wrong journal, which may correct it for those that follow. */
const firstCalls = ["ADD", "DEL", "GC", "CHECK"] as const;

type Meeting = CorruptJournal & { readonly first: (typeof firstCalls)[number] };

async function meet(trial: Trial, { spoil, first }: Meeting): Promise<void> {
  const network = new FaultNetwork(trial);
  for (const containerId of ["other", "victim"]) await network.do("ADD", containerId);
  await network.do("DEL", "nobody");
  ensureJournal(network);
  spoil(network);
  const foreign = foreignFiles(network).flatMap(stateOf);

  if (first === "CHECK") await network.mustNotChange("CHECK and STATUS", () => check(network));
  if (first === "GC") {
    await network.mustCollect();
    network.mustHoldNothing("leak", "victim", "other");
  } else {
    if (first === "ADD") {
      // One that has its addresses, and one more than there is room for.
      await network.mustFail("ADD", "victim", "duplicate");
      const third = await network.fill("third", 1);
      network.mustHold("third-0", ["10.0.0.4", "2001:db8::4"]);
      await network.mustRelease("nobody", "victim");
      network.mustHold("other", ["10.0.0.2", "2001:db8::2"]);
      await network.mustRelease(...third.keys());
    } else await network.mustRelease("nobody", "victim");
    await network.mustTell("room");
    network.mustHold("other", ["10.0.0.2", "2001:db8::2"]);
    await network.mustRelease("other");
  }
  const late = await network.fill("late", 3);
  await network.mustRelease(...late.keys());
  network.mustBeEmpty();
  await network.mustTell("room");
  const touched = changesBetween(foreign, foreignFiles(network).flatMap(stateOf));
  trial.verifier.require(touched === "", "escaped", `foreign files: ${touched}`);
}

async function check(network: FaultNetwork): Promise<void> {
  for (const containerId of ["other", "victim"]) await network.mustWork("CHECK", containerId);
  await network.mustFail("CHECK", "nobody", "nobody");
  await network.mustTell("room");
}

/** The Go plugin, and a portable executable whose lock is another, meet a journal that others could have left. */
function ensureJournal(network: FaultNetwork): void {
  if (existsSync(journalOf(network))) {
    const expected = sealed(network, linesOf(network), { renewed: "" }).slice(0, 150).trimEnd();
    if (readFileSync(journalOf(network), "utf8").startsWith(expected)) return;
    throw new Error("The journal does not have the form that it is given here.");
  }
  if (network.subject.name === "native") throw new Error("It keeps no journal.");
  mkdirSync(network.ownPath(""), { recursive: true });
  const held = ["other", "victim"].flatMap((containerId) =>
    network.heldBy(containerId).map((address) => line(`${containerId} eth0 ${address}`)),
  );
  writeJournal(network, sealed(network, [...held, line("nobody eth0")]));
}

/** In all but an exhaustive run, each journal is met by one kind of call, in turn. */
function meetings({ subject, extent }: Context): readonly Meeting[] {
  // The GC of the Go plugin does nothing, whatever is there.
  const calls = firstCalls.filter((first) => first !== "GC" || subject.name !== "Go");
  return corruptJournals.flatMap((journal, at) =>
    calls
      .filter((_, call) => extent === "exhaustive" || call === at % calls.length)
      .map((first) => ({ ...journal, first, what: `${journal.what}, met by ${first}` })),
  );
}

export const corruptJournalScenarios: readonly Scenario[] = [
  {
    fault: "a journal that is missing, corrupt, foreign, wrong, or an older copy",
    promise: "every verb answers according to the reservations, and no foreign file is touched",
    attempt: eachOf(meetings, meet, { some: sampleOf }),
  },
];
