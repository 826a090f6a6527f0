/** What is wrong with reservations. */

import { formatAddress, isSame, isWithin } from "../ipam/address.ts";
import { formatRangeSet } from "../ipam/range-set.ts";
import { ownerText } from "../store/owner.ts";
import { isBlankFile } from "../store/reservations.ts";
import { isDebris } from "../store/usage.ts";
import type { OperatorSystem, Permissions } from "../system/operator-system.ts";
import { isSystemError } from "../system/system.ts";
import type { Code, Finding, Repair } from "./finding.ts";
import { containerOf, type Item, interfaceOf, requireReadable } from "./inventory.ts";
import { knowsItsRanges, type Place, rangesOf, setOf } from "./places.ts";

/**
 * Looks at every reservation of a place.
 *
 * @throws CannotLook where this user may not read them
 */
export function reservationFindings(
  system: OperatorSystem,
  place: Place,
  items: readonly Item[],
): readonly Finding[] {
  requireReadable(items);
  const directory = permissionsOf(system, place.location.directory);
  return [
    ...items.flatMap((item) => [
      ...contentFindings(system, item),
      ...placeFindings(place, item),
      ...permissionFindings(system, item, directory),
    ]),
    ...duplicateFindings(place, items),
  ];
}

function contentFindings(system: OperatorSystem, item: Item): readonly Finding[] {
  const { owner, path, name, address } = item;
  if (owner.kind === "unknown") {
    return [found(item, "unreadable-reservation", owner.reason)];
  }
  const canonical = formatAddress(address);
  const odd =
    name === canonical
      ? []
      : [found(item, "odd-name", `the file of ${canonical} is called ${name}`)];
  return owner.kind === "nobody" ? [...odd, ...ownerlessFindings(system, item, path)] : odd;
}

/** One that is gone by now, or empty for a moment only, is nothing to report. */
function ownerlessFindings(system: OperatorSystem, item: Item, path: string): readonly Finding[] {
  try {
    if (system.linkStatus(path).kind !== "file") {
      return [found(item, "malformed-reservation", "it is no file")];
    }
    if (!isBlankFile(system, path)) {
      return [found(item, "malformed-reservation", "the file names no container")];
    }
    const repair: Repair = { kind: "reservation", name: item.name };
    return isDebris(system, path)
      ? [{ ...found(item, "empty-reservation", "the file is empty: no DEL can free it"), repair }]
      : [];
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    if (isSystemError(error)) return [found(item, "malformed-reservation", error.message)];
    throw error;
  }
}

function placeFindings(place: Place, item: Item): readonly Finding[] {
  const ranges = rangesOf(place);
  const address = formatAddress(item.address);
  const isGateway = ranges.some(({ gateway }) => isSame(gateway, item.address));
  if (isGateway) {
    return [found(item, "reserved-gateway", `${address} is the gateway${holderOf(item)}`)];
  }
  if (!knowsItsRanges(place) || ranges.some((range) => isWithin(item.address, range))) return [];
  return [found(item, "out-of-range", `${address} is in no range${holderOf(item)}`)];
}

function permissionFindings(
  system: OperatorSystem,
  item: Item,
  directory: Permissions | undefined,
): readonly Finding[] {
  const own = permissionsOf(system, item.path);
  if (own === undefined || directory === undefined) return [];
  const mode = (own.mode & 0o777).toString(8).padStart(4, "0");
  return [
    ...((own.mode & 0o022) === 0
      ? []
      : [found(item, "writable-by-others", `others than its user may write it: mode ${mode}`)]),
    ...(own.user === directory.user
      ? []
      : [
          found(
            item,
            "foreign-user",
            `it belongs to user ${own.user}, the directory to user ${directory.user}`,
          ),
        ]),
  ];
}

/** An attachment has one address of each range set. */
function duplicateFindings({ networks }: Place, items: readonly Item[]): readonly Finding[] {
  const findings = new Map<string, Finding>();
  for (const network of networks) {
    const first = new Map<string, Item>();
    for (const item of items) {
      const set = setOf(network, item.address);
      if (set === undefined || item.owner.kind !== "attachment") continue;
      const key = `${formatRangeSet(set)} ${ownerText(item.owner)}`;
      const other = first.get(key);
      if (other === undefined) {
        first.set(key, item);
        continue;
      }
      const message = `${containerOf(item.owner)} ${interfaceOf(item.owner)} holds ${formatAddress(other.address)} and ${formatAddress(item.address)} of one range set`;
      findings.set(`${item.path} ${message}`, found(item, "duplicate-owner", message));
    }
  }
  return [...findings.values()];
}

function holderOf({ owner }: Item): string {
  const container = containerOf(owner);
  return container === "" ? "" : `, held by ${`${container} ${interfaceOf(owner)}`.trim()}`;
}

function found({ network, path }: Item, code: Code, message: string): Finding {
  return { code, network: network.location.network, path, message };
}

function permissionsOf(system: OperatorSystem, path: string): Permissions | undefined {
  try {
    return system.permissions(path);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
