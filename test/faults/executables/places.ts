/** Data directories in unusual places, which must work, and in places where nothing can be written. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shellQuote } from "../../../src/cli/output/shell-word.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { Mounts } from "../../harness/mounts.ts";
import { lacking } from "../../harness/needs.ts";
import { requireFailure } from "./answers.ts";
import { FaultNetwork } from "./network.ts";
import { allOf, type Case, eachOf, type Scenario, sampleOf, type Trial } from "./scenario.ts";

/** A place for a data directory, which a shell script prepares in an empty directory. */
interface Place extends Case {
  readonly script: string;
  /** The data directory, below that directory; by default that directory itself. */
  readonly directory?: string;
  /** Whether the caller is a user to whom permissions apply. */
  readonly isUnprivileged?: true;
}

/** The ground of a place: an empty directory, and the way to run scripts there. */
interface Ground {
  readonly path: string;
  readonly shell: (script: string) => void;
}

/** Makes an attempt in each place; in a mount namespace if scripts can mount. */
function eachPlace<P extends Place>(
  places: readonly P[],
  attempt: (trial: Trial, place: P, ground: Ground) => Promise<void>,
  isMounting: boolean,
): Scenario["attempt"] {
  return eachOf(
    async ({ teardown }) => {
      const mounts = isMounting ? await Mounts.open(teardown) : undefined;
      return places.map((place, at) => ({ what: place.what, place, at, mounts }));
    },
    (trial, { place, at, mounts }) => {
      const ground = mounts === undefined ? onDisk(trial) : inNamespace(mounts, `${at}`);
      ground.shell(place.script);
      return attempt(trial, place, ground);
    },
    { some: places.length <= FEW ? allOf : sampleOf },
  );
}

function onDisk(trial: Trial): Ground {
  const path = scratchDirectory(trial);
  return { path, shell: (script) => execFileSync("sh", ["-ec", script], { cwd: path }) };
}

function inNamespace(mounts: Mounts, name: string): Ground {
  mkdirSync(mounts.at(name));
  return {
    path: mounts.at(name),
    shell: (script) =>
      mounts.run(["sh", "-ec", `cd ${shellQuote(mounts.within(name))}; ${script}`]),
  };
}

/** How many are tried in a short run. */
const FEW = 3;

const memory = "mount -t tmpfs tmpfs -o mode=755";
const freeze = (path: string): string =>
  `mount --bind ${path} ${path}; mount -o remount,bind,ro ${path}`;

const mountedPlaces: readonly Place[] = [
  { what: "data directory on a file system of its own", script: `${memory},size=1m .` },
  {
    what: "network's directory on another file system",
    script: `mkdir net; ${memory},size=1m net`,
  },
  {
    what: ".host-local on another file system",
    script: `mkdir .host-local; ${memory},size=1m .host-local`,
  },
  {
    what: ".host-local/net on another file system",
    script: `mkdir -p .host-local/net; ${memory},size=1m .host-local/net`,
  },
  {
    what: ".host-local on a full file system",
    script: `mkdir .host-local; ${memory},size=64k .host-local; ! cat /dev/zero >.host-local/filler 2>&1`,
  },
  {
    what: ".host-local on a file system without inodes",
    script: `mkdir .host-local; ${memory},nr_inodes=20 .host-local; ! touch $(seq -f .host-local/%g 20) 2>&1`,
  },
  { what: ".host-local read-only", script: `mkdir .host-local; ${freeze(".host-local")}` },
  {
    what: "network's directory a link to another file system",
    script: `mkdir data other; ${memory},size=1m other; ln -s ../other data/net`,
    directory: "data",
  },
];

/** A path of names of 199 bytes, with this length in all. */
function longPath(length: number): string {
  return "a".repeat(length).replace(/a{200}(?=a)/g, `${"a".repeat(199)}/`);
}

/** The length of the path above it. */
const ABOVE = join(tmpdir(), "host-local-123456/").length;

