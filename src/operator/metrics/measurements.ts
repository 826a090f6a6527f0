/** The metrics that `metrics` prints. What is not known has no sample. */

import { formatAddressRange } from "../../ipam/address.ts";
import { isUnowned } from "../../store/reservations/owner.ts";
import { type RangeUsage, usageOf } from "../../store/reservations/usage.ts";
import type { System } from "../../system/system.ts";
import { reservedIn } from "../capacity/capacity-count.ts";
import type { CheckResult } from "../check/checks.ts";
import { type Finding, type Severity, severityOf } from "../check/finding.ts";
import { readCollection } from "../gc/collection-file.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import type { Node } from "../node.ts";
import { countDead } from "./dead-reservations.ts";
import type { Labels, Metric, Sample } from "./exposition.ts";

declare const BUILD_VERSION: string;

/** A range with its usage. */
interface MeasuredRange {
  readonly labels: Labels;
  readonly usage: RangeUsage;
  readonly reserved: bigint;
}

/** Measures the networks that were checked. */
export function measure(
  system: System,
  { liveness, problems }: Node,
  { directories, findings }: CheckResult,
): readonly Metric[] {
  const ranges = directories.flatMap(measureRanges);
  const counts = new Map(
    directories.map((directory) => [directory, countReservations(directory, system.now())]),
  );
  const countsOf = (directory: NetworkDirectory): Counts => counts.get(directory) ?? NOTHING;
  const ofRanges = (value: (usage: RangeUsage) => bigint): readonly Sample[] =>
    ranges.map(({ labels, usage }) => ({ labels, value: value(usage) }));
  const ofDirectories = (
    value: (directory: NetworkDirectory) => number | undefined,
  ): readonly Sample[] =>
    directories.flatMap((directory) => {
      const measured = value(directory);
      return measured === undefined ? [] : [{ labels: labelsOf(directory), value: measured }];
    });
  return [
    gauge("cni_ipam_build_info", "The version of host-local; the value is always 1.", [
      { labels: { version: BUILD_VERSION }, value: 1 },
    ]),
    gauge(
      "cni_ipam_addresses_capacity",
      "Addresses of a range that any pod can get: without the gateway, excluded and reserved addresses.",
      ofRanges(({ capacity }) => capacity),
    ),
    gauge(
      "cni_ipam_addresses_reserved",
      "Addresses of a range that the configuration reserves for a pod, or for nobody.",
      ranges.map(({ labels, reserved }) => ({ labels, value: reserved })),
    ),
    gauge(
      "cni_ipam_addresses_used",
      "Addresses of these that are in use, without those from before this boot, which ADD uses again.",
      ofRanges(({ used }) => used),
    ),
    gauge(
      "cni_ipam_addresses_free",
      "Addresses of these that are not in use, or that ADD uses again because they are from before this boot.",
      ofRanges(({ capacity, used }) => (used > capacity ? 0n : capacity - used)),
    ),
    gauge(
      "cni_ipam_reservations",
      "Reservations of a network, inside and outside its ranges.",
      ofDirectories(({ reservations }) => reservations.length),
    ),
    gauge(
      "cni_ipam_reservations_out_of_range",
      "Reservations outside all ranges of their network; only for networks whose ranges are all configured.",
      ofDirectories((directory) =>
        directory.hasKnownRanges ? countsOf(directory).outOfRange : undefined,
      ),
    ),
    gauge(
      "cni_ipam_reservations_unowned",
      "Reservations whose file names no container, or cannot be read.",
      ofDirectories((directory) => countsOf(directory).unowned),
    ),
    gauge(
      "cni_ipam_reservations_reclaimable",
      "Empty reservations, whose addresses ADD hands out when the range is otherwise full.",
      ofDirectories((directory) => countsOf(directory).removable),
    ),
    gauge(
      "cni_ipam_reservations_before_boot",
      "Reservations from before this boot of the node.",
      ofDirectories((directory) => countsOf(directory).beforeBoot),
    ),
    gauge(
      "cni_ipam_addresses_cooling",
      "Free addresses that were released less than reuseDelaySeconds ago.",
      ofDirectories((directory) =>
        Math.max(...directory.networks.map((one) => directory.coolingIn(one).length)),
      ),
    ),
    gauge(
      "cni_ipam_reservations_dead",
      "Reservations of dead containers, by the network namespaces of the node or because host-local gc found them dead and has not released them. No sample instead of 0 where some may be dead.",
      ofDirectories((directory) => countDead(liveness, directory)),
    ),
    gauge(
      "cni_ipam_oldest_reservation_timestamp_seconds",
      "Creation time of the oldest reservation of a network, in seconds since the epoch.",
      ofDirectories((directory) => inSeconds(countsOf(directory).oldest)),
    ),
    gauge(
      "cni_ipam_gc_last_run_timestamp_seconds",
      "When host-local gc --yes last ran on a network and was not refused, in seconds since the epoch.",
      ofDirectories(({ files }) => inSeconds(readCollection(files).lastRun)),
    ),
    gauge(
      "cni_ipam_check_findings",
      "Findings of host-local check on a network; without the label network, those that concern none.",
      countFindings(directories, findings),
    ),
    gauge(
      "cni_ipam_configuration_errors",
      "Network configurations that are invalid or cannot be read.",
      [{ labels: {}, value: problems.length }],
    ),
  ];
}

