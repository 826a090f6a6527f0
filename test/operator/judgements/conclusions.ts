/** What the node shows of containers, by a short name: for what is decided by that alone. */

import type { KnownReservation } from "../../../src/operator/judgements/lives.ts";
import type { Conclusion } from "../../../src/store/life/conclusion.ts";
import { attachment } from "../../store/fixtures.ts";
import { reservationOf } from "../held/reservation.ts";

const conclusions = {
  process: { liveness: "alive", by: "process", reason: "" },
  namespace: { liveness: "alive", by: "namespace", reason: "" },
  idle: { liveness: "alive", by: "idle", reason: "" },
  dead: { liveness: "dead", by: "record", reason: "" },
  beforeBoot: { liveness: "dead", by: "boot", reason: "" },
  unknown: { liveness: "unknown", by: "view", reason: "" },
  unread: { liveness: "unknown", by: "unread", reason: "" },
  recorded: { liveness: "unknown", by: "record", reason: "" },
} as const satisfies Readonly<Record<string, Conclusion>>;

/** What the node shows. */
export type Shown = keyof typeof conclusions;

/** A reservation of the container `c1`, made at the epoch. */
export const owned = reservationOf({ kind: "attachment", ...attachment("c1") });

/** A reservation that names no container. */
export const unowned = reservationOf({ kind: "unowned" });

/** A reservation with what is known of its container. */
export function known(shown: Shown, reservation = owned): KnownReservation {
  return { reservation, conclusion: conclusions[shown] };
}
