/** Data directories in which nothing can be written: calls fail, say why, and change nothing. */

import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../blackbox/data-directory.ts";
import type { Call, Outcome } from "../blackbox/executable.ts";
import { isRoot, withoutPrivileges } from "../blackbox/unprivileged.ts";
import { DualStack, judgeAftermath, judgeError, mustWork } from "./dual-stack.ts";
import { Mounts, mountObstacle } from "./mounts.ts";
import { longPath } from "./odd-places.ts";
import { type Attempt, Judgement, type Scenario, sideBySide, type Trial } from "./scenario.ts";
import type { Subject } from "./subject.ts";

/** Something that keeps a network in use from being written. */
interface Refusal {
  readonly what: string;
  readonly cause: string;
  /** Brings it about, and returns what takes it away. */
  readonly impose: (dataDir: string) => () => void;
  /** Whether the reservations can still be read. */
  readonly isReadable: boolean;
}

/** What a failing call says: where, and why. */
interface Complaint {
  readonly path: string;
  readonly cause: string;
}

const onlyOther = { "cni.dev/valid-attachments": [{ containerID: "other", ifname: "eth0" }] };

/** One verb while nothing can be written. */
async function judged(
  what: string,
  judge: (judgement: Judgement) => Promise<void>,
): Promise<Attempt> {
  const judgement = new Judgement();
  await judge(judgement);
  return { what, violations: judgement.violations };
}

/** All verbs while nothing can be written, and what they do afterwards. */
async function judgeRefusal(
  { what, cause, impose, isReadable }: Refusal,
  subject: Subject,
  dataDir: string,
  as: Pick<Call, "user"> = {},
): Promise<Attempt[]> {
  const network = new DualStack(subject, dataDir, as);
  const complaint = { path: dataDir, cause };
  let lift = (): void => {};
  const before = await judged(`before: ${what}`, async (judgement) => {
    await mustWork(network, "ADD", "other", judgement);
    await mustWork(network, "ADD", "victim", judgement);
    lift = impose(dataDir);
  });
  const check = await judged(`CHECK: ${what}`, async (judgement) => {
    const { exitCode, stdout } = await network.do("CHECK", "victim");
    judgement.require(exitCode === 0 || !isReadable, "refused", stdout);
  });
  const unserved = await judgeUnserved(network, what, complaint);
  const del = await judged(`DEL: ${what}`, async (judgement) => {
    judgeFailure(await network.do("DEL", "victim"), complaint, judgement);
  });
  const gc = await judged(`GC: ${what}`, async (judgement) => {
    judgeFailure(await network.ask("GC", onlyOther), complaint, judgement);
  });
  lift();
  const after = await judged(`afterwards: ${what}`, async (judgement) => {
    judgement.require(network.heldBy("victim").length === 2, "double", "a failed call freed");
    await mustWork(network, "DEL", "victim", judgement);
    await judgeAftermath(network, judgement);
  });
  return [before, check, ...unserved, del, gc, after];
}

/** ADD fails, and STATUS foretells it with code 50. */
async function judgeUnserved(
  network: DualStack,
  what: string,
  complaint: Complaint,
): Promise<Attempt[]> {
  const add = await judged(`ADD: ${what}`, async (judgement) => {
    judgeFailure(await network.do("ADD", "new"), complaint, judgement);
  });
  const status = await judged(`STATUS: ${what}`, async (judgement) => {
    const outcome = await network.ask("STATUS");
    judgeFailure(outcome, complaint, judgement);
    judgement.require(/"code": 50,|^$/.test(outcome.stdout), "mute", outcome.stdout);
  });
  return [add, status];
}

function judgeFailure(outcome: Outcome, { path, cause }: Complaint, judgement: Judgement): void {
  judgement.require(outcome.exitCode !== 0, "accepted", `it succeeds: ${outcome.stdout}`);
  if (outcome.exitCode !== 0) judgeError(outcome, path, cause, judgement);
}

async function tryReadOnly({ subject, teardown }: Trial): Promise<Attempt[]> {
  const mounts = await Mounts.open(teardown);
  const frozen = (path: string, name: string): Refusal => ({
    what: `${path || "data directory"} on a read-only mount`,
    cause: "read-only file system",
    impose: () => {
      mounts.freeze(join(name, path));
      return () => mounts.thaw(join(name, path));
    },
    isReadable: true,
  });
  const refusals = [frozen("", "0"), frozen("net", "1")];
  const tried = await sideBySide([...refusals.entries()], 2, ([at, refusal]) => {
    mkdirSync(mounts.at(String(at)));
    return judgeRefusal(refusal, subject, mounts.at(String(at)));
  });
  return tried.flat();
}

