/** The checks of `check`. They change nothing and take no lock. */

import type { Context } from "../../cli/command/command.ts";
import { formatAddress } from "../../ipam/address.ts";
import { DEFAULT_DATA_DIR } from "../../ipam/config.ts";
import { isSystemError, type System } from "../../system/system.ts";
import { commandText } from "../node/command-text.ts";
import {
  knownConfigurationDirectories,
  requestedConfigurationDirectory,
} from "../node/configuration-directories.ts";
import type { ConfigurationProblem } from "../node/configurations.ts";
import { type DirectoryContents, readDirectories } from "../node/directory-contents.ts";
import { type LivenessChecker, makeLivenessChecker } from "../node/liveness.ts";
import { type NetworkDirectory, sourcesOf } from "../node/network-directories.ts";
import { type FoundNetwork, findNetworks, type Networks } from "../node/networks.ts";
import type { NodeReservation } from "../node/node-reservations.ts";
import { type Pods, readPods } from "../node/pods.ts";
import { attachmentFindings } from "./attachment-findings.ts";
import { bridgeFindings } from "./bridge-findings.ts";
import { bySeverity, type Code, type Finding, severityOf } from "./finding.ts";
import { beforeBootFindings, leakFindings } from "./leak-findings.ts";
import { formerNetworkFindings, overlapFindings } from "./overlap-findings.ts";
import { pluginFindings } from "./plugin-findings.ts";
import { rangeFindings } from "./range-findings.ts";
import { reservationFindings } from "./reservation-findings.ts";
import { orphanFindings, storeFindings } from "./store-findings.ts";

/** What was checked, and the findings. */
export interface CheckResult {
  readonly directories: readonly DirectoryContents[];
  readonly problems: readonly ConfigurationProblem[];
  readonly checker: LivenessChecker;
  /** Sorted by severity, errors first. */
  readonly findings: readonly Finding[];
}

/** What is on the node at one moment. */
interface Snapshot {
  /** Those of all networks. */
  readonly directories: readonly DirectoryContents[];
  readonly pods: Pods;
  readonly checker: LivenessChecker;
}

/** Which networks are checked. */
type Selection = (network: Pick<NetworkDirectory, "location">) => boolean;

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
  const isSelected: Selection = ({ location }) => name === undefined || location.network === name;
  const networks =
    name === undefined
      ? all.found
      : [...all.found.filter((one) => !isSelected(one)), ...findNetworks(context, name).found];
  const snapshot = readSnapshot(context, networks);
  const { directories, pods, checker } = snapshot;
  const checked = directories.filter(({ directory }) => isSelected(directory));
  const isInUse = inUseBy(pods, checker);
  const former = formerNetworkFindings(context, directories, pods, checker, isSelected);
  const formerInUse = new Set(former.map(({ location }) => location));
  const findings = [
    ...noNetworkFindings(context, all),
    ...configurationFindings(all),
    ...checked.flatMap((contents) => [
      ...(formerInUse.has(contents.directory.location)
        ? []
        : unconfiguredFindings(contents.directory)),
      ...reservationFindings(context, contents.directory, contents.reservations, isInUse),
      ...rangeFindings(context, contents),
      ...beforeBootFindings(context, contents),
      ...storeFindings(system, contents.directory),
    ]),
    ...(name === undefined ? pluginFindings(system) : []),
    ...(name === undefined
      ? orphanedFindings(
          system,
          checked.map(({ directory }) => directory),
        )
      : []),
    ...former,
    ...overlapFindings(directories, isSelected),
    ...leakFindings(context, checked, pods, checker),
    ...lastingAttachmentFindings(context, networks, snapshot, isSelected),
    ...bridgeFindings(system, checked),
  ];
  return {
    directories: checked,
    problems: all.problems,
    checker,
    findings: findings
      .filter((finding) => !isReleased(system, finding))
      .map((finding) => withRepairCommand(context, finding))
      .toSorted(bySeverity),
  };
}

function readSnapshot(context: Context, networks: readonly FoundNetwork[]): Snapshot {
  // Reservations are read last: those of attachments that were added meanwhile are then known.
  const pods = readPods(context);
  const checker = makeLivenessChecker(context.system, pods.attachments);
  return { directories: readDirectories(context.system, networks), pods, checker };
}

