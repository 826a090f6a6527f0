/** Data directories in which nothing can be written: calls fail, say why, and change nothing. */

import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import type { Call } from "../../harness/executable.ts";
import { Mounts, mountObstacle } from "../../harness/mounts.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { isRoot, withoutPrivileges } from "../../harness/unprivileged.ts";
import { DualStack, mustWork, verifyRecovery } from "./dual-stack.ts";
import { attemptOf, onlyOther, verifyFailure, verifyUnserved } from "./refusal.ts";
import { shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import type { Subject } from "./subject.ts";

/** Something that keeps a network in use from being written. */
interface Refusal {
  readonly what: string;
  readonly cause: string;
  /** Sets it up, and returns the function that removes it. */
  readonly impose: (dataDir: string) => () => void;
  /** Whether the reservations can still be read. */
  readonly isReadable: boolean;
}

/** All verbs while nothing can be written, and what they do afterwards. */
async function verifyRefusal(
  { what, cause, impose, isReadable }: Refusal,
  subject: Subject,
  dataDir: string,
  as: Pick<Call, "user"> = {},
): Promise<Attempt[]> {
  const network = new DualStack(subject, dataDir, as);
  const complaint = { path: dataDir, cause };
  let lift = (): void => {};
  const before = await attemptOf(`before: ${what}`, async (verifier) => {
    await mustWork(network, "ADD", "other", verifier);
    await mustWork(network, "ADD", "victim", verifier);
    lift = impose(dataDir);
  });
  const check = await attemptOf(`CHECK: ${what}`, async (verifier) => {
    const { exitCode, stdout } = await network.do("CHECK", "victim");
    verifier.require(exitCode === 0 || !isReadable, "refused", stdout);
  });
  const unserved = await verifyUnserved(network, what, complaint);
  const del = await attemptOf(`DEL: ${what}`, async (verifier) => {
    verifyFailure(await network.do("DEL", "victim"), complaint, verifier);
  });
  const gc = await attemptOf(`GC: ${what}`, async (verifier) => {
    verifyFailure(await network.ask("GC", onlyOther), complaint, verifier);
  });
  lift();
  const after = await attemptOf(`afterwards: ${what}`, async (verifier) => {
    verifier.require(network.heldBy("victim").length === 2, "double", "a failed call freed");
    await mustWork(network, "DEL", "victim", verifier);
    await verifyRecovery(network, verifier);
  });
  return [before, check, ...unserved, del, gc, after];
}

async function tryReadOnly(context: Context): Promise<Attempt[]> {
  const { subject, teardown } = context;
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
  const tried = await sideBySide(
    shortSampleOf(context, [...refusals.entries()]),
    2,
    ([at, refusal]) => {
      mkdirSync(mounts.at(String(at)));
      return verifyRefusal(refusal, subject, mounts.at(String(at)));
    },
  );
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

async function tryClosed(context: Context): Promise<Attempt[]> {
  const { subject, teardown } = context;
  const { program, ...as } = withoutPrivileges({ teardown }, subject.path);
  const tried = await sideBySide(
    shortSampleOf(context, [closed("net", 0o755), closed("net", 0o700), closed("", 0o700)]),
    3,
    (refusal) => {
      const dataDir = scratchDirectory({ teardown });
      chmodSync(dataDir, 0o777);
      mkdirSync(join(dataDir, "net"));
      chmodSync(join(dataDir, "net"), 0o777);
      return verifyRefusal(refusal, { ...subject, path: program }, dataDir, as);
    },
  );
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
];
