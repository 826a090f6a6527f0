/** Data directories in which nothing can be written: calls fail, say where and why, and change nothing. */

import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { Mounts, mountObstacle } from "../../harness/mounts.ts";
import { isRoot } from "../../harness/unprivileged.ts";
import { requireFailure } from "./answers.ts";
import { FaultNetwork } from "./network.ts";
import { longPath } from "./odd-places.ts";
import { allOf, type Case, type Context, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** A place for a data directory. */
interface Place extends Case {
  readonly directory: string;
  readonly cause: string;
  readonly isUnprivileged?: true;
}

/** Where nothing can be written from a moment on. */
interface Closing extends Place {
  /** Sets it up, and returns the function that removes it. */
  readonly close: () => () => void;
  /** Whether the reservations can still be read. */
  readonly isReadable: boolean;
}

/** Where a data directory cannot be made. */
interface Blocked extends Place {
  /** What the error names. */
  readonly path: string;
  /** In which no file may be made. */
  readonly scratch: string;
}

/** All verbs while nothing can be written, and what they do afterwards. */
async function meetClosed(trial: Trial, place: Closing): Promise<void> {
  const { directory, cause, close, isReadable } = place;
  const network = new FaultNetwork(trial, place);
  await network.mustWork("ADD", "other");
  await network.mustWork("ADD", "victim");
  const open = close();
  if (isReadable) await network.mustWork("CHECK", "victim");
  await network.mustFail("ADD", "new", directory, cause);
  await network.mustFail("STATUS", "", "50 ", directory, cause);
  await network.mustFail("DEL", "victim", directory, cause);
  // Who may not look at the processes of others releases nothing.
  if (place.isUnprivileged !== true) {
    const collected = await network.do("GC", "", { alive: ["other"] });
    requireFailure(trial.verifier, collected, "GC", directory, cause);
  }
  open();
  network.mustHold("victim", ["10.0.0.3", "2001:db8::3"]);
  await network.mustRecover();
}

async function frozen({ teardown }: Context): Promise<readonly Closing[]> {
  const mounts = await Mounts.open(teardown);
  return ["", "net"].map((path, at) => {
    mkdirSync(mounts.at(`${at}`));
    return {
      what: `${path || "data directory"} on a read-only mount`,
      directory: mounts.at(`${at}`),
      cause: "read-only file system",
      close: () => {
        mounts.freeze(join(`${at}`, path));
        return () => mounts.thaw(join(`${at}`, path));
      },
      isReadable: true,
    };
  });
}

/** Another user's directories. */
function closed(context: Context): readonly Closing[] {
  const modes = [
    { path: "net", mode: 0o755 },
    { path: "net", mode: 0o700 },
    { path: "", mode: 0o700 },
  ];
  return modes.map(({ path, mode }) => {
    const directory = scratchDirectory(context);
    mkdirSync(join(directory, "net"));
    for (const open of ["", "net"]) chmodSync(join(directory, open), 0o777);
    return {
      what: `${path || "data directory"} another user's, mode 0${mode.toString(8)}`,
      directory,
      cause: "permission denied",
      isUnprivileged: true,
      close: () => {
        // The reservations stay readable, the directories do not stay writable.
        chmodSync(join(directory, path), mode);
        return () => chmodSync(join(directory, path), 0o777);
      },
      isReadable: mode === 0o755,
    };
  });
}

/** One call each into a data directory that cannot be made; none of them makes a file, or crashes. */
async function meetBlocked(trial: Trial, place: Blocked): Promise<void> {
  const { path, cause, scratch } = place;
  const { verifier } = trial;
  const before = filesIn(scratch);
  const network = new FaultNetwork(trial, place);
  await network.mustFail("ADD", "new", path, cause);
  await network.mustFail("STATUS", "", "50 ", path, cause);
  for (const verb of ["DEL", "GC"] as const) {
    const ending = await network.do(verb, "new", { alive: ["other"] });
    if (ending.exitCode !== 0) requireFailure(verifier, ending, verb, path);
  }
  const made = filesIn(scratch).filter((one) => !before.includes(one));
  verifier.require(made.length === 0, "leak", `made: ${made.join(" ")}`);
}

/** All files except directories, which a call may make. */
function filesIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
}

