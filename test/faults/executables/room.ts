/** A network with room for thirteen: whether every address can be had, once, whatever was left behind. */

import { lstatSync, readFileSync, utimesSync } from "node:fs";
import { grantedAddresses } from "../../blackbox/network.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import type { Verifier } from "../../harness/violations.ts";
import { requireFailure, requireSuccess } from "./call-requirements.ts";
import { knowsStatus } from "./subject.ts";
import type { WatchedNetwork } from "./watched-network.ts";

/** How many addresses there are. */
export const ROOM = 13;

/** A range with as many. */
export const ipam = { ranges: [[{ subnet: "10.0.0.0/28" }]] };

const FULL = "no IP addresses available";

/** How many calls at once. */
const AT_ONCE = 4;

/** An empty file may be reused once it is ten seconds old. */
const OLD = 11;

/**
 * Every attachment can be deleted, then every address can be had once, and STATUS knows whether there is one.
 *
 * @param containerIds all that were ever attached
 */
export async function verifyRoom(
  network: WatchedNetwork,
  containerIds: readonly string[],
  verifier: Verifier,
): Promise<void> {
  await deleteAll(network, containerIds, verifier);
  ageBlankFiles(network);
  await requireStatus(network, verifier, "room");

  const late = Array.from({ length: ROOM }, (_, at) => `late-${at}`);
  const endings = await sideBySide(late, AT_ONCE, (containerId) => network.do("ADD", containerId));
  for (const ending of endings) requireSuccess(verifier, ending, "ADD", "leak");
  const granted = endings.flatMap(grantedAddresses);
  verifier.require(new Set(granted).size === granted.length, "double", granted.join(" "));
  await requireStatus(network, verifier, "none");
  requireFailure(verifier, await network.do("ADD", "beyond"), "ADD beyond", FULL);

  // The Go plugin's GC does nothing.
  if (network.subject.name === "Go") await deleteAll(network, late, verifier);
  else requireSuccess(verifier, await network.do("GC"), "GC");
  const left = network.reserved().join(" ");
  verifier.require(left === "", "leak", `${left} left in the end`);
  await requireStatus(network, verifier, "room");
}

/** Deletes attachments, of which nothing may be left. */
export async function deleteAll(
  network: WatchedNetwork,
  containerIds: readonly string[],
  verifier: Verifier,
): Promise<void> {
  await sideBySide(containerIds, AT_ONCE, async (containerId) => {
    requireSuccess(verifier, await network.do("DEL", containerId), `DEL ${containerId}`);
    const left = network.heldBy(containerId).join(" ");
    verifier.require(left === "", "leak", `DEL ${containerId} leaves ${left}`);
  });
}

async function requireStatus(
  network: WatchedNetwork,
  verifier: Verifier,
  found: "room" | "none",
): Promise<void> {
  if (!knowsStatus(network.subject)) return;
  const status = await network.do("STATUS");
  if (found === "room") requireSuccess(verifier, status, "STATUS of a network with room");
  // The Go plugin's STATUS does not count.
  else if (network.subject.name !== "Go") {
    requireFailure(verifier, status, "STATUS of a full network", "50 ", FULL);
  }
}

/** As if ten seconds had passed since they were made. */
function ageBlankFiles(network: WatchedNetwork): void {
  const then = Date.now() / 1000 - OLD;
  for (const path of network.reserved().map((name) => network.path(name))) {
    const isBlank = lstatSync(path).isFile() && /^[\0\s]*$/.test(readFileSync(path, "latin1"));
    if (isBlank) utimesSync(path, then, then);
  }
}
