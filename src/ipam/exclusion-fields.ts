/** What is excluded, as members of the configuration. */

import { internalError } from "../cni/error.ts";
import { elements, isObject, type Located, text, typeMismatch } from "../cni/json.ts";
import { type PodName, parsePodName } from "../cni/pod.ts";
import { type AddressRange, compare, formatAddresses } from "./address.ts";
import { type Excluded, makeExclusions, type ReservedRange } from "./exclusions.ts";
import { parseIPField } from "./fields.ts";
import { firstOverlap } from "./overlap.ts";
import { addressRangeOf, parsePrefix } from "./prefix.ts";

/** An address or a network. */
const ADDRESSES = 'an address or a network such as "10.1.2.0/28"';

/**
 * What `exclude` and `reserved` exclude together.
 *
 * @param exclude a list of addresses and networks
 * @param reserved an object: addresses and networks, each with a pod or `null`
 * @throws CniError 999 where a member is of the wrong type, or an address is in two members of `reserved` or in both
 */
export function excludedIn(exclude: Located | undefined, reserved: Located | undefined): Excluded {
  const excluded = elements(exclude).map(addressesIn);
  if (reserved === undefined) return { exclusions: makeExclusions(excluded), reserved: [] };
  const entries = reservedIn(reserved);
  requireDistinct(entries, excluded);
  return {
    exclusions: makeExclusions([...excluded, ...entries]),
    reserved: entries.map(({ first, last, pod }) => ({ first, last, pod })),
  };
}

function addressesIn(at: Located): AddressRange {
  const written = text(at, ADDRESSES);
  const prefix = parsePrefix(written);
  if (prefix !== undefined && !prefix.mapped) return addressRangeOf(prefix);
  const address = parseIPField(at);
  if (address === undefined) {
    throw internalError(
      `invalid IP address: ${written}`,
      `expected an address or a network at ${at.path}`,
    );
  }
  return { first: address, last: address };
}

/** A member of `reserved`. */
interface Entry extends ReservedRange {
  readonly path: string;
}

/** The entries of `reserved`, in the order of the addresses. */
function reservedIn(at: Located): readonly Entry[] {
  const { value, path } = at;
  if (!isObject(value)) throw typeMismatch(at, `an object: ${ADDRESSES} to a pod or null`);
  return Object.keys(value)
    .map((key) => {
      const place = `${path}[${JSON.stringify(key)}]`;
      const { first, last } = addressesIn({ value: key, path: place });
      return { first, last, pod: podIn({ value: value[key] ?? null, path: place }), path: place };
    })
    .sort((a, b) => compare(a.first, b.first));
}

function podIn(at: Located): PodName | undefined {
  if (at.value === null) return undefined;
  const expected = 'a pod such as "default/db-0", or null for nobody';
  const written = text(at, expected);
  const pod = parsePodName(written);
  if (pod !== undefined) return pod;
  throw internalError(`invalid reserved: ${written}`, `expected ${expected}, at ${at.path}`);
}

/** An address has one holder at most, and none where it is excluded. */
function requireDistinct(entries: readonly Entry[], excluded: readonly AddressRange[]): void {
  const [earlier, later] =
    firstOverlap([...entries.map((entry) => [entry]), makeExclusions(excluded)]) ?? [];
  const entry = earlier === undefined ? undefined : entries[earlier];
  if (entry === undefined || later === undefined) return;
  const other = entries[later]?.path ?? "ipam.exclude";
  throw internalError(
    `invalid reserved: ${formatAddresses(entry)} is in two entries`,
    `expected each address at most once; ${entry.path} and ${other} share addresses`,
  );
}
