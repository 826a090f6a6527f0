/** Whether every address of a network for thirteen can be had, once, whatever was left behind. */

import { lstatSync, readFileSync, utimesSync } from "node:fs";
import { type FaultNetwork, ROOM } from "./network.ts";
import { knowsStatus } from "./subject.ts";

/** An empty file may be reused once it is ten seconds old. */
const OLD = 11;

/**
 * Every attachment can be deleted, then every address can be had once, and STATUS knows whether there is one.
 *
 * @param containerIds all that were ever attached
 */
export async function mustHaveRoom(
  network: FaultNetwork,
  containerIds: readonly string[],
): Promise<void> {
  await network.mustRelease(...containerIds);
  ageBlankFiles(network);
  if (knowsStatus(network.subject)) await network.mustTell("room");
  const late = await network.fill("late", ROOM);
  // The Go plugin's GC does nothing.
  if (network.subject.name === "Go") await network.mustRelease(...late.keys());
  else await network.mustCollect();
  network.mustBeEmpty();
  if (knowsStatus(network.subject)) await network.mustTell("room");
}

/** As if ten seconds had passed since they were made. */
function ageBlankFiles(network: FaultNetwork): void {
  const then = Date.now() / 1000 - OLD;
  for (const path of network.reserved().map((name) => network.path(name))) {
    const isBlank = lstatSync(path).isFile() && /^[\0\s]*$/.test(readFileSync(path, "latin1"));
    if (isBlank) utimesSync(path, then, then);
  }
}
