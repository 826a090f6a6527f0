/** The checks of `check`. They change nothing and take no lock. */

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

/** The networks that were checked, and the findings. */
export interface CheckResult {
  readonly directories: readonly NetworkDirectory[];
  /** Sorted by severity, errors first. */
  readonly findings: readonly Finding[];
}

/**
 * Runs all checks.
 *
 * @param name only findings on the network with this name; `undefined` for all
 * @throws CommandError if it is neither configured nor has a directory, or this user may not read reservations
 * @throws SystemError if a directory cannot be read
 */
export function runChecks(context: Context, name: string | undefined): CheckResult {
  const { system } = context;
  const all = findNetworks(context, undefined);
  const selected = networkDirectories(
    (name === undefined ? all : findNetworks(context, name)).found,
  );
  const directories = readDirectories(system, all.found);
  const isSelected = ({ location }: NetworkDirectory): boolean =>
    name === undefined || location.network === name;
  const checked = directories.filter(({ directory }) => isSelected(directory));
  const findings = [
    ...configurationFindings(all),
    ...checked.flatMap(({ directory, reservations }) => [
      ...unconfiguredFindings(directory),
      ...reservationFindings(system, directory, reservations),
      ...storeFindings(system, directory),
    ]),
    ...(name === undefined ? orphanedFindings(system, selected) : []),
    ...overlapFindings(directories, isSelected),
    ...bridgeFindings(system, checked),
  ];
  return { directories: selected, findings: findings.toSorted(bySeverity) };
}

function configurationFindings({ problems }: Networks): readonly Finding[] {
  return problems.map(({ source, problem }) => ({
    code: "unreadable-configuration",
    network: "",
    path: source,
    message: problem,
  }));
}

function unconfiguredFindings(directory: NetworkDirectory): readonly Finding[] {
  if (sourcesOf(directory).length > 0) return [];
  const { network, directory: path } = directory.location;
  return [
    { code: "unconfigured-network", network, path, message: "no configuration names this network" },
  ];
}

function orphanedFindings(
  system: OperatorSystem,
  directories: readonly NetworkDirectory[],
): readonly Finding[] {
  const dataDirs = new Set(directories.map(({ location }) => location.dataDir));
  return [...dataDirs].flatMap((dataDir) => orphanFindings(system, dataDir, directories));
}
