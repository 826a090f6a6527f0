/** What `gc` says of reservations of which nothing shows whether their containers live. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { isRecorded, mayBeDead } from "../../store/life/conclusion.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { Requested } from "../configured/configuration-directories.ts";
import { makerOf } from "../configured/maker.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { commandText } from "../next-command.ts";
import type { DecidedReservation } from "./decision.ts";
import { isOfRuntime, SANDBOX_ID } from "./live-list.ts";

/**
 * How many are undecided, why the first one is, and what decides on that: the list of its runtime, or whoever knows that nothing
 * uses the address.
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
  const [first] = undecided;
  if (first === undefined) return undefined;
  const { conclusion, reservation } = first;
  const isOrAre = verbFor(undecided.length, "is", "are");
  const count = `${undecided.length} of ${plural(decided.length, "reservation")} ${isOrAre} undecided`;
  const why = `${files.network}: ${count}: ${conclusion.reason}`;
  // Nothing decides as long as evidence cannot be read.
  if (!mayBeDead(conclusion)) return why;
  const id = containerOf(reservation.owner);
  // podman's containers have such ids, too.
  if (!hasList && SANDBOX_ID.test(id) && makerOf(network) === undefined) {
    const words = ["gc", files.network, "--live-command", "crictl pods -q"] as const;
    return `${why}. The runtime's list decides: ${commandText(context, files, words)} (or --live FILE)`;
  }
  const words = ["release", reservation.text, "--network", files.network] as const;
  const release = commandText(context, files, words);
  if (hasList || (isRecorded(conclusion) && !isOfRuntime(id))) {
    return `${why}. A list of pod sandboxes does not decide on ${reservation.text}. If nothing uses it: ${release}`;
  }
  return `${why}. A list with such ids as ${id} decides (--live-command or --live); if there is none, and nothing uses the address: ${release}`;
}