function gauge(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, type: "gauge", help, samples };
}

/** A range that several configurations of a network have is measured once; one that no runtime uses would hide that others are full. */
function measureRanges(directory: NetworkDirectory): readonly MeasuredRange[] {
  const measured = new Map<string, MeasuredRange>();
  for (const network of directory.networks) {
    const { rangeSets, exclusions, shadowedBy } = network;
    if (shadowedBy !== undefined) continue;
    const inUse = directory.usedIn(network);
    for (const [index, set] of rangeSets.entries()) {
      for (const usage of usageOf(set, exclusions, inUse)) {
        const range = formatAddressRange(usage.range);
        const key = `${index} ${range}`;
        if (measured.has(key)) continue;
        const labels = { ...labelsOf(directory), range_set: `${index}`, range };
        measured.set(key, { labels, usage, reserved: reservedIn(usage.range, network.reserved) });
      }
    }
  }
  return [...measured.values()];
}

/** What is counted of all reservations of a network. */
interface Counts {
  outOfRange: number;
  unowned: number;
  removable: number;
  beforeBoot: number;
  /** When the oldest was made, in milliseconds since the epoch. */
  oldest: number | undefined;
}

const NOTHING: Counts = {
  outOfRange: 0,
  unowned: 0,
  removable: 0,
  beforeBoot: 0,
  oldest: undefined,
};

/** Counts in one pass: there may be 65 000. */
function countReservations({ reservations }: NetworkDirectory, now: number): Counts {
  const counts = { ...NOTHING };
  for (const reservation of reservations) {
    const { since } = reservation;
    if (reservation.range === undefined) counts.outOfRange++;
    if (isUnowned(reservation.owner)) counts.unowned++;
    if (reservation.isRemovable(now)) counts.removable++;
    if (reservation.isBeforeBoot) counts.beforeBoot++;
    if (since !== undefined && !(Number(counts.oldest) <= since)) counts.oldest = since;
  }
  return counts;
}

const severities: readonly Severity[] = ["error", "warning", "info"];

/** Also 0, so that an alert can tell a problem that was solved from one that is no longer measured. */
function countFindings(
  directories: readonly NetworkDirectory[],
  findings: readonly Finding[],
): readonly Sample[] {
  const byNetwork = Map.groupBy(findings, ({ network }) => network);
  const networks = new Set([
    "",
    ...directories.map(({ files }) => files.network),
    ...byNetwork.keys(),
  ]);
  return [...networks].flatMap((network) => {
    const here = (byNetwork.get(network) ?? []).map(severityOf);
    return severities.map((severity) => ({
      labels: { ...(network === "" ? {} : { network }), severity },
      value: here.filter((one) => one === severity).length,
    }));
  });
}

function inSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.floor(milliseconds / 1000);
}

function labelsOf({ files }: NetworkDirectory): Labels {
  return { network: files.network, data_dir: files.dataDir };
}