const plainPlaces: readonly Place[] = [
  { what: "data directory missing, with its parents", script: "", directory: "a/b/c" },
  {
    what: "data directory a link",
    script: "mkdir elsewhere; ln -s elsewhere data",
    directory: "data",
  },
  {
    what: "network's directory a link",
    script: "mkdir elsewhere data; ln -s ../elsewhere data/net",
    directory: "data",
  },
  ...[4000, 4060].map((length) => ({
    what: `data directory's path of ${length} bytes`,
    script: "",
    directory: longPath(length - ABOVE),
  })),
  { what: ".host-local a file", script: "touch .host-local" },
  { what: ".host-local/net a file", script: "mkdir .host-local; touch .host-local/net" },
];

const isUnprivileged = true;

/** The places of a user who may write only in the network's directory. */
const userPlaces: readonly Place[] = ["0755", "0700"].map((mode) => ({
  what: `.host-local another user's, mode ${mode}`,
  script: `mkdir -p .host-local/net net; chmod ${mode} .host-local; chown 65534 net`,
  isUnprivileged,
}));

/** Goes through the whole life of a network in a place. */
async function live(trial: Trial, place: Place, { path }: Ground): Promise<void> {
  const directory = join(path, place.directory ?? "");
  const network = new FaultNetwork(trial, { ...place, directory });
  await network.mustWork("ADD", "other");
  await network.mustWork("ADD", "victim");
  // A second ADD by the Go plugin frees the addresses of the first one.
  if (network.subject.name !== "Go") await network.mustFail("ADD", "victim", "duplicate");
  await network.mustWork("CHECK", "victim");
  await network.mustTell("room");
  await network.mustRecover();
}

/** A place where nothing can be written from some moment on. */
interface Closing extends Place {
  readonly close: string;
  readonly open: string;
  readonly cause: string;
  /** Whether the reservations can no longer be read. */
  readonly isUnreadable?: true;
}

const frozen: readonly Closing[] = [".", "net"].map((path) => ({
  what: `${path === "." ? "data directory" : path} on a read-only mount`,
  script: "mkdir data",
  directory: "data",
  close: `cd data; ${freeze(path)}`,
  open: `umount data/${path}`,
  cause: "read-only file system",
}));

const denied = {
  script: "mkdir net; chmod 777 . net",
  open: "chmod 777 . net",
  cause: "permission denied",
  isUnprivileged,
} as const;

/** Another user's directories. */
const closed: readonly Closing[] = [
  { what: "net another user's, mode 0755", close: "chmod 755 net", ...denied },
  { what: "net another user's, mode 0700", close: "chmod 700 net", ...denied, isUnreadable: true },
  {
    what: "data directory another user's, mode 0700",
    close: "chmod 700 .",
    ...denied,
    isUnreadable: true,
  },
];

/** Makes calls of all verbs while nothing can be written, and again afterwards. */
async function meetClosed(trial: Trial, place: Closing, ground: Ground): Promise<void> {
  const { cause } = place;
  const directory = join(ground.path, place.directory ?? "");
  const network = new FaultNetwork(trial, { ...place, directory });
  await network.mustWork("ADD", "other");
  await network.mustWork("ADD", "victim");
  ground.shell(place.close);
  if (!place.isUnreadable) await network.mustWork("CHECK", "victim");
  await network.mustFail("ADD", "new", directory, cause);
  await network.mustFail("STATUS", "", "50 ", directory, cause);
  await network.mustFail("DEL", "victim", directory, cause);
  // A caller who may not look at the processes of others releases nothing.
  if (!place.isUnprivileged && lacking("sees the node") === false) {
    const collected = await network.do("GC", "", { alive: ["other"] });
    requireFailure(trial.verifier, collected, "GC", directory, cause);
  }
  ground.shell(place.open);
  network.mustHold("victim", ["198.51.100.3", "2001:db8::3"]);
  await network.mustRecover();
}

/** A place where a data directory cannot be made. */
interface Blocked extends Place {
  readonly cause: string;
  /** The path in the error, below the ground. */
  readonly path: string;
}

const NOT_A_DIRECTORY = "not a directory";

/** A place that needs tests that can act as another user. */
const inHome: Blocked = {
  what: "data directory missing in another user's directory",
  script: "",
  directory: "data",
  path: "",
  cause: "permission denied",
  isUnprivileged,
};