/** Whether a live container has an address in the network of a reservation, whoever holds it. */
function inUseBy(
  { attachments }: Pods,
  { livenessOf, livenessOfAttachment }: LivenessChecker,
): (reservation: NodeReservation) => boolean {
  return (reservation) => {
    const address = formatAddress(reservation.address);
    const { network } = reservation.network.location;
    return (
      livenessOf(reservation).liveness === "alive" ||
      attachments.some(
        (one) =>
          one.network === network &&
          one.addresses.includes(address) &&
          livenessOfAttachment(one).liveness === "alive",
      )
    );
  };
}

/** How often findings on attachments are made again, after one second each. */
const REPETITIONS = 2;

/** A DEL releases the address before libcni forgets the attachment: what is over within seconds is not reported. */
function lastingAttachmentFindings(
  context: Context,
  networks: readonly FoundNetwork[],
  snapshot: Snapshot,
  isSelected: Selection,
): readonly Finding[] {
  const find = ({ directories, pods, checker }: Snapshot): readonly Finding[] =>
    attachmentFindings(context, directories, pods.attachments, checker, isSelected);
  let findings = find(snapshot);
  for (let round = 0; round < REPETITIONS && findings.length > 0; round++) {
    context.system.sleep(1000);
    const messages = new Set(find(readSnapshot(context, networks)).map(({ message }) => message));
    findings = findings.filter(({ message }) => messages.has(message));
  }
  return findings;
}

function noNetworkFindings(context: Context, { found, problems }: Networks): readonly Finding[] {
  if (found.length > 0 || problems.length > 0) return [];
  const confDir = requestedConfigurationDirectory(context);
  const searched = confDir === undefined ? knownConfigurationDirectories : [confDir];
  const dataDir = context.option("--data-dir") ?? DEFAULT_DATA_DIR;
  const message = `no network: none is configured in ${searched.join(", ")}, and none has a directory in ${dataDir}`;
  return [{ code: "no-networks", location: undefined, path: "", message }];
}

function configurationFindings({ problems }: Networks): readonly Finding[] {
  return problems.map(({ source, problem, rangesFile }) =>
    rangesFile === undefined
      ? {
          code: "unreadable-configuration",
          location: undefined,
          path: source,
          message: problem,
        }
      : {
          code: "unreadable-ranges-file",
          location: undefined,
          path: rangesFile,
          message: `${problem}; it is the rangesFile of ${source}`,
        },
  );
}

function unconfiguredFindings(directory: NetworkDirectory): readonly Finding[] {
  if (sourcesOf(directory).length > 0) return [];
  const { location } = directory;
  return [
    {
      code: "unconfigured-network",
      location,
      path: location.directory,
      message: "no configuration names this network",
    },
  ];
}

function orphanedFindings(
  system: System,
  directories: readonly NetworkDirectory[],
): readonly Finding[] {
  const dataDirs = new Set(directories.map(({ location }) => location.dataDir));
  return [...dataDirs].flatMap((dataDir) => orphanFindings(system, dataDir, directories));
}

/** Codes of findings on the file of a reservation that was there when it was listed. */
const ON_RESERVATIONS: ReadonlySet<Code> = new Set([
  "address-in-two-networks",
  "duplicate-owner",
  "foreign-user",
  "leaked-reservation",
  "malformed-reservation",
  "odd-name",
  "out-of-range",
  "reserved-gateway",
  "unreadable-reservation",
  "writable-by-others",
]);

/** Whether a finding is on a reservation that has been released since. */
function isReleased(system: System, { code, path }: Finding): boolean {
  if (!ON_RESERVATIONS.has(code)) return false;
  try {
    system.linkStatus(path);
    return false;
  } catch (error) {
    if (isSystemError(error)) return error.code === "ENOENT";
    throw error;
  }
}

/** A finding of severity info needs no repair. */
function withRepairCommand(context: Context, finding: Finding): Finding {
  const { repair, location } = finding;
  if (repair === undefined || location === undefined || severityOf(finding) === "info") {
    return finding;
  }
  const command = commandText(context, location, ["check", location.network, "--repair"]);
  return { ...finding, commands: [command] };
}
