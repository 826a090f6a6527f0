/** Data directories that cannot be made: calls fail, say why, and make nothing. */

import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { Mounts, mountObstacle } from "../../harness/mounts.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { withoutPrivileges } from "../../harness/unprivileged.ts";
import { DualStack, verifyError } from "./dual-stack.ts";
import { longPath } from "./odd-places.ts";
import { attemptOf, type Complaint, onlyOther, verifyUnserved } from "./refusal.ts";
import { shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";

/** A data directory that cannot be made. */
interface Blocked extends Complaint {
  readonly what: string;
  readonly dataDir: string;
}

/** Puts each of them into a directory. */
function blocked(scratch: string): readonly Blocked[] {
  const at = (path: string): string => join(scratch, path);
  for (const path of ["file", "executable"]) writeFileSync(at(path), "");
  chmodSync(at("executable"), 0o755);
  mkdirSync(at("holder"));
  writeFileSync(at("holder/net"), "");
  symlinkSync(at("nowhere"), at("dangling"));
  symlinkSync(at("loop"), at("loop"));
  mkdirSync(at("runnable"));
  writeFileSync(at("runnable/net"), "", { mode: 0o755 });
  mkdirSync(at("linked"));
  symlinkSync(at("nowhere"), at("linked/net"));
  const tooLong = longPath(scratch, 4200);
  const notADirectory = "not a directory";
  return [
    { what: "a file", dataDir: at("file"), path: at("file"), cause: notADirectory },
    { what: "an executable file", dataDir: at("executable"), path: at(""), cause: notADirectory },
    { what: "below a file", dataDir: at("file/a/b"), path: at("file"), cause: notADirectory },
    { what: "with a file as network", dataDir: at("holder"), path: at(""), cause: notADirectory },
    {
      what: "with an executable file as network",
      dataDir: at("runnable"),
      path: at(""),
      cause: notADirectory,
    },
    { what: "a link to nothing", dataDir: at("dangling"), path: at("dangling"), cause: "" },
    { what: "a link to itself", dataDir: at("loop"), path: at("loop"), cause: "" },
    { what: "with a link to nothing as network", dataDir: at("linked"), path: at(""), cause: "" },
    {
      what: "with a name of 256 bytes",
      dataDir: at("a".repeat(256)),
      path: at(""),
      cause: "file name too long",
    },
    {
      what: "at a path of 4200 bytes",
      dataDir: tooLong,
      path: at(""),
      cause: "file name too long",
    },
  ];
}

/** One call each into a data directory that cannot be made; none of them makes a file, or crashes. */
async function verifyBlocked(
  network: DualStack,
  blocked: Blocked,
  scratch: string,
): Promise<Attempt[]> {
  const before = filesIn(scratch);
  const what = `data directory ${blocked.what}`;
  const unserved = await verifyUnserved(network, what, blocked);
  const releases = await attemptOf(`DEL and GC: ${what}`, async (verifier) => {
    for (const outcome of [await network.do("DEL", "new"), await network.ask("GC", onlyOther)]) {
      if (outcome.exitCode !== 0) verifyError(outcome, blocked.path, "", verifier);
    }
    const made = filesIn(scratch).filter((path) => !before.includes(path));
    verifier.require(made.length === 0, "leak", `made: ${made.join(" ")}`);
  });
  return [...unserved, releases];
}

/** All files except directories, which a call may make. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
}

async function tryBlocked(context: Context): Promise<Attempt[]> {
  const { subject, teardown } = context;
  const kinds = [...blocked(scratchDirectory({ teardown })).keys()];
  const tried = await sideBySide(shortSampleOf(context, kinds), 3, (at) => {
    const scratch = scratchDirectory({ teardown });
    const one = blocked(scratch)[at];
    if (one === undefined) throw new Error(`there is no blocked directory ${at}`);
    return verifyBlocked(new DualStack(subject, one.dataDir), one, scratch);
  });
  return tried.flat();
}

/** A missing data directory in another user's directory, and in one on a read-only mount. */
async function tryMissing({ subject, teardown }: Context): Promise<Attempt[]> {
  const { program, ...as } = withoutPrivileges({ teardown }, subject.path);
  const scratch = scratchDirectory({ teardown });
  const mounts = await Mounts.open(teardown);
  mkdirSync(mounts.at("frozen"));
  mounts.freeze("frozen");
  const foreign = { what: "missing, in another user's directory", path: scratch };
  const frozen = { what: "missing, on a read-only mount", path: mounts.at("frozen") };
  const tried = await Promise.all([
    verifyBlocked(
      new DualStack({ ...subject, path: program }, join(foreign.path, "data"), as),
      { ...foreign, dataDir: join(foreign.path, "data"), cause: "permission denied" },
      foreign.path,
    ),
    verifyBlocked(
      new DualStack(subject, join(frozen.path, "data")),
      { ...frozen, dataDir: join(frozen.path, "data"), cause: "read-only file system" },
      frozen.path,
    ),
  ]);
  return tried.flat();
}

const promise = "ADD fails and STATUS says code 50, each with path and cause; no file is made";

export const blockedPlacesScenarios: readonly Scenario[] = [
  {
    fault: "data directory that cannot be made: a file, a broken link, too long a path",
    promise,
    attempt: tryBlocked,
  },
  {
    fault: "data directory missing where nothing can be made",
    promise,
    obstacle: mountObstacle,
    attempt: tryMissing,
  },
];