/** The kind of data directory, the script that puts something in its way, its path, the path in the error, and the cause. */
const ways: readonly (readonly [what: string, script: string, string, path: string, string])[] = [
  ["a file", "touch file", "file", "file", NOT_A_DIRECTORY],
  ["an executable file", "touch file; chmod 755 file", "file", "", NOT_A_DIRECTORY],
  ["below a file", "touch file", "file/a/b", "file", NOT_A_DIRECTORY],
  ["with a file as network", "touch net", "", "", NOT_A_DIRECTORY],
  ["a link to nothing", "ln -s nowhere link", "link", "link", ""],
  ["a link to itself", "ln -s link link", "link", "link", ""],
  ["with a link to nothing as network", "ln -s nowhere net", "", "", ""],
  ["with a name of 256 bytes", "", "a".repeat(256), "", "file name too long"],
  ["at a path of more than 4200 bytes", "", longPath(4200), "", "file name too long"],
];

const blocked: readonly Blocked[] = [
  ...ways.map(([what, script, directory, path, cause]) => ({
    what: `data directory ${what}`,
    ...{ script, directory, path, cause },
  })),
  ...(lacking("acts as others") === false ? [inHome] : []),
];

const onFrozen: Blocked = {
  what: "on a read-only mount",
  script: freeze("."),
  directory: "data",
  path: "",
  cause: "read-only file system",
};

/** Makes one call of each verb into a data directory that cannot be made; no call may make a file, or crash. */
async function meetBlocked(trial: Trial, place: Blocked, ground: Ground): Promise<void> {
  const { cause, directory = "" } = place;
  const { verifier } = trial;
  const path = join(ground.path, place.path);
  const before = filesIn(ground.path);
  const network = new FaultNetwork(trial, { ...place, directory: join(ground.path, directory) });
  await network.mustFail("ADD", "new", path, cause);
  await network.mustFail("STATUS", "", "50 ", path, cause);
  for (const verb of ["DEL", "GC"] as const) {
    const ending = await network.do(verb, "new", { alive: ["other"] });
    if (ending.exitCode !== 0) requireFailure(verifier, ending, verb, path);
  }
  const made = filesIn(ground.path).filter((file) => !before.includes(file));
  verifier.require(made.length === 0, "leak", `made: ${made.join(" ")}`);
}

/** All files; directories are left out, since a call may make them. */
function filesIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
}

const works = "ADD, CHECK, STATUS and DEL work";

const refuses =
  "ADD fails and STATUS says code 50, each with path and cause. CHECK answers. DEL and GC say that they could not free, and do afterwards";

const makesNothing = "ADD fails and STATUS says code 50, each with path and cause. No file is made";

const mountObstacle = (): string | undefined => lacking("mounts") || undefined;

const userObstacle = (): string | undefined => lacking("acts as others") || undefined;

export const placeScenarios: readonly Scenario[] = [
  {
    fault: "read-only disk",
    promise: refuses,
    obstacle: mountObstacle,
    attempt: eachPlace(frozen, meetClosed, true),
  },
  {
    fault: "no permission",
    promise: refuses,
    obstacle: userObstacle,
    attempt: eachPlace(closed, meetClosed, false),
  },
  {
    fault: "data directory that cannot be made: a file, a broken link, too long a path",
    promise: makesNothing,
    attempt: eachPlace(blocked, meetBlocked, false),
  },
  {
    fault: "data directory missing where nothing can be made",
    promise: makesNothing,
    obstacle: mountObstacle,
    attempt: eachPlace([onFrozen], meetBlocked, true),
  },
  {
    fault:
      "data directory, or part of it, on another file system, full or read-only where it may be",
    promise: works,
    obstacle: mountObstacle,
    attempt: eachPlace(mountedPlaces, live, true),
  },
  {
    fault: "data directory missing, behind a link, at a path of 4000 bytes, or .host-local a file",
    promise: works,
    attempt: eachPlace(plainPlaces, live, false),
  },
  {
    fault: "only the network's directory belongs to the user",
    promise: works,
    obstacle: userObstacle,
    attempt: eachPlace(userPlaces, live, false),
  },
];
