/** Who held an address, from when until when: what follows from the lines of the history and the present reservations. */

import type { HistoryRecord } from "../../store/history/history-record.ts";

/** How long a holding lasted; times in milliseconds since the epoch. */
export type End =
  | { readonly kind: "held" }
  | { readonly kind: "released"; readonly record: HistoryRecord }
  /** No line tells of the release, but at this time it had happened. */
  | { readonly kind: "unknown"; readonly before: number };

/** An address in the hands of one attachment. */
export interface Holding {
  /** In canonical form. */
  readonly address: string;
  readonly container: string;
  /** Empty if it is not known. */
  readonly interfaceName: string;
  /** `namespace/name`; empty if it is not known. */
  readonly pod: string;
  /** `undefined` if it is not known. */
  readonly from: number | undefined;
  /** If `from` is not known: when the holding before it had ended. */
  readonly fromAfter: number | undefined;
  /** `reservation`: no line tells of it, but it is reserved now, and `from` is the time of the file. */
  readonly source: "history" | "reservation";
  /** Who called ADD; empty if it is not known. */
  readonly reservedBy: string;
  readonly end: End;
}

/** A present reservation that names a container. */
export type Present = Pick<Holding, "address" | "container" | "interfaceName" | "pod" | "from">;

/**
 * The holdings in the order in which they are first mentioned, those without a line last. A line may be missing: the Go
 * plugin writes none, a call may have been killed, a disk full. So an address that is reserved again or is free now was
 * released before, and one that is released without having been reserved was reserved before.
 *
 * @param records in the order of the file
 * @param now when the present reservations were read
 */
export function holdingsOf(
  records: readonly HistoryRecord[],
  present: readonly Present[],
  now: number,
): readonly Holding[] {
  const holdings: Holding[] = [];
  const open = new Map<string, number>();
  const lastTimes = new Map<string, number>();
  const close = (address: string, end: End): void => {
    const at = open.get(address);
    const holding = at === undefined ? undefined : holdings[at];
    if (at !== undefined && holding !== undefined) holdings[at] = { ...holding, end };
    open.delete(address);
  };
  const openAt = (address: string): Holding | undefined => holdings[open.get(address) ?? -1];

  for (const record of records) {
    const { time, verb, address, container, interfaceName, pod, caller } = record;
    const before = openAt(address);
    const isEnd = verb !== "ADD" && before !== undefined && isOwner(before, record);
    close(address, isEnd ? { kind: "released", record } : { kind: "unknown", before: time });
    const own = { address, container, interfaceName, pod, source: "history" } as const;
    if (verb === "ADD") {
      open.set(address, holdings.length);
      holdings.push({
        ...own,
        from: time,
        fromAfter: undefined,
        reservedBy: caller,
        end: { kind: "held" },
      });
    } else if (!isEnd && container !== "") {
      const fromAfter = lastTimes.get(address);
      const end: End = { kind: "released", record };
      holdings.push({ ...own, from: undefined, fromAfter, reservedBy: "", end });
    }
    lastTimes.set(address, time);
  }

  const byAddress = new Map(present.map((one) => [one.address, one]));
  for (const address of [...open.keys()]) {
    const holding = openAt(address);
    const reservation = byAddress.get(address);
    const isHeld =
      holding !== undefined && reservation !== undefined && isOwner(holding, reservation);
    if (isHeld) byAddress.delete(address);
    else close(address, { kind: "unknown", before: firstAfter(holding?.from, reservation) ?? now });
  }
  for (const reservation of byAddress.values()) {
    const end: End = { kind: "held" };
    const source = "reservation";
    holdings.push({ ...reservation, fromAfter: undefined, source, reservedBy: "", end });
  }
  return holdings;
}

/** When the next one was made, unless the time of its file is older than what it replaces, as in a restored backup. */
function firstAfter(from = 0, next: Present | undefined): number | undefined {
  return next?.from !== undefined && next.from > from ? next.from : undefined;
}

/** A reservation of a very old version names no interface. */
function isOwner(
  one: Pick<Holding, "container" | "interfaceName">,
  other: Pick<Holding, "container" | "interfaceName">,
): boolean {
  if (one.container !== other.container) return false;
  return (
    one.interfaceName === other.interfaceName ||
    one.interfaceName === "" ||
    other.interfaceName === ""
  );
}

/** Whether an address was held at a time, or may have been, as far as is known. */
export function isHeldAt({ from, fromAfter, end }: Holding, time: number): boolean {
  const begin = from ?? fromAfter ?? Number.NEGATIVE_INFINITY;
  const until = endTime(end);
  // If the clock was set back in between, the end may seem to be before the beginning.
  return begin <= until ? begin <= time && time < until : until <= time && time <= begin;
}

/** Whether a holding lasted, or may have lasted, beyond a time. */
export function isHeldAfter({ end }: Holding, time: number): boolean {
  return endTime(end) > time;
}

function endTime(end: End): number {
  switch (end.kind) {
    case "held":
      return Number.POSITIVE_INFINITY;
    case "released":
      return end.record.time;
    case "unknown":
      return end.before;
  }
}

/** Steps back by less, in milliseconds, are those of a clock that is being corrected. */
const LEAST_STEP = 1000;

/**
 * When the clock was last set back: the time that it showed then.
 *
 * @returns `undefined` if it never was
 */
export function clockSetBack(records: readonly HistoryRecord[]): number | undefined {
  const at = records.findLastIndex(({ time }, index) => {
    const before = records[index - 1];
    return before !== undefined && time < before.time - LEAST_STEP;
  });
  return records[at]?.time;
}
