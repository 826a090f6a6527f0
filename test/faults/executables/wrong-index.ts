/** Whatever the owner index contains, the answers follow the reservations. */

import { mkdirSync } from "node:fs";
import { grantedAddresses } from "../../blackbox/network.ts";
import { sideBySide } from "../../side-by-side.ts";
import { Verifier } from "../violations.ts";
import { requireFailure, requireSuccess } from "./call-requirements.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { foreignFiles, type IndexDebris, indexDebris } from "./index-debris.ts";
import { sampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { WatchedNetwork } from "./watched-network.ts";

const FULL = "no IP addresses available";

/** The first call on the wrong index, which may correct it for those that follow. */
const firstCalls = ["ADD", "DEL", "GC", "CHECK"] as const;

type First = (typeof firstCalls)[number];

async function attemptWith(
  context: Context,
  { name, spoil }: IndexDebris,
  first: First,
): Promise<Attempt> {
  const network = new WatchedNetwork(context);
  const verifier = new Verifier();
  for (const containerId of ["other", "victim"]) await network.do("ADD", containerId);
  // The Go plugin has no index; the debris is there nevertheless.
  mkdirSync(network.ownPath("owners"), { recursive: true });
  await network.do("DEL", "nobody");
  try {
    spoil(network);
  } catch {
    // There is nothing of that kind to spoil.
  }
  const foreign = foreignFiles(network).flatMap(stateOf);

  if (first === "CHECK") await check(network, verifier);
  if (first === "GC") {
    requireSuccess(verifier, await network.do("GC"), "GC");
    requireNothing(network, verifier, "victim", "other");
  } else {
    if (first === "ADD") await add(network, verifier);
    await requireDeletion(network, verifier, "nobody");
    await requireDeletion(network, verifier, "victim");
    requireSuccess(verifier, await network.do("STATUS"), "STATUS of a network with room");
    const others = network.heldBy("other").length;
    verifier.require(others === 2, "double", `another is left with ${others} addresses`);
    await requireDeletion(network, verifier, "third");
    await requireDeletion(network, verifier, "other");
  }
  const late = await network.do("ADD", "late");
  requireSuccess(verifier, late, "ADD in the end");
  await requireDeletion(network, verifier, "late");
  const touched = changesBetween(foreign, foreignFiles(network).flatMap(stateOf));
  verifier.require(touched === "", "escaped", `foreign files: ${touched}`);
  return { what: `${name}, met by ${first}`, violations: verifier.violations };
}

async function check(network: WatchedNetwork, verifier: Verifier): Promise<void> {
  const before = stateOf(network.directory);
  for (const containerId of ["other", "victim"]) {
    requireSuccess(verifier, await network.do("CHECK", containerId), `CHECK ${containerId}`);
  }
  requireFailure(verifier, await network.do("CHECK", "nobody"), "CHECK of none", "nobody");
  requireSuccess(verifier, await network.do("STATUS"), "STATUS of a network with room");
  const changes = changesBetween(before, stateOf(network.directory));
  verifier.require(changes === "", "torn", `CHECK and STATUS change ${changes}`);
}

/** One attachment more than there is room for, and one that has its address. */
async function add(network: WatchedNetwork, verifier: Verifier): Promise<void> {
  requireFailure(verifier, await network.do("ADD", "victim"), "a second ADD", "duplicate");
  const third = await network.do("ADD", "third");
  requireSuccess(verifier, third, "ADD");
  const granted = grantedAddresses(third).join(" ");
  const isRight = third.exitCode !== 0 || granted === "10.0.0.4 2001:db8::4";
  verifier.require(isRight, "double", `ADD got ${granted}`);
  requireFailure(verifier, await network.do("ADD", "fourth"), "ADD beyond", FULL);
}

async function requireDeletion(
  network: WatchedNetwork,
  verifier: Verifier,
  containerId: string,
): Promise<void> {
  requireSuccess(verifier, await network.do("DEL", containerId), `DEL ${containerId}`);
  requireNothing(network, verifier, containerId);
}

function requireNothing(
  network: WatchedNetwork,
  verifier: Verifier,
  ...containerIds: readonly string[]
): void {
  const left = containerIds.flatMap((containerId) => network.heldBy(containerId)).join(" ");
  verifier.require(left === "", "leak", `${left} of ${containerIds.join(" ")} is left`);
}

/** In all but an exhaustive run, each piece is met by one kind of call, in turn. */
function pairsOf(context: Context): readonly (readonly [IndexDebris, First])[] {
  // The GC of the Go plugin does nothing, whatever is there.
  const calls = firstCalls.filter((first) => first !== "GC" || context.subject.name !== "Go");
  const pairs = indexDebris.flatMap((debris, at) =>
    calls
      .filter((_, call) => context.extent === "exhaustive" || call === at % calls.length)
      .map((first) => [debris, first] as const),
  );
  return sampleOf(context, pairs);
}

export const wrongIndexScenarios: readonly Scenario[] = [
  {
    fault: "an owner index that is missing, corrupt, foreign or wrong",
    promise: "every verb answers according to the reservations, and no foreign file is touched",
    attempt: (context) =>
      sideBySide(pairsOf(context), 3, ([debris, first]) => attemptWith(context, debris, first)),
  },
];
