/**
 * The addresses that were released lately, for `reuseDelaySeconds`: when, by the clock that begins with the boot. Those
 * that were released before this boot have cooled down, since there is no other time to trust, and nothing that sent to
 * them has survived on this node.
 */

import { formatAddress, parseAddress } from "../../ipam/address.ts";
import type { System } from "../../system/system.ts";
import { bootId } from "../files/boot-id.ts";
import type { Location } from "../files/paths.ts";
import { readStateLines, writeStateLines } from "../files/state-file.ts";

/** The name of the file, in the state directory. */
const FILE = "released";

/** What the first line begins with; the boot and the delay in seconds follow. */
const FORM = "host-local-released 1";

/** No more are kept. */
const MOST = 4096;

/**
 * The addresses that were released less than some seconds ago, each with the milliseconds since then; needs no lock.
 *
 * @param seconds by default as long as was configured when the last was released
 */
export function coolingAddresses(
  system: System,
  location: Location,
  seconds?: number,
): ReadonlyMap<string, number> {
  return recorded(system, location, seconds).cooling;
}

/**
 * Notes that addresses are released now.
 *
 * @param names those of their files
 * @param seconds how long they cool down; by default as was configured when the last was released
 * @throws SystemError
 */
export function noteReleased(
  system: System,
  location: Location,
  names: readonly string[],
  seconds?: number,
): void {
  const boot = bootId(system);
  if (boot === undefined || !location.usesStateDirectory) return;
  const { cooling, delay } = recorded(system, location, seconds);
  if (delay === undefined) return;
  const ages = new Map(cooling);
  for (const name of names) {
    const address = parseAddress(name);
    if (address === undefined) continue;
    ages.delete(formatAddress(address));
    ages.set(formatAddress(address), 0);
  }
  const now = system.monotonic();
  const lines = [...ages].slice(-MOST).map(([address, age]) => `${address} ${now - age}`);
  writeStateLines(system, location, FILE, [`${FORM} ${boot} ${delay}`, ...lines]);
}

interface Recorded {
  readonly cooling: ReadonlyMap<string, number>;
  /** In seconds; `undefined` where none is known. */
  readonly delay: number | undefined;
}

function recorded(system: System, location: Location, seconds: number | undefined): Recorded {
  const cooling = new Map<string, number>();
  const [header = "", ...lines] = readStateLines(system, location, FILE);
  const prefix = `${FORM} ${bootId(system)} `;
  if (!header.startsWith(prefix)) return { cooling, delay: seconds };
  const delay = seconds ?? Number(header.slice(prefix.length));
  const now = system.monotonic();
  for (const line of lines) {
    const [address = "", text] = line.split(" ");
    const age = now - Number(text);
    if (age >= 0 && age < delay * 1000) cooling.set(address, age);
  }
  return { cooling, delay };
}
