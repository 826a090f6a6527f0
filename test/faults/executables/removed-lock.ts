/** The lock is removed or replaced while it is held. */

import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { grantedAddresses } from "../../blackbox/network.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireSuccess } from "./call-requirements.ts";
import { holdAt, resume } from "./lock-holders.ts";
import { shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { stopObstacle } from "./stopped-call.ts";
import { SETTLED } from "./subject.ts";
import type { WatchedNetwork } from "./watched-network.ts";

interface Removal {
  readonly name: string;
  readonly remove: (network: WatchedNetwork) => void;
  /** Whether a call waits for the lock before. */
  readonly isAwaited: boolean;
}

function remove(network: WatchedNetwork): void {
  rmSync(network.path("lock"), { force: true });
}

function replace(network: WatchedNetwork): void {
  writeFileSync(network.path("lock.new"), "");
  renameSync(network.path("lock.new"), network.path("lock"));
}

function linkToOther(network: WatchedNetwork): void {
  remove(network);
  writeFileSync(`${network.directory}/other-lock`, "");
  symlinkSync("../other-lock", network.path("lock"));
}

const removals: readonly Removal[] = [
  { name: "removed", remove, isAwaited: false },
  { name: "removed while another waits", remove, isAwaited: true },
  { name: "replaced by a new one", remove: replace, isAwaited: false },
  { name: "replaced while another waits", remove: replace, isAwaited: true },
  { name: "replaced by a link to another file", remove: linkToOther, isAwaited: false },
  {
    name: "removed with the whole directory that the Go plugin does not know",
    remove: (network) => {
      remove(network);
      rmSync(network.ownPath(""), { recursive: true, force: true });
    },
    isAwaited: true,
  },
];

/** The longest that an ADD takes that is served, in seconds. */
const LIMIT = 60;

async function attemptWith(
  context: Context,
  { name, remove, isAwaited }: Removal,
): Promise<Attempt> {
  const verifier = new Verifier();
  const held = await holdAt(context, { verb: "ADD", path: "net/10.0.0.3", nth: 1 });
  if (held === undefined) {
    return { what: name, violations: [{ kind: "hang", detail: "the holder never stops" }] };
  }
  const { network, holder } = held;
  const begin = () => network.begin("ADD", "third", LIMIT);
  const awaiting = isAwaited ? begin() : undefined;
  remove(network);
  const third = awaiting ?? begin();
  // It may take another lock or wait for this one: both are correct.
  const early = await Promise.race([third.ended, pause(SETTLED, undefined)]);
  holder.goOn();
  const victim = await holder.ended;
  const late = early ?? (await third.ended);
  requireSuccess(verifier, victim, "the holder");
  requireSuccess(verifier, late, "another ADD", "blocked");
  const granted = [victim, late].flatMap(grantedAddresses).concat(network.heldBy("other"));
  verifier.require(new Set(granted).size === granted.length, "double", granted.join(" "));
  await resume(held, verifier);
  return { what: name, violations: verifier.violations };
}

export const removedLockScenarios: readonly Scenario[] = [
  {
    fault: "the lock file is removed or replaced while it is held",
    promise: "no address is handed out twice, no file is torn, and nothing is left after the DELs",
    obstacle: stopObstacle,
    attempt: (context) =>
      sideBySide(shortSampleOf(context, removals), 3, (removal) => attemptWith(context, removal)),
  },
];
