/** Data directories in unusual places, which must work. */

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ownDirectory, scratchDirectory } from "../../harness/data-directory.ts";
import type { Call } from "../../harness/executable.ts";
import { Mounts, mountObstacle } from "../../harness/mounts.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { handOver, isRoot, withoutPrivileges } from "../../harness/unprivileged.ts";
import { Verifier } from "../../harness/violations.ts";
import { DualStack, mustWork, verifyRecovery } from "./dual-stack.ts";
import { leaveInodes, leavePages } from "./full-disk.ts";
import { shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";

/** A place for a data directory; `prepare` creates it and returns its path and the user of the calls. */
interface NetworkDirectory<Ground> {
  readonly what: string;
  readonly prepare: (ground: Ground) => {
    readonly dataDir: string;
    readonly as?: Pick<Call, "user">;
  };
}

/** A directory of the namespace, by its name there and by the path from everywhere. */
interface Mountable {
  readonly mounts: Mounts;
  readonly name: string;
}

/** A file system at `path` below the data directory. */
function mounted(path: string): NetworkDirectory<Mountable>["prepare"] {
  return ({ mounts, name }) => {
    mounts.memory(join(name, "data", path), "size=1m");
    return { dataDir: mounts.at(join(name, "data")) };
  };
}

/** Our own directory on a file system of its own, on which nothing is left. */
function starved(leave: typeof leavePages): NetworkDirectory<Mountable>["prepare"] {
  return ({ mounts, name }) => {
    leave(mounts.memory(join(name, "data", ownDirectory), "size=64k,nr_inodes=20"), 0);
    return { dataDir: mounts.at(join(name, "data")) };
  };
}

const mountedPlaces: readonly NetworkDirectory<Mountable>[] = [
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
      return { dataDir: mounts.at(join(name, "data")) };
    },
  },
  {
    what: "network's directory a link to another file system",
    prepare: ({ mounts, name }) => {
      const dataDir = mounts.at(join(name, "data"));
      mounts.memory(join(name, "other"), "size=1m");
      mkdirSync(dataDir);
      symlinkSync("../other", join(dataDir, "net"));
      return { dataDir };
    },
  },
];

/** A link at `path`, in the scratch directory, to a directory that is there. */
function linked(path: string): NetworkDirectory<string>["prepare"] {
  return (scratch) => {
    mkdirSync(join(scratch, "elsewhere"));
    mkdirSync(dirname(join(scratch, path)), { recursive: true });
    symlinkSync(join(scratch, "elsewhere"), join(scratch, path));
    return { dataDir: join(scratch, "data") };
  };
}

/** A missing data directory whose path has `length` bytes. */
function long(length: number): NetworkDirectory<string>["prepare"] {
  return (scratch) => ({ dataDir: longPath(scratch, length) });
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

const plainPlaces: readonly NetworkDirectory<string>[] = [
  {
    what: "data directory missing, with its parents",
    prepare: (scratch) => ({ dataDir: join(scratch, "a/b/c") }),
  },
  { what: "data directory a link", prepare: linked("data") },
  { what: "network's directory a link", prepare: linked("data/net") },
  { what: "data directory's path of 4000 bytes", prepare: long(4000) },
  { what: "data directory's path of 4060 bytes", prepare: long(4060) },
  {
    what: ".host-local a file",
    prepare: (scratch) => {
      writeFileSync(join(scratch, ownDirectory), "");
      return { dataDir: scratch };
    },
  },
  {
    what: ".host-local/net a file",
    prepare: (scratch) => {
      mkdirSync(join(scratch, ownDirectory));
      writeFileSync(join(scratch, ownDirectory, "net"), "");
      return { dataDir: scratch };
    },
  },
];

/** What a user finds who may write in the network's directory alone. */
const userPlaces: readonly NetworkDirectory<string>[] = [0o755, 0o700].map((mode) => ({
  what: `.host-local another user's, mode 0${mode.toString(8)}`,
  prepare: (scratch) => {
    mkdirSync(join(scratch, ownDirectory, "net"), { recursive: true });
    chmodSync(join(scratch, ownDirectory), mode);
    mkdirSync(join(scratch, "net"));
    handOver(join(scratch, "net"));
    return { dataDir: scratch };
  },
}));

/** The whole life of a network there. */
async function live(network: DualStack, what: string): Promise<Attempt> {
  const verifier = new Verifier();
  await mustWork(network, "ADD", "other", verifier);
  await mustWork(network, "ADD", "victim", verifier);
  const check = await network.do("CHECK", "victim");
  verifier.require(check.exitCode === 0, "refused", `CHECK: ${check.stdout}`);
  const status = await network.ask("STATUS");
  verifier.require(status.exitCode === 0, "refused", `STATUS: ${status.stdout}`);
  await verifyRecovery(network, verifier);
  return { what, violations: verifier.violations };
}

async function tryMounted(context: Context): Promise<Attempt[]> {
  const { subject, teardown } = context;
  const mounts = await Mounts.open(teardown);
  return sideBySide(
    shortSampleOf(context, [...mountedPlaces.entries()]),
    3,
    ([at, { what, prepare }]) => {
      mkdirSync(mounts.at(String(at)));
      return live(new DualStack(subject, prepare({ mounts, name: String(at) }).dataDir), what);
    },
  );
}

async function tryPlain(context: Context): Promise<Attempt[]> {
  const { subject, teardown } = context;
  return sideBySide(shortSampleOf(context, plainPlaces), 3, ({ what, prepare }) => {
    const { dataDir } = prepare(scratchDirectory({ teardown }));
    return live(new DualStack(subject, dataDir), what);
  });
}

async function tryUnprivileged(context: Context): Promise<Attempt[]> {
  const { subject, teardown } = context;
  const { program, ...as } = withoutPrivileges({ teardown }, subject.path);
  return sideBySide(shortSampleOf(context, userPlaces), 2, ({ what, prepare }) => {
    const { dataDir } = prepare(scratchDirectory({ teardown }));
    return live(new DualStack({ ...subject, path: program }, dataDir, as), what);
  });
}

const promise = "ADD, CHECK, STATUS and DEL work";

export const oddPlacesScenarios: readonly Scenario[] = [
  {
    fault:
      "data directory, or part of it, on another file system, full or read-only where it may be",
    promise,
    obstacle: mountObstacle,
    attempt: tryMounted,
  },
  {
    fault: "data directory missing, behind a link, at a path of 4000 bytes; .host-local a file",
    promise,
    attempt: tryPlain,
  },
  {
    fault: "only the network's directory belongs to the user",
    promise,
    obstacle: () => (isRoot ? undefined : "Acting as another user needs root."),
    attempt: tryUnprivileged,
  },
];
