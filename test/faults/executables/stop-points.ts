/** The places under the lock at which calls are stopped. */

import type { Context } from "./scenario.ts";
import type { StopPoint } from "./stopped-call.ts";

/** The addresses of the second attachment, and of the third. */
const second = ["net/10.0.0.3", "net/2001:db8::3"] as const;

/** What a call touches while it holds the lock. */
const places = [
  ...second,
  "net/last_reserved_ip.0",
  "net/last_reserved_ip.1",
  ".host-local/net/journal",
];

/** The second address of an ADD, after it has made the first. */
const inTheMiddle: StopPoint = { verb: "ADD", path: second[1], nth: 1 };

const some: readonly StopPoint[] = [
  { verb: "ADD", path: second[0], nth: 1 },
  inTheMiddle,
  { verb: "DEL", path: second[0], nth: 1 },
];

const all: readonly StopPoint[] = (["ADD", "DEL"] as const).flatMap((verb) =>
  places.flatMap((path) => [1, 2, 3].map((nth) => ({ verb, path, nth }))),
);

/** The points for a run; not every call comes to each. */
export function stopPoints({ extent }: Context): readonly StopPoint[] {
  return { short: [inTheMiddle], full: some, exhaustive: all }[extent];
}

/** A point in words. */
export function describeStop({ verb, path, nth }: StopPoint): string {
  return `${verb}, at ${path}${nth === 1 ? "" : `, time ${nth}`}`;
}
