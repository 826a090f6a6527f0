/** Everything that `check` looks at. Nothing is changed, and no lock is taken. */

import type { OperatorSystem } from "../system/operator-system.ts";
import { bridgeFindings } from "./bridge-findings.ts";
import type { Context } from "./command.ts";
import { bySeverity, type Finding } from "./finding.ts";
import { findNetworks, type Networks } from "./networks.ts";
import { overlapFindings } from "./overlap.ts";
import { type Place, placesOf, sourcesOf } from "./places.ts";
import { reservationFindings } from "./reservation-findings.ts";
import { takeStock } from "./stock.ts";
import { orphanFindings, storeFindings } from "./store-findings.ts";

/** What was looked at, and what was found. */
export interface Examination {
  readonly places: readonly Place[];
  /** The worst first. */
  readonly findings: readonly Finding[];
}

/**
 * Looks at all networks, and tells what concerns the one that is asked for.
 *
 * @param name `undefined` for all
 * @throws CannotLook where that one is neither configured nor has a directory, or reservations may not be read
 * @throws SystemError where a directory cannot be read
 */
export function examine(context: Context, name: string | undefined): Examination {
  const { system } = context;
  const all = findNetworks(context, undefined);
  const wanted = placesOf((name === undefined ? all : findNetworks(context, name)).found);
  const stocks = takeStock(system, all.found);
  const isWanted = ({ location }: Place): boolean =>
    name === undefined || location.network === name;
  const looked = stocks.filter(({ place }) => isWanted(place));
  const findings = [
    ...configurationFindings(all),
    ...looked.flatMap(({ place, items }) => [
      ...unconfiguredFindings(place),
      ...reservationFindings(system, place, items),
      ...storeFindings(system, place),
    ]),
    ...(name === undefined ? orphans(system, wanted) : []),
    ...overlapFindings(stocks, isWanted),
    ...bridgeFindings(system, looked),
  ];
  return { places: wanted, findings: findings.toSorted(bySeverity) };
}

function configurationFindings({ bad }: Networks): readonly Finding[] {
  return bad.map(({ source, problem }) => ({
    code: "unreadable-configuration",
    network: "",
    path: source,
    message: problem,
  }));
}

function unconfiguredFindings(place: Place): readonly Finding[] {
  const { network, directory } = place.location;
  if (sourcesOf(place).length > 0) return [];
  const message = "no configuration names this network";
  return [{ code: "unconfigured-network", network, path: directory, message }];
}

function orphans(system: OperatorSystem, places: readonly Place[]): readonly Finding[] {
  const dataDirs = new Set(places.map(({ location }) => location.dataDir));
  return [...dataDirs].flatMap((dataDir) => orphanFindings(system, dataDir, places));
}
