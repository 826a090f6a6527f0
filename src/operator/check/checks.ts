/** The checks of `check`. They change nothing and take no lock. */

import { DEFAULT_DATA_DIR } from "../../ipam/config.ts";
import { attempt, type System } from "../../system/system.ts";
import {
  candidateDirectories,
  configurationDirectories,
  judgingRuntimes,
} from "../configured/configuration-directories.ts";
import { type NetworkDirectory, requireReadable } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import { attachmentFindings } from "./attachment-findings.ts";
import { bridgeFindings } from "./bridge-findings.ts";
import { callFindings, hasFailedFor, unseenCallFindings } from "./call-findings.ts";
import { configurationFindings } from "./configuration-findings.ts";
import { cutOffFindings } from "./cut-off-findings.ts";
import { bySeverity, type Finding, subjectOf } from "./finding.ts";
import { leakFindings } from "./leak-findings.ts";
import { misplacedFindings } from "./misplaced-findings.ts";
import { missingPluginFindings } from "./missing-plugin-findings.ts";
import { nodeAddressFindings } from "./node-address-findings.ts";
import { outlookFindings } from "./outlook-findings.ts";
import { overlapFindings } from "./overlap-findings.ts";
import { pluginFindings } from "./plugin-findings.ts";
import { broadcastFindings, rangeFindings, reservedFindings } from "./range-findings.ts";
import { reservationFindings } from "./reservation-findings.ts";
import { stateDirectoryFindings } from "./state-directory-findings.ts";
import { unconfiguredFindings } from "./unconfigured-findings.ts";

/** What was checked, and the findings. */
export interface CheckResult {
  readonly directories: readonly NetworkDirectory[];
  /** What fails now, and then what might, sorted by severity, errors first. */
  readonly findings: readonly Finding[];
}

/** Which networks are checked. */
type Selection = (network: NetworkDirectory) => boolean;

/**
 * Runs all checks.
 *
 * @param node with all networks
 * @param name only findings on the network with this name; `undefined` for all
 * @throws CommandError if this user may not read reservations
 * @throws SystemError if a directory cannot be read
 */
export function runChecks(node: Node, name: string | undefined): CheckResult {
  const { context, directories } = node;
  const { system } = context;
  const isNamed = (network: string): boolean => name === undefined || network === name;
  const isSelected: Selection = ({ files }) => isNamed(files.network);
  requireReadable(node.reservations.filter(({ network }) => isSelected(network)));
  const checked = directories.filter(isSelected);
  const misplaced = checked.map((directory) => misplacedFindings(node, directory));
  const onAttachments = attachmentFindings(node, isSelected);
  const onRunningPods = [
    ...onAttachments,
    ...misplaced.flatMap(({ ofRunning }) => ofRunning),
    ...cutOffFindings(node, isSelected),
  ];
  const leaks = leakFindings(node, checked);
  const leaked = new Set(
    leaks.filter(({ code }) => code === "leaked-reservation").map(({ path }) => path),
  );
  const networks = checked.flatMap((directory) => directory.networks);
  const onConfigurations = configurationFindings(node, isNamed);
  const findings = [
    ...(onConfigurations.length > 0 ? [] : noNetworkFindings(node)),
    ...node.problems.map(({ source: path, problem: message }) => {
      return { code: "unreadable-configuration", network: "", path, message } as const;
    }),
    ...onConfigurations,
    ...checked.flatMap((directory) => [
      ...reservationFindings(node, directory),
      ...outlookFindings(node, directory, (reason) => hasFailedFor(node, directory, reason)),
      ...rangeFindings(node, directory),
      ...broadcastFindings(directory),
      ...reservedFindings(directory),
      ...nodeAddressFindings(node, directory),
    ]),
    // What leaked is to go, wherever it is: one finding says so.
    ...misplaced.flatMap(({ ofOthers }) => ofOthers.filter(({ path }) => !leaked.has(path))),
    ...stateDirectoryFindings(node, checked),
    ...unseenCallFindings(node),
    ...(name === undefined ? pluginFindings(context) : []),
    ...missingPluginFindings(node, isNamed),
    ...unconfiguredFindings(node, isSelected),
    ...overlapFindings(node, isSelected),
    ...leaks,
    ...lastingFindings(node, isSelected, onRunningPods),
    ...bridgeFindings(node, networks),
  ];
  const present = withoutReleased(system, findings);
  const sorted = bySeverity(present.map(asOfUnread(node)));
  return { directories: checked, findings: [...callFindings(node, isNamed), ...sorted] };
}

/**
 * Makes a finding one of severity info where it is on a configuration that fails no pod: runtimes read other directories, and its
 * network has no reservation.
 */
function asOfUnread({ context, directories }: Node): (finding: Finding) => Finding {
  const read = judgingRuntimes(context).map(({ configurations }) => configurations);
  if (read.length === 0) return (finding) => finding;
  const others = configurationDirectories(context).filter((one) => !read.includes(one));
  const isUnread = ({ networks, reservations }: NetworkDirectory): boolean =>
    reservations.length === 0 && networks.every(({ use }) => use?.kind === "unread");
  const namesOf = (all: readonly NetworkDirectory[]): ReadonlySet<string> =>
    new Set(all.map(({ files }) => files.network));
  const unread = namesOf(directories.filter(isUnread));
  const heeded = namesOf(directories.filter((one) => !isUnread(one)));
  return (finding) => {
    const { code, network, path } = finding;
    const ofFile =
      code === "unreadable-configuration" && others.some((one) => path.startsWith(`${one}/`));
    const ofNetwork = unread.has(network) && !heeded.has(network);
    return ofFile || ofNetwork ? { ...finding, severity: "info" } : finding;
  };
}

/** How often findings on running pods are made again, after one second each. */
const REPETITIONS = 2;

/**
 * The findings on running pods as they are after seconds: a pod may end meanwhile, and a DEL releases the address before libcni
 * forgets the attachment.
 */
function lastingFindings(
  node: Node,
  isSelected: Selection,
  first: readonly Finding[],
): readonly Finding[] {
  let findings = first;
  for (let round = 0; round < REPETITIONS && findings.length > 0; round++) {
    node.context.system.sleep(1000);
    const known = new Set(findings.map(subjectOf));
    const now = node.readAgain();
    const again = [
      ...attachmentFindings(now, isSelected),
      ...now.directories
        .filter(isSelected)
        .flatMap((directory) => misplacedFindings(now, directory).ofRunning),
      ...cutOffFindings(now, isSelected),
    ];
    findings = again.filter((one) => known.has(subjectOf(one)));
  }
  return findings;
}

function noNetworkFindings({ context, networks, problems }: Node): readonly Finding[] {
  if (networks.length > 0 || problems.length > 0) return [];
  const dataDir = context.option("--data-dir") ?? DEFAULT_DATA_DIR;
  const message = `no network: none is configured in ${candidateDirectories(context).join(", ")}, and none has a directory in ${dataDir}`;
  return [{ code: "no-networks", network: "", path: "", message }];
}

/** Leaves out findings on reservations that have been released since. */
function withoutReleased(system: System, findings: readonly Finding[]): readonly Finding[] {
  const present = new Map<NetworkDirectory, ReadonlySet<string>>();
  const namesIn = (network: NetworkDirectory): ReadonlySet<string> => {
    const known = present.get(network);
    if (known !== undefined) return known;
    const names = new Set(
      attempt(() => system.list(network.files.directory), [], "ENOENT", "ENOTDIR"),
    );
    present.set(network, names);
    return names;
  };
  return findings.filter(({ file }) => file === undefined || namesIn(file.network).has(file.name));
}
