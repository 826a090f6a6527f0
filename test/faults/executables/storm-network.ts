/** The networks of a storm: small enough to be full at times. */

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configuration, type JsonObject } from "../../harness/runtime-call.ts";

/** What the checks need of a range set. */
export interface StormSet {
  /** How its addresses begin. */
  readonly prefixes: readonly string[];
  /** How many addresses it can hand out. */
  readonly capacity: number;
}

/** One network of a storm. */
export interface StormNetwork {
  readonly name: string;
  readonly ranges: readonly (readonly JsonObject[])[];
  readonly sets: readonly StormSet[];
  /** Further members of the `ipam` section. */
  readonly ipam?: JsonObject;
}

/** One with a single range, a dual-stack one, and one with two ranges in a set: too small for 32 workers. */
export const wideNetworks: readonly StormNetwork[] = [
  {
    name: "single",
    ranges: [[{ subnet: "10.1.0.0/26" }]],
    sets: [{ prefixes: ["10.1.0."], capacity: 61 }],
  },
  {
    name: "dual",
    ranges: [
      [{ subnet: "10.2.0.0/27" }],
      [{ subnet: "2001:db8:2::/64", rangeStart: "2001:db8:2::2", rangeEnd: "2001:db8:2::1f" }],
    ],
    sets: [
      { prefixes: ["10.2.0."], capacity: 29 },
      { prefixes: ["2001:db8:2::"], capacity: 30 },
    ],
  },
  {
    name: "split",
    ranges: [[{ subnet: "2001:db8:3::/124" }, { subnet: "2001:db8:4::/124" }]],
    sets: [{ prefixes: ["2001:db8:3::", "2001:db8:4::"], capacity: 28 }],
  },
];

/** The same, too small for 8 workers. */
export const smallNetworks: readonly StormNetwork[] = [
  {
    name: "single",
    ranges: [[{ subnet: "10.1.0.0/28" }]],
    sets: [{ prefixes: ["10.1.0."], capacity: 13 }],
  },
  {
    name: "dual",
    ranges: [
      [{ subnet: "10.2.0.0/28" }],
      [{ subnet: "2001:db8:2::/64", rangeStart: "2001:db8:2::2", rangeEnd: "2001:db8:2::f" }],
    ],
    sets: [
      { prefixes: ["10.2.0."], capacity: 13 },
      { prefixes: ["2001:db8:2::"], capacity: 14 },
    ],
  },
  {
    name: "split",
    ranges: [[{ subnet: "2001:db8:3::/125" }, { subnet: "2001:db8:4::/125" }]],
    sets: [{ prefixes: ["2001:db8:3::", "2001:db8:4::"], capacity: 12 }],
  },
];

/** All releases and reservations of a storm, in bytes. */
const history = { maxBytes: 64 * 1024 * 1024 };

/** For storms with boots: as small, with what reservations from before a boot have to do with. */
export const bootedNetworks: readonly StormNetwork[] = [
  {
    name: "returning",
    ranges: [
      [{ subnet: "10.4.0.0/29" }],
      [{ subnet: "2001:db8:5::/64", rangeStart: "2001:db8:5::2", rangeEnd: "2001:db8:5::7" }],
    ],
    sets: [
      { prefixes: ["10.4.0."], capacity: 5 },
      { prefixes: ["2001:db8:5::"], capacity: 6 },
    ],
    ipam: { reclaimAfterReboot: true, history, repeatedAdd: "same" },
  },
  {
    name: "cooling",
    ranges: [[{ subnet: "10.6.0.0/28" }]],
    sets: [{ prefixes: ["10.6.0."], capacity: 13 }],
    ipam: { reclaimAfterReboot: true, history, reuseDelaySeconds: 1 },
  },
];

/** Enough time for 32 processes on a few cores, in seconds. */
const LOCK_TIMEOUT = 60;

/** The configuration of a network, as a runtime passes it. */
export function configurationOf(
  { name, ranges, ipam: members }: StormNetwork,
  directory: string,
  cniVersion: string,
  top: JsonObject = {},
): JsonObject {
  const ipam = {
    ranges,
    exhaustedStatus: "unavailable",
    lockTimeoutSeconds: LOCK_TIMEOUT,
    ...members,
  };
  return configuration(directory, ipam, { name, cniVersion, ...top });
}

/** Whether an address is of a set. */
export function isOf({ prefixes }: StormSet, address: string): boolean {
  return prefixes.some((prefix) => address.startsWith(prefix));
}

/** The reservations on disk: the content of each file that is named like an address. */
export function reservationsOf(
  { name }: StormNetwork,
  directory: string,
): ReadonlyMap<string, string> {
  const place = join(directory, name);
  const names = readdirSync(place).filter((one) => /^[0-9a-f]*[.:]/.test(one));
  return new Map(names.map((one) => [one, contentOf(join(place, one))]));
}

function contentOf(path: string): string {
  return lstatSync(path).isFile() ? readFileSync(path, "utf8") : "(no file)";
}