/** Another user's directory with this mode, at a path below the data directory. */
function closed(path: string, mode: number): Refusal {
  return {
    what: `${path || "data directory"} another user's, mode 0${mode.toString(8)}`,
    cause: "permission denied",
    impose: (dataDir) => {
      // The reservations stay readable, the directories do not stay writable.
      chmodSync(join(dataDir, path), mode);
      return () => chmodSync(join(dataDir, path), 0o777);
    },
    isReadable: mode === 0o755,
  };
}

async function tryClosed({ subject, teardown }: Trial): Promise<Attempt[]> {
  const { program, ...as } = withoutPrivileges({ teardown }, subject.path);
  const tried = await sideBySide(
    [closed("net", 0o755), closed("net", 0o700), closed("", 0o700)],
    3,
    (refusal) => {
      const dataDir = scratchDirectory({ teardown });
      chmodSync(dataDir, 0o777);
      mkdirSync(join(dataDir, "net"));
      chmodSync(join(dataDir, "net"), 0o777);
      return judgeRefusal(refusal, { ...subject, path: program }, dataDir, as);
    },
  );
  return tried.flat();
}

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
async function judgeBlocked(
  network: DualStack,
  blocked: Blocked,
  scratch: string,
): Promise<Attempt[]> {
  const before = filesIn(scratch);
  const what = `data directory ${blocked.what}`;
  const unserved = await judgeUnserved(network, what, blocked);
  const releases = await judged(`DEL and GC: ${what}`, async (judgement) => {
    for (const outcome of [await network.do("DEL", "new"), await network.ask("GC", onlyOther)]) {
      if (outcome.exitCode !== 0) judgeError(outcome, blocked.path, "", judgement);
    }
    const made = filesIn(scratch).filter((path) => !before.includes(path));
    judgement.require(made.length === 0, "leak", `made: ${made.join(" ")}`);
  });
  return [...unserved, releases];
}

/** All but directories, which do no harm. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
}

async function tryBlocked({ subject, teardown }: Trial): Promise<Attempt[]> {
  const kinds = [...blocked(scratchDirectory({ teardown })).keys()];
  const tried = await sideBySide(kinds, 3, (at) => {
    const scratch = scratchDirectory({ teardown });
    const one = blocked(scratch)[at];
    if (one === undefined) throw new Error(`there is no blocked directory ${at}`);
    return judgeBlocked(new DualStack(subject, one.dataDir), one, scratch);
  });
  return tried.flat();
}

/** A missing data directory in another user's directory, and in one on a read-only mount. */
async function tryMissing({ subject, teardown }: Trial): Promise<Attempt[]> {
  const { program, ...as } = withoutPrivileges({ teardown }, subject.path);
  const scratch = scratchDirectory({ teardown });
  const mounts = await Mounts.open(teardown);
  mkdirSync(mounts.at("frozen"));
  mounts.freeze("frozen");
  const foreign = { what: "missing, in another user's directory", path: scratch };
  const frozen = { what: "missing, on a read-only mount", path: mounts.at("frozen") };
  const tried = await Promise.all([
    judgeBlocked(
      new DualStack({ ...subject, path: program }, join(foreign.path, "data"), as),
      { ...foreign, dataDir: join(foreign.path, "data"), cause: "permission denied" },
      foreign.path,
    ),
    judgeBlocked(
      new DualStack(subject, join(frozen.path, "data")),
      { ...frozen, dataDir: join(frozen.path, "data"), cause: "read-only file system" },
      frozen.path,
    ),
  ]);
  return tried.flat();
}

const promise =
  "ADD fails and STATUS says code 50, each with path and cause; CHECK answers; DEL and GC say that they could not free, and do afterwards";

export const refusedDiskScenarios: readonly Scenario[] = [
  { fault: "read-only disk", promise, obstacle: mountObstacle, attempt: tryReadOnly },
  {
    fault: "no permission",
    promise,
    obstacle: () => (isRoot ? undefined : "Acting as another user needs root."),
    attempt: tryClosed,
  },
  {
    fault: "data directory that cannot be made: a file, a broken link, too long a path",
    promise: "ADD fails and STATUS says code 50, each with path and cause; no file is made",
    attempt: tryBlocked,
  },
  {
    fault: "data directory missing where nothing can be made",
    promise: "ADD fails and STATUS says code 50, each with path and cause; no file is made",
    obstacle: mountObstacle,
    attempt: tryMissing,
  },
];
