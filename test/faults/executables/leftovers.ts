/** What killed calls leave behind: temporary files of reservations, of cursors and of the journal. */

import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { grantedAddresses } from "../../blackbox/network.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireSuccess } from "./call-requirements.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { sealed } from "./journal-file.ts";
import { shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { WatchedNetwork } from "./watched-network.ts";

/** Leftover files are removed once they are a minute old. */
const OLD = 61;

interface Leftover {
  readonly name: string;
  /** Puts it there, and names it. */
  readonly put: (network: WatchedNetwork) => readonly string[];
  /** Which verb removes it; `undefined` if none may. */
  readonly sweptBy: "ADD" | "GC" | undefined;
}

function file(path: string, content: string, age: number): string {
  writeFileSync(path, content, { mode: 0o600 });
  const then = Date.now() / 1000 - age;
  utimesSync(path, then, then);
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
    name: "old ones, whole, empty and cut off",
    put: (network) => [
      file(network.ownPath("new/4194303.0"), ghost, OLD),
      file(network.ownPath("new/4194303.1"), "", OLD),
      file(network.ownPath("new/4194302.0"), "gho", OLD),
    ],
    sweptBy: "ADD",
  },
  {
    name: "an old one, a journal of lies that was never given its name",
    put: (network) => [
      file(network.ownPath("new/4194303.0"), sealed(network, ["other eth0 -10.0.0.2"]), OLD),
    ],
    sweptBy: "ADD",
  },
  {
    name: "young ones",
    put: (network) => [file(network.ownPath("new/4194303.0"), ghost, 0)],
    sweptBy: undefined,
  },
  {
    name: "ones dated a day ahead",
    put: (network) => [file(network.ownPath("new/4194303.0"), ghost, -86_400)],
    sweptBy: undefined,
  },
  {
    name: "an old one that is a living reservation under its first name",
    put: (network) => {
      const path = network.ownPath("new/4194303.0");
      linkSync(network.path("10.0.0.2"), path);
      utimesSync(path, Date.now() / 1000 - OLD, Date.now() / 1000 - OLD);
      return [path];
    },
    sweptBy: "ADD",
  },
  {
    name: "old ones beside the reservations",
    put: (network) => [
      file(network.path(".host-local-4194303.0"), ghost, OLD),
      file(network.path(".host-local-4194303.1"), "", OLD),
    ],
    sweptBy: "GC",
  },
  {
    name: "files of others among them",
    put: (network) => [
      file(network.ownPath("new/notes"), "", OLD),
      file(network.ownPath("new/1.0.bak"), "", OLD),
      file(network.path(".host-local-notes"), "", OLD),
      file(network.path(".hidden"), ghost, OLD),
    ],
    sweptBy: undefined,
  },
  {
    name: "ones with the names that the next calls want",
    put: (network) => {
      const first = lastProcessId() + 1;
      for (let id = first; id < first + TAKEN; id++) {
        file(network.ownPath(`new/${id}.0`), ghost, 0);
      }
      return [network.ownPath(`new/${first + TAKEN - 1}.0`)];
    },
    sweptBy: undefined,
  },
];

async function attemptWith(context: Context, { name, put, sweptBy }: Leftover): Promise<Attempt> {
  const network = new WatchedNetwork(context);
  const verifier = new Verifier();
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
    const isExpected = sweptBy === verb && context.subject.name !== "Go";
    if (isExpected) verifier.require(after.length === 0, "leak", `${verb} leaves ${after}`);
    if (sweptBy === undefined) verifier.require(changes === "", "torn", `${verb}: ${changes}`);
  };

  const victim = await network.do("ADD", "victim");
  requireSuccess(verifier, victim, "ADD");
  verifySweep("ADD");
  requireSuccess(verifier, await network.do("CHECK", "other"), "CHECK of another");
  const third = await network.do("ADD", "third");
  requireSuccess(verifier, third, "ADD of the last address");
  const granted = [
    ...network.heldBy("other"),
    ...grantedAddresses(victim),
    ...grantedAddresses(third),
  ];
  verifier.require(new Set(granted).size === granted.length, "double", granted.join(" "));
  for (const containerId of ["victim", "third"]) {
    requireSuccess(verifier, await network.do("DEL", containerId), `DEL ${containerId}`);
    verifier.require(network.heldBy(containerId).length === 0, "leak", "DEL leaves addresses");
  }
  const others = network.heldBy("other").length;
  verifier.require(others === 2, "double", `another is left with ${others} addresses`);
  requireSuccess(verifier, await network.do("GC"), "GC");
  verifySweep("GC");
  return { what: name, violations: verifier.violations };
}

export const leftoverScenarios: readonly Scenario[] = [
  {
    fault: "temporary files left by killed calls, beside those of others",
    promise:
      "they disturb no call, hold no address, and are removed once they are a minute old, by the next call that reads all files; those of others stay",
    attempt: (context) =>
      sideBySide(shortSampleOf(context, leftovers), 3, (leftover) =>
        attemptWith(context, leftover),
      ),
  },
];
