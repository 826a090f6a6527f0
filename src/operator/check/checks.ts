/** The checks of `check`. They change nothing and take no lock. */

import { attempt, type System } from "../../system/system.ts";
import { type NetworkDirectory, requireReadable } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import { onceFor } from "../once.ts";
import { attachmentFindings } from "./attachment-findings.ts";
import { bridgeFindings } from "./bridge-findings.ts";
import { callFindings } from "./call-findings.ts";
import { configurationFindings } from "./configuration-findings.ts";
import { cutOffFindings } from "./cut-off-findings.ts";
import { directoryFindings } from "./directory-findings.ts";
import { bySeverity, type Finding, subjectOf } from "./finding.ts";
import { leakFindings } from "./leak-findings.ts";
import { missingPluginFindings } from "./missing-plugin-findings.ts";
import { nodeAddressFindings } from "./node-address-findings.ts";
import { outOfRangeFindings } from "./out-of-range-findings.ts";
import { outlookFindings } from "./outlook-findings.ts";
import { overlapFindings } from "./overlap-findings.ts";
import { pluginFindings } from "./plugin-findings.ts";
import { broadcastFindings, rangeFindings, reservedFindings } from "./range-findings.ts";
import { reservationFindings } from "./reservation-findings.ts";
import { unconfiguredFindings } from "./unconfigured-findings.ts";

type Check = (node: Node) => readonly Finding[];

/** The checks of pods that run, and may end meanwhile. */
const ofRunningPods: readonly Check[] = [
  attachmentFindings,
  (node) => outOfRangeFindings(node, "running pods"),
  cutOffFindings,
];

/** The checks of one network. */
const ofNetwork: readonly ((node: Node, directory: NetworkDirectory) => readonly Finding[])[] = [
  reservationFindings,
  outlookFindings,
  rangeFindings,
  broadcastFindings,
  reservedFindings,
  nodeAddressFindings,
];

/** All other checks: what fails now comes before what might. */
const others: readonly Check[] = [
  callFindings,
  configurationFindings,
  (node) => node.asked.flatMap((directory) => ofNetwork.flatMap((check) => check(node, directory))),
  (node) => outOfRangeFindings(node, "others"),
  directoryFindings,
  pluginFindings,
  missingPluginFindings,
  unconfiguredFindings,
  overlapFindings,
  leakFindings,
  bridgeFindings,
];

/**
 * Runs all checks of the networks that the command is about.
 *
 * @returns the findings sorted by severity, errors first
 * @throws CommandError if this user may not read reservations
 * @throws SystemError if a directory cannot be read
 */
export function runChecks(node: Node): readonly Finding[] {
  requireReadable(node.askedReservations());
  const onRunningPods = ofRunningPods.flatMap((check) => check(node));
  const findings = others.flatMap((check) => check(node));
  const all = [...findings, ...lastingFindings(node, onRunningPods)];
  const present = withoutReleased(node.context.system, all);
  return bySeverity(present.map(asOfUnread(node)));
}

/**
 * Makes a finding one of severity info where it is on a configuration that fails no pod: runtimes read other directories, and its
 * network has no reservation.
 */
function asOfUnread({ places, directories }: Node): (finding: Finding) => Finding {
  const read = places.runtimes.map(({ configurations }) => configurations);
  const others = places.directories.filter((path) => read.length > 0 && !read.includes(path));
  const isUnread = onceFor((network: string): boolean => {
    const own = directories.filter(({ files }) => files.network === network);
    const isOfNobody = ({ networks, reservations }: NetworkDirectory): boolean =>
      reservations.length === 0 && networks.every(({ use }) => use?.kind === "unread");
    return own.length > 0 && own.every(isOfNobody);
  });
  return (finding) => {
    const { code, network, path } = finding;
    const isOfFile =
      code === "unreadable-configuration" &&
      others.some((directory) => path.startsWith(`${directory}/`));
    return isOfFile || isUnread(network) ? { ...finding, severity: "info" } : finding;
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
    findings = again.filter((finding) => known.has(subjectOf(finding)));
  }
  return findings;
}

/** Leaves out findings on reservations that have been released since. */
function withoutReleased(system: System, findings: readonly Finding[]): readonly Finding[] {
  const namesIn = onceFor(
    (path: string) => new Set(attempt(() => system.list(path), [], "ENOENT", "ENOTDIR")),
  );
  return findings.filter(
    ({ file }) => file === undefined || namesIn(file.network.files.directory).has(file.name),
  );
}
