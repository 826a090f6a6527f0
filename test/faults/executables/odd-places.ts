/** Data directories in unusual places, which must work. */

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ownDirectory, scratchDirectory } from "../../harness/data-directory.ts";
import { Mounts, mountObstacle } from "../../harness/mounts.ts";
import { handOver, isRoot } from "../../harness/unprivileged.ts";
import { type Leave, leaveInodes, leavePages } from "./full-disk.ts";
import { FaultNetwork } from "./network.ts";
import { type Case, eachOf, type Scenario, type Trial } from "./scenario.ts";

/** A place for a data directory below `Ground`; `prepare` creates it and returns its path. */
interface Place<Ground> extends Case {
  readonly prepare: (ground: Ground) => string;
}

/** A directory of a mount namespace, by its name there. */
interface Mountable {
  readonly mounts: Mounts;
  readonly name: string;
}

/** A file system at `path` below the data directory. */
function mounted(path: string): Place<Mountable>["prepare"] {
  return ({ mounts, name }) => {
    mounts.memory(join(name, "data", path), "size=1m");
    return mounts.at(join(name, "data"));
  };
}

/** Our own directory on a file system of its own, on which nothing is left. */
function starved(leave: Leave): Place<Mountable>["prepare"] {
  return ({ mounts, name }) => {
    leave(mounts.memory(join(name, "data", ownDirectory), "size=64k,nr_inodes=20"), 0);
    return mounts.at(join(name, "data"));
  };
}

const mountedPlaces: readonly Place<Mountable>[] = [
  { what: "data directory on a file system of its own", prepare: mounted("") },
  { what: "network's directory on another file system", prepare: mounted("net") },
  { what: ".host-local on another file system", prepare: mounted(ownDirectory) },
  { what: ".host-local/net on another file system", prepare: mounted(`${ownDirectory}/net`) },
  { what: ".host-local on a full file system", prepare: starved(leavePages) },
  { what: ".host-local on a file system without inodes", prepare: starved(leaveInodes) },
  {
    what: ".host-local read-only",
    prepare: ({ mounts, name }) => {
      mkdirSync(mounts.at(join(name, "data", ownDirectory)), { recursive: true });
      mounts.freeze(join(name, "data", ownDirectory));
      return mounts.at(join(name, "data"));
    },
  },
  {
    what: "network's directory a link to another file system",
    prepare: ({ mounts, name }) => {
      const data = mounts.at(join(name, "data"));
      mounts.memory(join(name, "other"), "size=1m");
      mkdirSync(data);
      symlinkSync("../other", join(data, "net"));
      return data;
    },
  },
];

/** A link at `path`, in the scratch directory, to a directory that is there. */
function linked(path: string): Place<string>["prepare"] {
  return (scratch) => {
    mkdirSync(join(scratch, "elsewhere"));
    mkdirSync(dirname(join(scratch, path)), { recursive: true });
    symlinkSync(join(scratch, "elsewhere"), join(scratch, path));
    return join(scratch, "data");
  };
}

/** A file at `path`. */
function withFile(path: string): Place<string>["prepare"] {
  return (scratch) => {
    mkdirSync(dirname(join(scratch, path)), { recursive: true });
    writeFileSync(join(scratch, path), "");
    return scratch;
  };
}

/** A path of `length` bytes, of long names. */
export function longPath(start: string, length: number): string {
  let path = start;
  while (path.length < length) {
    const left = length - path.length - 1;
    path += `/${"a".repeat(left > 201 ? 200 : left)}`;
  }
  return path;
}

const plainPlaces: readonly Place<string>[] = [
  {
    what: "data directory missing, with its parents",
    prepare: (scratch) => join(scratch, "a/b/c"),
  },
  { what: "data directory a link", prepare: linked("data") },
  { what: "network's directory a link", prepare: linked("data/net") },
  {
    what: "data directory's path of 4000 bytes",
    prepare: (scratch) => longPath(scratch, 4000),
  },
  {
    what: "data directory's path of 4060 bytes",
    prepare: (scratch) => longPath(scratch, 4060),
  },
  { what: ".host-local a file", prepare: withFile(ownDirectory) },
  { what: ".host-local/net a file", prepare: withFile(`${ownDirectory}/net`) },
];

/** What a user finds who may write in the network's directory alone. */
const userPlaces: readonly Place<string>[] = [0o755, 0o700].map((mode) => ({
  what: `.host-local another user's, mode 0${mode.toString(8)}`,
  prepare: (scratch) => {
    mkdirSync(join(scratch, ownDirectory, "net"), { recursive: true });
    chmodSync(join(scratch, ownDirectory), mode);
    mkdirSync(join(scratch, "net"));
    handOver(join(scratch, "net"));
    return scratch;
  },
}));

/** The whole life of a network there. */
async function live(trial: Trial, directory: string, isUnprivileged = false): Promise<void> {
  const network = new FaultNetwork(trial, { directory, isUnprivileged });
  await network.mustWork("ADD", "other");
  await network.mustWork("ADD", "victim");
  // The Go plugin's frees what the first one got.
  if (network.subject.name !== "Go") await network.mustFail("ADD", "victim", "duplicate");
  await network.mustWork("CHECK", "victim");
  await network.mustTell("room");
  await network.mustRecover();
}

const promise = "ADD, CHECK, STATUS and DEL work";

export const oddPlacesScenarios: readonly Scenario[] = [
  {
    fault:
      "data directory, or part of it, on another file system, full or read-only where it may be",
    promise,
    obstacle: mountObstacle,
    attempt: eachOf(
      async ({ teardown }) => {
        const mounts = await Mounts.open(teardown);
        return mountedPlaces.map((place, at) => ({ ...place, ground: { mounts, name: `${at}` } }));
      },
      (trial, { prepare, ground }) => {
        mkdirSync(ground.mounts.at(ground.name));
        return live(trial, prepare(ground));
      },
    ),
  },
  {
    fault: "data directory missing, behind a link, at a path of 4000 bytes; .host-local a file",
    promise,
    attempt: eachOf(plainPlaces, (trial, { prepare }) =>
      live(trial, prepare(scratchDirectory(trial))),
    ),
  },
  {
    fault: "only the network's directory belongs to the user",
    promise,
    obstacle: () => (isRoot ? undefined : "Acting as another user needs root."),
    attempt: eachOf(userPlaces, (trial, { prepare }) =>
      live(trial, prepare(scratchDirectory(trial)), true),
    ),
  },
];
