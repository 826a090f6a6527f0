/** What `gc` says of reservations of which nothing shows whether their containers live. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { mayBeDead } from "../../store/life/conclusion.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { Requested } from "../configured/configuration-directories.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { commandText } from "../next-command.ts";
import type { DecidedReservation } from "./decision.ts";
import { liveCommandOf } from "./runtime-command.ts";

/**
 * How many are undecided, why the first one is, and what decides. What a list decides on comes before what it leaves.
 *
 * @param hasList whether there was a list: what it has not decided, no list does
 * @returns `undefined` if all are decided
 */
export function undecidedText(
  context: Requested,
  { files, networks: [network] }: NetworkDirectory,
  decided: readonly DecidedReservation[],
  hasList: boolean,
): string | undefined {
  const undecided = decided.filter(({ decision }) => decision === "unknown");
  const reservations = undecided.map(({ reservation }) => reservation);
  const [first] = undecided;
  if (first === undefined) return undefined;
  const { conclusion, reservation } = first;
  const isOrAre = verbFor(undecided.length, "is", "are");
  const count = `${undecided.length} of ${plural(decided.length, "reservation")} ${isOrAre} undecided`;
  const why = `${files.network}: ${count}: ${conclusion.reason}`;
  // Before it can be read, nothing decides.
  if (!mayBeDead(conclusion)) return why;
  const list = hasList ? undefined : liveCommandOf(network, reservations);
  if (list !== undefined) {
    const run = commandText(context, files, ["gc", files.network, "--live-command", list]);
    return `${why}. A list decides on what its runtime may have: ${run} (or --live FILE, where that program is not)`;
  }
  const words = ["release", reservation.text, "--network", files.network] as const;
  const release = commandText(context, files, words);
  return `${why}. Which list has such ids as ${containerOf(reservation.owner)} is not known; if nothing uses the address: ${release}`;
}
