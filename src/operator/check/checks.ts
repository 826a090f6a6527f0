/** The checks of `check`. They change nothing and take no lock. */

import { attempt, type System } from "../../system/system.ts";
import {
  configurationDirectories,
  judgingRuntimes,
} from "../configured/configuration-directories.ts";
import { type NetworkDirectory, requireReadable } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import { attachmentFindings } from "./attachment-findings.ts";
import { bridgeFindings } from "./bridge-findings.ts";
import { callFindings, unseenCallFindings } from "./call-findings.ts";
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

/** The checks of a network, in the order of their findings. */
const ofNetwork: readonly ((node: Node, directory: NetworkDirectory) => readonly Finding[])[] = [
  reservationFindings,
  outlookFindings,
  rangeFindings,
  broadcastFindings,
  reservedFindings,
  nodeAddressFindings,
];

/** The checks of all networks that the command is about, and of the node. */
const ofNode: readonly ((node: Node) => readonly Finding[])[] = [
  stateDirectoryFindings,
  unseenCallFindings,
  pluginFindings,
  missingPluginFindings,
  unconfiguredFindings,
  overlapFindings,
  bridgeFindings,
];

/** The checks of running pods, which may end meanwhile. */
const ofRunningPods: readonly ((node: Node) => readonly Finding[])[] = [
  attachmentFindings,
  (node) => node.asked.flatMap((one) => misplacedFindings(node, one).ofRunning),
  cutOffFindings,
];

/**
 * Runs all checks of the networks that the command is about.
 *
 * @returns what fails now, and then what might, sorted by severity, errors first
 * @throws CommandError if this user may not read reservations
 * @throws SystemError if a directory cannot be read
 */
export function runChecks(node: Node): readonly Finding[] {
  const { asked } = node;
  requireReadable(node.askedReservations());
  const onRunningPods = ofRunningPods.flatMap((check) => check(node));
  const leaks = leakFindings(node);
  const leaked = new Set(
    leaks.filter(({ code }) => code === "leaked-reservation").map(({ path }) => path),
  );
  const misplaced = asked.flatMap((one) => misplacedFindings(node, one).ofOthers);
  const findings = [
    ...configurationFindings(node),
    ...asked.flatMap((one) => ofNetwork.flatMap((check) => check(node, one))),
    // What leaked is to go, wherever it is: one finding says so.
    ...misplaced.filter(({ path }) => !leaked.has(path)),
    ...ofNode.flatMap((check) => check(node)),
    ...leaks,
    ...lastingFindings(node, onRunningPods),
  ];
  const present = withoutReleased(node.context.system, findings);
  return [...callFindings(node), ...bySeverity(present.map(asOfUnread(node)))];
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
function lastingFindings(node: Node, first: readonly Finding[]): readonly Finding[] {
  let findings = first;
  for (let round = 0; round < REPETITIONS && findings.length > 0; round++) {
    node.context.system.sleep(1000);
    const known = new Set(findings.map(subjectOf));
    const now = node.readAgain();
    const again = ofRunningPods.flatMap((check) => check(now));
    findings = again.filter((one) => known.has(subjectOf(one)));
  }
  return findings;
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
