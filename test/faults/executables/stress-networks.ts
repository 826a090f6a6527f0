/** The networks of a stress: small enough to be full at times. */

import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configuration, type JsonObject } from "../../harness/runtime-call.ts";

/** A range set, and what the checks need of it. */
export interface StressSet {
  readonly ranges: readonly JsonObject[];
  /** How its addresses begin. */
  readonly prefixes: readonly string[];
  /** How many addresses it can hand out. */
  readonly capacity: number;
}

/** One network of a stress. */
export interface StressNetwork {
  readonly name: string;
  readonly sets: readonly StressSet[];
  /** Further members of the `ipam` section. */
  readonly ipam?: JsonObject;
}

/** IPv4, without its network, its broadcast address and its gateway. */
function v4(block: number, hostBits: number): StressSet {
  return {
    ranges: [{ subnet: `10.${block}.0.0/${32 - hostBits}` }],
    prefixes: [`10.${block}.0.`],
    capacity: 2 ** hostBits - 3,
  };
}

function v6(block: number, capacity: number): StressSet {
  const prefix = `2001:db8:${block}::`;
  const rangeEnd = `${prefix}${(capacity + 1).toString(16)}`;
  return {
    ranges: [{ subnet: `${prefix}/64`, rangeStart: `${prefix}2`, rangeEnd }],
    prefixes: [prefix],
    capacity,
  };
}

/** Two ranges in one set. */
function joined(a: StressSet, b: StressSet): StressSet {
  return {
    ranges: [...a.ranges, ...b.ranges],
    prefixes: [...a.prefixes, ...b.prefixes],
    capacity: a.capacity + b.capacity,
  };
}

/** One with a single range, a dual-stack one, and one with two ranges in a set: too small for 32 workers. */
export const wideNetworks: readonly StressNetwork[] = [
  { name: "single", sets: [v4(1, 6)] },
  { name: "dual", sets: [v4(2, 5), v6(2, 30)] },
  { name: "split", sets: [joined(v6(3, 14), v6(4, 14))] },
];

/** The same, too small for 8 workers. */
export const smallNetworks: readonly StressNetwork[] = [
  { name: "single", sets: [v4(1, 4)] },
  { name: "dual", sets: [v4(2, 4), v6(2, 14)] },
  { name: "split", sets: [joined(v6(3, 6), v6(4, 6))] },
];

/** All releases and reservations of a stress, in bytes. */
const history = { maxBytes: 64 * 1024 * 1024 };

/** For a stress with boots: as small, with what reservations from before a boot have to do with. */
export const bootedNetworks: readonly StressNetwork[] = [
  {
    name: "returning",
    sets: [v4(4, 3), v6(5, 6)],
    ipam: { reclaimAfterReboot: true, history, repeatedAdd: "same" },
  },
  {
    name: "cooling",
    sets: [v4(6, 4)],
    ipam: { reclaimAfterReboot: true, history, reuseDelaySeconds: 1 },
  },
];

/** Enough time for 32 processes on a few cores, in seconds. */
const LOCK_TIMEOUT = 60;

/** The configuration of a network, as a runtime passes it. */
export function configurationOf(
  { name, sets, ipam: members }: StressNetwork,
  directory: string,
  top: JsonObject,
): JsonObject {
  const ipam = {
    ranges: sets.map(({ ranges }) => ranges),
    exhaustedStatus: "unavailable",
    lockTimeoutSeconds: LOCK_TIMEOUT,
    ...members,
  };
  return configuration(directory, ipam, { name, ...top });
}

/** Whether an address is of a set. */
export function isOf({ prefixes }: StressSet, address: string): boolean {
  return prefixes.some((prefix) => address.startsWith(prefix));
}

/** The reservations on disk: the content of each file that is named like an address. */
export function reservationsOf(
  { name }: StressNetwork,
  directory: string,
): ReadonlyMap<string, string> {
  const place = join(directory, name);
  if (!existsSync(place)) return new Map();
  const names = readdirSync(place).filter((one) => /^[0-9a-f]*[.:]/.test(one));
  return new Map(names.map((one) => [one, contentOf(join(place, one))]));
}

function contentOf(path: string): string {
  return lstatSync(path).isFile() ? readFileSync(path, "utf8") : "(no file)";
}
