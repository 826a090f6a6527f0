/** Every file of ours × every damage in its place × the verb that meets it first. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { lacking } from "../../harness/needs.ts";
import { bindsCalls, handOver } from "../../harness/unprivileged.ts";
import { requireSuccess } from "./answers.ts";
import {
  age,
  type Damage,
  damages,
  FOREIGN,
  GHOST,
  halfReservations,
  putDated,
} from "./corrupt-file.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { FaultNetwork } from "./network.ts";
import type { Ending } from "./running-call.ts";
import { type Case, type Context, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** The verbs that may meet the damage first: they leave different files. */
const verbs = ["ADD", "DEL", "GC", "CHECK"] as const;

type FirstCall = (typeof verbs)[number];

/** A network in which `other` and `victim` have addresses, and something is wrong. */
interface Corruption extends Case {
  /** Spoils it, and returns the paths that are wrong. */
  readonly spoil: (
    network: FaultNetwork,
    foreign: string,
  ) => readonly string[] | Promise<readonly string[]>;
  /** The calls that keep the wrong files, and those that remove them; others may do either. */
  readonly keptBy?: readonly FirstCall[];
  readonly goneBy?: readonly FirstCall[];
  /** How many ADDs there is room for. */
  readonly room?: number;
  /** Whether ADD and GC may also fail, at once. */
  readonly mayFail?: boolean;
  /** Whether the caller is a user to whom permissions apply, and who therefore cannot read the file. */
  readonly isClosed?: boolean;
}

/** The victim's addresses: the middle one of each range set. */
const reservations = ["198.51.100.3", "2001:db8::3"];

const ofReservations = [...halfReservations, ...damages].map(
  ({ what, put, becomes, isClosed }): Corruption => ({
    what: `a reservation is ${what}`,
    spoil: async (network, foreign) => {
      await network.mustRelease("victim");
      const paths = reservations.map((name) => network.path(name));
      for (const path of paths) put(path, foreign);
      return paths;
    },
    keptBy: verbs.filter((verb) => verb !== { free: "ADD", stale: "GC", kept: "" }[becomes]),
    goneBy: becomes === "stale" ? ["GC"] : [],
    room: becomes === "free" ? 2 : 1,
    isClosed: isClosed ?? false,
  }),
);

/** The paths of our other files, below the data directory. */
const places = [
  ...["net/last_reserved_ip.0", "net/last_reserved_ip.1", "net/lock", ".host-local"],
  ...[".host-local/net", ".host-local/net/new", ".host-local/net/journal", ".host-local/net/lock"],
];

const inPlaces = places.flatMap((place) =>
  damages.map(
    (damage): Corruption => ({
      what: `${place} is ${damage.what}`,
      spoil: (network, foreign) => [replace(network, foreign, place, damage)],
      mayFail: !(damage.isOverwritten && place.includes("last_reserved_ip")),
    }),
  ),
);

function replace(network: FaultNetwork, foreign: string, place: string, { put }: Damage): string {
  const path = join(network.directory, place);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true });
  put(path, foreign);
  return path;
}

/** Puts a copy back after the victim's addresses have become those of `late`. */
function putBack(copy: string, restore: string): Corruption["spoil"] {
  return async (network) => {
    const shell = (script: string): void => {
      execFileSync("sh", ["-ec", script], { cwd: network.directory, stdio: "ignore" });
    };
    shell(copy);
    await network.mustRelease("victim");
    await network.mustWork("ADD", "late");
    shell(restore);
    return [];
  };
}

const copyAll = "mkdir -p .host-local; cp -a . ../copy-$$ && mv ../copy-$$ copy";

const ofJournals: readonly Corruption[] = [
  { what: "the journal is gone", spoil: removing("net/journal") },
  { what: ".host-local is gone", spoil: removing("") },
  {
    what: "the journal is cut off within a line",
    spoil: (network) => {
      if (existsSync(network.ownPath("journal"))) {
        truncateSync(network.ownPath("journal"), statSync(network.ownPath("journal")).size - 7);
      }
      return [];
    },
  },
  {
    what: "the journal is an older one",
    spoil: putBack(copyAll, "rm -rf .host-local && mv copy/.host-local . && rm -r copy"),
  },
  {
    what: "the data directory is an older copy with its times, by cp in place",
    spoil: putBack(copyAll, "rm net/* && cp -a copy/net copy/.host-local . && rm -r copy"),
  },
  {
    what: "the data directory is an older copy with its times, by mv",
    spoil: putBack(
      copyAll,
      "rm -r net .host-local && mv copy/net copy/.host-local . && rm -r copy",
    ),
  },
  {
    what: "the data directory is an older copy with its times, by tar",
    spoil: putBack(
      "mkdir -p .host-local; tar -cf copy.tar --format=posix net .host-local",
      "rm -r net .host-local && tar -xf copy.tar && rm copy.tar",
    ),
  },
  {
    what: "the reservations are older copies with their times, and the journal is not",
    spoil: putBack("cp -a net copy", "rm net/* && cp -a copy/. net && rm -r copy"),
  },
];

