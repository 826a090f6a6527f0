/** What killed calls leave behind: temporary files of reservations, of cursors and of the journal. */

import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, utimesSync } from "node:fs";
import { line } from "../../harness/journal-line.ts";
import { requireDistinct } from "./answers.ts";
import { putDated } from "./corrupt-file.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { sealed } from "./journal-file.ts";
import { FaultNetwork } from "./network.ts";
import { type Case, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** Leftover files are removed once they are a minute old. */
const OLD = 61;

interface Leftover extends Case {
  /** Puts it there, and names it. */
  readonly put: (network: FaultNetwork) => readonly string[];
  /** Which verb removes it; `undefined` if none may. */
  readonly sweptBy: "ADD" | "GC" | undefined;
}

function file(path: string, content: string, age: number): string {
  putDated(path, content, age);
  return path;
}

/** How many names are taken: those of the next processes. */
const TAKEN = 400;

/** The number of a process that was started a moment ago. */
function lastProcessId(): number {
  return Number(execFileSync("sh", ["-c", "echo $$"], { encoding: "utf8" }));
}

const ghost = "ghost\r\neth0";

const leftovers: readonly Leftover[] = [
  {
    what: "old ones, whole, empty and cut off",
    put: (network) => [
      file(network.ownPath("new/4194303-0"), ghost, OLD),
      file(network.ownPath("new/4194303-1"), "", OLD),
      file(network.ownPath("new/4194302-0"), "gho", OLD),
    ],
    sweptBy: "ADD",
  },
  {
    what: "an old one, a journal of lies that was never given its name",
    put: (network) => [
      file(network.ownPath("new/4194303-0"), sealed(network, [line("other eth0 -10.0.0.2")]), OLD),
    ],
    sweptBy: "ADD",
  },
  {
    what: "young ones",
    put: (network) => [file(network.ownPath("new/4194303-0"), ghost, 0)],
    sweptBy: undefined,
  },
  {
    what: "ones dated a day ahead",
    put: (network) => [file(network.ownPath("new/4194303-0"), ghost, -86_400)],
    sweptBy: undefined,
  },
  {
    what: "an old one that is a living reservation under its first name",
    put: (network) => {
      const path = network.ownPath("new/4194303-0");
      linkSync(network.path("10.0.0.2"), path);
      utimesSync(path, Date.now() / 1000 - OLD, Date.now() / 1000 - OLD);
      return [path];
    },
    sweptBy: "ADD",
  },
  {
    what: "old ones beside the reservations",
    put: (network) => [
      file(network.path(".host-local-4194303-0"), ghost, OLD),
      file(network.path(".host-local-4194303-1"), "", OLD),
    ],
    sweptBy: "GC",
  },
  {
    what: "files of others among them",
    put: (network) => [
      file(network.ownPath("new/notes"), "", OLD),
      file(network.ownPath("new/1-0.bak"), "", OLD),
      file(network.path(".host-local-notes"), "", OLD),
      file(network.path(".hidden"), ghost, OLD),
    ],
    sweptBy: undefined,
  },
  {
    what: "ones with the names that the next calls want",
    put: (network) => {
      const first = lastProcessId() + 1;
      const ids = Array.from({ length: TAKEN }, (_, at) => first + at);
      return ids.map((id) => file(network.ownPath(`new/${id}-0`), ghost, 0)).slice(-1);
    },
    sweptBy: undefined,
  },
];

async function attempt(trial: Trial, { put, sweptBy }: Leftover): Promise<void> {
  const { verifier, subject } = trial;
  const network = new FaultNetwork(trial);
  await network.do("ADD", "other");
  mkdirSync(network.ownPath("new"), { recursive: true });
  const paths = put(network);
  const before = paths.flatMap(stateOf);
  // As after a foreign write: the next call reads everything, and only such a one removes leftovers.
  utimesSync(network.path(""), 1, 1);
  const verifySweep = (verb: "ADD" | "GC"): void => {
    const after = paths.flatMap(stateOf);
    const changes = changesBetween(before, after);
    // The Go plugin makes none of these, and need not know them.
    const isExpected = sweptBy === verb && subject.name !== "Go";
    if (isExpected) verifier.require(after.length === 0, "leak", `${verb} leaves ${after}`);
    if (sweptBy === undefined) verifier.require(changes === "", "torn", `${verb}: ${changes}`);
  };

  const granted = await network.mustWork("ADD", "victim");
  verifySweep("ADD");
  await network.mustWork("CHECK", "other");
  granted.push(...(await network.mustWork("ADD", "third")));
  requireDistinct(verifier, [...granted, ...network.heldBy("other")]);
  await network.mustRelease("victim", "third");
  network.mustHold("other", ["10.0.0.2", "2001:db8::2"]);
  await network.mustCollect();
  verifySweep("GC");
}

export const leftoverScenarios: readonly Scenario[] = [
  {
    fault: "temporary files left by killed calls, beside those of others",
    promise:
      "they disturb no call, hold no address, and are removed once they are a minute old, by the next call that reads all files; those of others stay",
    attempt: eachOf(leftovers, attempt),
  },
];
