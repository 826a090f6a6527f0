/** Debris where a reservation would be. */

import { grantedAddresses } from "../../blackbox/network.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { handOver, withoutPrivileges } from "../../harness/unprivileged.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireFailure, requireSuccess } from "./call-requirements.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import { type Debris, fileDebris, outsideOf } from "./file-debris.ts";
import { sampleOf, shortSampleOf } from "./sample.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { WatchedNetwork } from "./watched-network.ts";

/** The addresses with debris: the second of three in each range set. */
const DEBRIS = ["10.0.0.3", "2001:db8::3"];

const FULL = "no IP addresses available";

/** A network in which `other` holds the first addresses, debris takes the second, and the third are free. */
async function littered(context: Context, debris: Debris): Promise<WatchedNetwork> {
  const network = networkSeenBy(context, debris);
  await network.do("ADD", "other");
  for (const name of DEBRIS) debris.put(network.path(name));
  return network;
}

/** As root, or as a user to whom permissions apply. */
function networkSeenBy(context: Context, { isClosed }: Debris): WatchedNetwork {
  if (isClosed === undefined) return new WatchedNetwork(context);
  const { program = context.subject.path, user } = withoutPrivileges(context, context.subject.path);
  const subject = { ...context.subject, path: program };
  const network = new WatchedNetwork({ ...context, subject }, user === undefined ? {} : { user });
  for (const path of [network.directory, network.path("")]) handOver(path);
  return network;
}

/** The debris, and what links lead to. */
function stateOfDebris(network: WatchedNetwork): readonly string[] {
  return [...DEBRIS.map((name) => network.path(name)).flatMap(stateOf), ...stateOutside(network)];
}

function stateOutside(network: WatchedNetwork): readonly string[] {
  return stateOf(outsideOf(network.path("any")));
}

async function liveBesides(context: Context, debris: Debris): Promise<Attempt> {
  const network = await littered(context, debris);
  const before = stateOfDebris(network);
  const verifier = new Verifier();
  const requireUntouched = (when: string): void => {
    const changes = changesBetween(before, stateOfDebris(network));
    verifier.require(changes === "", "torn", `${when}: ${changes}`);
  };

  requireSuccess(verifier, await network.do("CHECK", "other"), "CHECK of another");
  requireFailure(verifier, await network.do("CHECK", "nobody"), "CHECK of none", "nobody");
  const victim = await network.do("ADD", "victim");
  requireSuccess(verifier, victim, "ADD");
  const granted = grantedAddresses(victim).join(" ");
  const isRight = victim.exitCode !== 0 || granted === "10.0.0.4 2001:db8::4";
  verifier.require(isRight, "double", `ADD got ${granted}`);
  requireSuccess(verifier, await network.do("CHECK", "victim"), "CHECK");
  requireUntouched("while there are other addresses");

  const third = await network.do("ADD", "third");
  if (debris.becomes === "free") {
    requireSuccess(verifier, third, "ADD when nothing else is left", "leak");
  } else {
    requireFailure(verifier, third, "ADD when nothing else is left", FULL);
    requireUntouched("when nothing else is left");
  }

  for (const containerId of ["third", "victim", "other"]) {
    requireSuccess(verifier, await network.do("DEL", containerId), `DEL ${containerId}`);
    const left = network.heldBy(containerId).join(" ");
    verifier.require(left === "", "leak", `DEL of ${containerId} leaves ${left}`);
  }
  if (debris.becomes !== "free") requireUntouched("in the end");
  return { what: debris.name, violations: verifier.violations };
}

async function askAndCollect(context: Context, debris: Debris): Promise<Attempt> {
  const network = await littered(context, debris);
  await network.do("ADD", "victim");
  const before = stateOfDebris(network);
  const foreign = stateOutside(network);
  const verifier = new Verifier();
  const requireUntouched = (verb: string): void => {
    const changes = changesBetween(before, stateOfDebris(network));
    verifier.require(changes === "", "torn", `${verb}: ${changes}`);
  };

  const full = await network.do("STATUS");
  if (debris.becomes === "free") requireSuccess(verifier, full, "STATUS over what may give way");
  else requireFailure(verifier, full, "STATUS of a full network", "50", FULL);
  requireUntouched("STATUS");
  await network.do("DEL", "victim");
  requireSuccess(verifier, await network.do("STATUS"), "STATUS of a network with room");

  requireSuccess(verifier, await network.do("GC"), "GC");
  const left = network.heldBy("other").join(" ");
  verifier.require(left === "", "leak", `GC leaves ${left}`);
  if (debris.becomes !== "stale") {
    requireUntouched("GC");
  } else {
    const stale = stateOfDebris(network).join("; ");
    verifier.require(stale === foreign.join("; "), "leak", `GC leaves ${stale}`);
  }
  return { what: debris.name, violations: verifier.violations };
}

export const reservationDebrisScenarios: readonly Scenario[] = [
  {
    fault:
      "debris where a reservation would be: empty, cut off, garbage, huge, unreadable; a directory, link, FIFO or socket",
    promise:
      "ADD, CHECK and DEL work beside it; only a blank file that is ten seconds old is replaced, when no other address is left; everything else stays",
    attempt: (context) =>
      sideBySide(shortSampleOf(context, fileDebris), 3, (debris) => liveBesides(context, debris)),
  },
  {
    fault: "the same debris, before GC and STATUS",
    promise:
      "STATUS agrees with ADD; GC frees all reservations of dead containers, and leaves files that name none",
    attempt: (context) =>
      sideBySide(sampleOf(context, fileDebris), 3, (debris) => askAndCollect(context, debris)),
  },
];