function removing(path: string): Corruption["spoil"] {
  return (network) => {
    rmSync(join(network.ownPath(".."), path), { recursive: true, force: true });
    return [];
  };
}

/** Ages in seconds; the files of killed calls are removed once they are a minute old. */
const ABANDONED = 61;
const JUST_NOW = 0;
const TOMORROW = -86_400;
const LONG_AGO = 1e9;

/** Puts files beside ours. */
function putting(seconds: number, ...names: readonly string[]): Corruption["spoil"] {
  return (network) => {
    mkdirSync(network.ownPath("new"), { recursive: true });
    const paths = names.map((name) => join(network.directory, name));
    for (const [at, path] of paths.entries()) putDated(path, GHOST.slice(6 * at), seconds);
    readAnew(network);
    return paths;
  };
}

/** Makes the network look as after a foreign write: the next call reads everything, and only such a call removes leftovers. */
function readAnew(network: FaultNetwork): void {
  utimesSync(network.path(""), 1, 1);
}

const temporary = [".host-local/net/new/4194303-0", ".host-local/net/new/4194303-1"];

const leftovers: readonly Corruption[] = [
  {
    what: "old ones, whole and cut off",
    spoil: putting(ABANDONED, ...temporary),
    goneBy: ["ADD", "GC"],
  },
  {
    what: "old ones beside the reservations",
    spoil: putting(ABANDONED, "net/.host-local-4194303-0", "net/.host-local-4194303-1"),
    goneBy: ["GC"],
  },
  {
    what: "an old one that is a living reservation under its first name",
    spoil: (network) => {
      mkdirSync(network.ownPath("new"), { recursive: true });
      const path = network.ownPath("new/4194303-0");
      linkSync(network.path("198.51.100.2"), path);
      age(path, ABANDONED);
      readAnew(network);
      return [path];
    },
    goneBy: ["ADD", "GC"],
  },
  { what: "young ones", spoil: putting(JUST_NOW, ...temporary), keptBy: verbs },
  { what: "ones dated a day ahead", spoil: putting(TOMORROW, ...temporary), keptBy: verbs },
  {
    what: "files of others among them",
    spoil: putting(
      ABANDONED,
      ...[".host-local/net/new/notes", ".host-local/net/new/1-0.bak"],
      ...["net/.host-local-notes", "net/.hidden"],
    ),
    keptBy: verbs,
  },
];

type Meeting = Corruption & { readonly first: FirstCall };

const foreignFiles = { [FOREIGN.old]: "198.51.100.3", [FOREIGN.ghost]: GHOST, [FOREIGN.empty]: "" };

async function meet(trial: Trial, meeting: Meeting): Promise<void> {
  const { spoil, first, keptBy = [], goneBy = [], isClosed = false } = meeting;
  const { verifier, subject } = trial;
  const network = new FaultNetwork(trial, { isUnprivileged: isClosed });
  if (isClosed) for (const path of [network.directory, network.path("")]) handOver(path);
  const foreign = join(network.directory, "foreign");
  mkdirSync(foreign);
  for (const [name, content] of Object.entries(foreignFiles)) {
    putDated(join(foreign, name), content, LONG_AGO);
  }
  for (const id of ["other", "victim"]) await network.do("ADD", id);
  const paths = await spoil(network, foreign);
  const [before, others] = [paths.flatMap(stateOf), stateOf(foreign)];

  await call(trial, network, meeting);
  const after = paths.flatMap(stateOf);
  const changes = changesBetween(before, after);
  if (keptBy.includes(first)) verifier.require(changes === "", "torn", `${first}: ${changes}`);
  // The Go plugin makes no such files, and need not know them.
  const isGone = goneBy.includes(first) && subject.name !== "Go";
  if (isGone) verifier.require(after.length === 0, "leak", `${first} leaves ${after}`);
  await network.mustWork("CHECK", "other");
  await network.mustRelease("nobody", "victim", "late");
  // Whichever call met it first, an ADD and a GC that read everything meet it, too.
  if (meeting.mayFail !== undefined) {
    readAnew(network);
    await network.mayAdd("third", network.directory);
    await network.do("GC", "", { alive: ["other", "third"] });
    await network.mustRelease("third");
  }
  const touched = changesBetween(others, stateOf(foreign));
  verifier.require(touched === "", "escaped", `foreign files: ${touched}`);

  for (const path of paths) rmSync(path, { recursive: true, force: true });
  await network.mustRelease("other");
  const last = await network.fill("last", 3);
  await network.mustRelease(...last.keys());
  network.mustBeEmpty();
}

