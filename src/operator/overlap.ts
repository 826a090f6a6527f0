/** Networks that may hand out the same address. */

import { addressAt, formatWindow, type Window } from "../ipam/address.ts";
import type { Finding } from "./finding.ts";
import { type Place, rangesOf, sourcesOf } from "./places.ts";
import type { Stock } from "./stock.ts";

/** What two windows have in common. */
export function intersectionOf(a: Window, b: Window): Window | undefined {
  const { family } = a.first;
  if (family !== b.first.family) return undefined;
  const first = a.first.value > b.first.value ? a.first.value : b.first.value;
  const last = a.last.value < b.last.value ? a.last.value : b.last.value;
  return first > last
    ? undefined
    : { first: addressAt(family, first), last: addressAt(family, last) };
}

/**
 * Compares each configured place with each other one.
 *
 * @param isWanted of two places that are compared, this must hold for one
 */
export function overlapFindings(
  stocks: readonly Stock[],
  isWanted: (place: Place) => boolean,
): readonly Finding[] {
  const configured = stocks.filter(({ place }) => sourcesOf(place).length > 0);
  return configured.flatMap((stock, index) =>
    configured
      .slice(index + 1)
      .filter((other) => isWanted(stock.place) || isWanted(other.place))
      .flatMap((other) => [...rangeFindings(stock, other), ...addressFindings(stock, other)]),
  );
}

function rangeFindings({ place }: Stock, { place: other }: Stock): readonly Finding[] {
  const windows = rangesOf(place).flatMap((range) =>
    rangesOf(other).flatMap((otherRange) => intersectionOf(range, otherRange) ?? []),
  );
  return [...new Set(windows.map(formatWindow))].map((window) => ({
    code: "overlapping-ranges" as const,
    network: place.location.network,
    path: sourcesOf(place).join(", "),
    message: `${window} is in the networks ${nameOf(place)} and ${nameOf(other)} (${sourcesOf(other).join(", ")})`,
  }));
}

function addressFindings(
  { place, items }: Stock,
  { place: other, items: others }: Stock,
): readonly Finding[] {
  const names = new Set(others.map(({ name }) => name));
  return items
    .filter(({ name }) => names.has(name))
    .map(({ name, path }) => ({
      code: "address-in-two-networks" as const,
      network: place.location.network,
      path,
      message: `${name} is taken in the networks ${nameOf(place)} and ${nameOf(other)}`,
    }));
}

function nameOf({ location }: Place): string {
  return location.network;
}