const NOT_A_DIRECTORY = "not a directory";
const TOO_LONG = "file name too long";

/** Puts a file or a link at a path below the directory. */
type Put = (at: (path: string) => string) => void;

const file: (path: string, mode?: number) => Put = (path, mode) => (at) =>
  writeFileSync(at(path), "", { mode });
const link: (path: string, target: string) => Put = (path, target) => (at) =>
  symlinkSync(at(target), at(path));
const nothing: Put = () => {};

/** What the data directory is; what is in its way; its path, that in the error, and the cause. */
const ways: readonly (readonly [
  what: string,
  put: Put,
  directory: string,
  path: string,
  cause: string,
])[] = [
  ["a file", file("file"), "file", "file", NOT_A_DIRECTORY],
  ["an executable file", file("file", 0o755), "file", "", NOT_A_DIRECTORY],
  ["below a file", file("file"), "file/a/b", "file", NOT_A_DIRECTORY],
  ["with a file as network", file("net"), "", "", NOT_A_DIRECTORY],
  ["with an executable file as network", file("net", 0o755), "", "", NOT_A_DIRECTORY],
  ["a link to nothing", link("link", "nowhere"), "link", "link", ""],
  ["a link to itself", link("link", "link"), "link", "link", ""],
  ["with a link to nothing as network", link("net", "nowhere"), "", "", ""],
  ["with a name of 256 bytes", nothing, "a".repeat(256), "", TOO_LONG],
  ["at a path of more than 4200 bytes", nothing, longPath("", 4200), "", TOO_LONG],
];

function blocked(context: Context): readonly Blocked[] {
  return ways.map(([what, put, directory, path, cause]) => {
    const scratch = scratchDirectory(context);
    const at = (name: string): string => join(scratch, name);
    put(at);
    return {
      what: `data directory ${what}`,
      directory: at(directory),
      path: at(path),
      cause,
      scratch,
    };
  });
}

/** A missing data directory in another user's directory, and in one on a read-only mount. */
async function missing(context: Context): Promise<readonly Blocked[]> {
  const foreign = scratchDirectory(context);
  const mounts = await Mounts.open(context.teardown);
  mkdirSync(mounts.at("frozen"));
  mounts.freeze("frozen");
  const at = (scratch: string) => ({ scratch, path: scratch, directory: join(scratch, "data") });
  return [
    {
      what: "in another user's directory",
      ...at(foreign),
      cause: "permission denied",
      isUnprivileged: true,
    },
    { what: "on a read-only mount", ...at(mounts.at("frozen")), cause: "read-only file system" },
  ];
}

const closedPromise =
  "ADD fails and STATUS says code 50, each with path and cause; CHECK answers; DEL and GC say that they could not free, and do afterwards";

const blockedPromise =
  "ADD fails and STATUS says code 50, each with path and cause; no file is made";

export const refusedDiskScenarios: readonly Scenario[] = [
  {
    fault: "read-only disk",
    promise: closedPromise,
    obstacle: mountObstacle,
    attempt: eachOf(frozen, meetClosed),
  },
  {
    fault: "no permission",
    promise: closedPromise,
    obstacle: () => (isRoot ? undefined : "Acting as another user needs root."),
    attempt: eachOf(closed, meetClosed, { some: allOf }),
  },
  {
    fault: "data directory that cannot be made: a file, a broken link, too long a path",
    promise: blockedPromise,
    attempt: eachOf(blocked, meetBlocked),
  },
  {
    fault: "data directory missing where nothing can be made",
    promise: blockedPromise,
    obstacle: mountObstacle,
    attempt: eachOf(missing, meetBlocked),
  },
];
