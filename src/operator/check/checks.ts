/** Everything that `check` looks at. Nothing is changed, and no lock is taken. */

import type { OperatorSystem } from "../../system/operator-system.ts";
import type { Context } from "../command/command.ts";
import { readDirectories } from "../node/directory-contents.ts";
import {
  type NetworkDirectory,
  networkDirectories,
  sourcesOf,
} from "../node/network-directories.ts";
import { findNetworks, type Networks } from "../node/networks.ts";
import { bridgeFindings } from "./bridge-findings.ts";
import { bySeverity, type Finding } from "./finding.ts";
import { overlapFindings } from "./overlap-findings.ts";
import { reservationFindings } from "./reservation-findings.ts";
import { orphanFindings, storeFindings } from "./store-findings.ts";

/** What was looked at, and what was found. */
export interface CheckResult {
  readonly directories: readonly NetworkDirectory[];
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
export function runChecks(context: Context, name: string | undefined): CheckResult {
  const { system } = context;
  const all = findNetworks(context, undefined);
  const wanted = networkDirectories((name === undefined ? all : findNetworks(context, name)).found);
  const contents = readDirectories(system, all.found);
  const isWanted = ({ location }: NetworkDirectory): boolean =>
    name === undefined || location.network === name;
  const looked = contents.filter(({ directory }) => isWanted(directory));
  const findings = [
    ...configurationFindings(all),
    ...looked.flatMap(({ directory, reservations }) => [
      ...unconfiguredFindings(directory),
      ...reservationFindings(system, directory, reservations),
      ...storeFindings(system, directory),
    ]),
    ...(name === undefined ? orphans(system, wanted) : []),
    ...overlapFindings(contents, isWanted),
    ...bridgeFindings(system, looked),
  ];
  return { directories: wanted, findings: findings.toSorted(bySeverity) };
}

function configurationFindings({ bad }: Networks): readonly Finding[] {
  return bad.map(({ source, problem }) => ({
    code: "unreadable-configuration",
    network: "",
    path: source,
    message: problem,
  }));
}

function unconfiguredFindings(directory: NetworkDirectory): readonly Finding[] {
  const { network, directory: path } = directory.location;
  if (sourcesOf(directory).length > 0) return [];
  const message = "no configuration names this network";
  return [{ code: "unconfigured-network", network, path, message }];
}

function orphans(
  system: OperatorSystem,
  directories: readonly NetworkDirectory[],
): readonly Finding[] {
  const dataDirs = new Set(directories.map(({ location }) => location.dataDir));
  return [...dataDirs].flatMap((dataDir) => orphanFindings(system, dataDir, directories));
}