/** The first call; its answer follows the reservations. */
async function call(trial: Trial, network: FaultNetwork, meeting: Meeting): Promise<void> {
  const { first, mayFail, room = 1, isClosed } = meeting;
  const holders = ["other", "victim", "late"];
  if (first === "DEL") await network.mustRelease("nobody", "victim", "late");
  else if (first === "CHECK") {
    await network.mustNotChange("CHECK and STATUS", async () => {
      for (const id of holders) {
        if (network.heldBy(id).length > 0) await network.mustWork("CHECK", id);
        else await network.mustFail("CHECK", id, id);
      }
      await tellRoom(network, meeting);
    });
  } else if (first === "GC") {
    await tellRoom(network, meeting);
    const ending = await collected(network, isClosed ? 0 : LONGEST_DOUBT);
    if (mayFail) return;
    requireSuccess(trial.verifier, ending, "GC");
    // A user to whom permissions apply may not look at the processes of others, so GC releases nothing.
    if (!isClosed) network.mustHoldNothing("leak", "victim", "late");
    const isNamed = reservations.every((name) => ending.stderr.includes(network.path(name)));
    trial.verifier.require(isNamed || !isClosed, "mute", `GC said: ${ending.stderr}`);
  } else if (mayFail) {
    await network.mayAdd("third", network.directory);
    await network.mustRelease("third");
  } else {
    const filled = await network.fill("third", room);
    await network.mustRelease(...filled.keys());
  }
}

/** How long another test on this machine may keep a GC from seeing everything, in milliseconds. */
const LONGEST_DOUBT = 10_000;

/** Repeats GC while it keeps anything, for at most this many milliseconds. */
async function collected(network: FaultNetwork, longest: number): Promise<Ending> {
  const end = Date.now() + longest;
  let ending: Ending;
  do ending = await network.do("GC", "", { alive: ["other"] });
  while (ending.stderr.includes("GC kept") && Date.now() < end);
  return ending;
}

async function tellRoom(network: FaultNetwork, { mayFail }: Meeting): Promise<void> {
  if (mayFail) await network.mayTell(network.directory);
  else await network.mustTell("room");
}

/** The corruptions with the calls that meet them: an exhaustive run has all calls, others one call each, in turn. */
function tried(
  corruptions: readonly Corruption[],
  calls: readonly FirstCall[] = verbs,
): Scenario["attempt"] {
  const meetings = ({ subject, extent }: Context): readonly Meeting[] => {
    // The Go plugin's GC never does anything, and ours does nothing if it does not see what lives.
    const isIdle = (first: FirstCall): boolean =>
      first === "GC" && (subject.name === "Go" || lacking("sees the node") !== false);
    const able = calls.length === 1 ? calls : calls.filter((first) => !isIdle(first));
    const possible = corruptions.filter(({ isClosed = false }) => !isClosed || bindsCalls());
    return possible.flatMap((corruption, at) =>
      able
        .filter((_, call) => extent === "exhaustive" || call === turnOf(at, able.length))
        .map((first) => ({ ...corruption, first, what: `${corruption.what}, met by ${first}` })),
    );
  };
  return eachOf(meetings, meet);
}

/** The call whose turn it is. It moves on with each round, so that an even number of damages meets each call, too. */
function turnOf(at: number, calls: number): number {
  return (at + Math.floor(at / calls)) % calls;
}

export const corruptFileScenarios: readonly Scenario[] = [
  {
    fault:
      "anything but a reservation where one would be: a file that is empty, cut off, garbage, huge or unreadable, or a directory, link, FIFO or socket",
    promise:
      "ADD, CHECK and DEL work beside it. Only a blank file that is ten seconds old is replaced, when no other address is left. Everything else stays",
    attempt: tried(ofReservations, ["ADD"]),
  },
  {
    fault: "the same, before GC and STATUS",
    promise:
      "STATUS agrees with ADD. GC frees all reservations of dead containers, leaves files that name none, and names those that it cannot read",
    obstacle: () => lacking("sees the node") || undefined,
    attempt: tried(ofReservations, ["GC"]),
  },
  {
    fault: "a journal that is missing, cut off, or an older copy",
    promise: "every verb answers according to the reservations, and no foreign file is touched",
    attempt: tried(ofJournals),
  },
  {
    fault:
      "a file, directory, link or FIFO where a cursor, the lock, the journal or temporary files belong",
    promise:
      "CHECK and DEL work. ADD works, or fails at once, says where and keeps nothing. After its removal everything works. Nothing is written through a link",
    attempt: tried(inPlaces),
  },
  {
    fault: "temporary files left by killed calls, beside those of others",
    promise:
      "they disturb no call, hold no address, and are removed once they are a minute old, by the next call that reads all files. Those of others stay",
    attempt: tried(leftovers, ["ADD", "GC"]),
  },
];
