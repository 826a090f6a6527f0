/** What `gc` says of reservations of which nothing shows whether their containers live. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { mayBeDead } from "../../store/life/conclusion.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import type { Requested } from "../configured/configuration-directories.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { commandText } from "../next-command.ts";
import type { DecidedReservation } from "./decision.ts";
import { liveCommandOf } from "./runtime-command.ts";

/** What decides on a reservation: nothing does where what would tell cannot be read. */
type Way = "reading" | "list" | "release";

/**
 * A message for each way to decide, with the first of the reservations.
 *
 * @param hasList whether there was a list: what it has not decided, no list does
 */
export function undecidedTexts(
  context: Requested,
  { files, networks, reservations }: NetworkDirectory,
  decided: readonly DecidedReservation[],
  hasList: boolean,
): readonly string[] {
  const { network } = files;
  const wayOf = ({ conclusion, reservation }: DecidedReservation): Way => {
    if (!mayBeDead(conclusion)) return "reading";
    return !hasList && liveCommandOf(networks[0], [reservation]) ? "list" : "release";
  };
  const unknown = decided.filter(({ decision }) => decision === "unknown");
  return [...Map.groupBy(unknown, wayOf)].flatMap(([way, ones]) => {
    const [first] = ones;
    if (first === undefined) return [];
    const { text, owner } = first.reservation;
    const isOrAre = verbFor(ones.length, "is", "are");
    const which = `${ones.length} of ${plural(decided.length, "reservation")} ${isOrAre} undecided`;
    const such = `and which list has such ids as ${containerOf(owner)} is not known`;
    const { reason } = first.conclusion;
    if (way === "reading") return [`${network}: ${which}: ${reason}`];
    if (way === "list") {
      const command = liveCommandOf(networks[0], reservations) ?? "";
      const run = commandText(context, files, ["gc", network, "--live-command", command]);
      return [
        `${network}: ${which}: ${reason}. A list decides: ${run} (or --live FILE, where that program is not)`,
      ];
    }
    const release = commandText(context, files, ["release", text, "--network", network]);
    return [`${network}: ${which}, ${such}: ${reason}. If nothing uses the address: ${release}`];
  });
}
