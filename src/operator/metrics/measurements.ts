/** The metrics that `metrics` prints. */

import { formatAddressRange, isWithin } from "../../ipam/address.ts";
import { ownerText } from "../../store/owner.ts";
import { readSeenDead } from "../../store/seen-dead.ts";
import { isDebris, type RangeUsage, usageOf } from "../../store/usage.ts";
import type { System } from "../../system/system.ts";
import type { ConfigurationProblem } from "../node/configurations.ts";
import type { DirectoryContents } from "../node/directory-contents.ts";
import { hasKnownRanges, type NetworkDirectory, rangesOf } from "../node/network-directories.ts";
import type { NodeReservation } from "../node/node-reservations.ts";
import type { Labels, Metric, Sample } from "./exposition.ts";

/** A range with its usage. */
interface MeasuredRange {
  readonly labels: Labels;
  readonly usage: RangeUsage;
}

/** Measures all networks. */
export function measure(
  system: System,
  directories: readonly DirectoryContents[],
  problems: readonly ConfigurationProblem[],
): readonly Metric[] {
  const ranges = directories.flatMap(measureRanges);
  const ofRanges = (value: (usage: RangeUsage) => bigint): readonly Sample[] =>
    ranges.map(({ labels, usage }) => ({ labels, value: value(usage) }));
  const ofDirectories = (
    value: (contents: DirectoryContents) => number | undefined,
  ): readonly Sample[] =>
    directories.flatMap((contents) => {
      const measured = value(contents);
      return measured === undefined
        ? []
        : [{ labels: labelsOf(contents.directory), value: measured }];
    });
  return [
    {
      name: "cni_ipam_addresses_total",
      type: "untyped",
      help: "Addresses of a range that can be handed out, without the gateway and excluded addresses.",
      samples: ofRanges(({ capacity }) => capacity),
    },
    {
      name: "cni_ipam_addresses_used",
      type: "gauge",
      help: "Addresses of a range that are reserved.",
      samples: ofRanges(({ used }) => used),
    },
    {
      name: "cni_ipam_addresses_free",
      type: "gauge",
      help: "Addresses of a range that are not reserved.",
      samples: ofRanges(({ capacity, used }) => (used > capacity ? 0n : capacity - used)),
    },
    {
      name: "cni_ipam_reservations",
      type: "gauge",
      help: "Reservations of a network, inside and outside its ranges.",
      samples: ofDirectories(({ reservations }) => reservations.length),
    },
    {
      name: "cni_ipam_reservations_out_of_range",
      type: "gauge",
      help: "Reservations outside all ranges of their network; only for networks whose ranges are all configured.",
      samples: ofDirectories(countOutOfRange),
    },
    {
      name: "cni_ipam_reservations_suspect",
      type: "gauge",
      help: "Reservations whose file names no container, or cannot be read.",
      samples: ofDirectories(({ reservations }) => reservations.filter(isSuspect).length),
    },
    {
      name: "cni_ipam_reservations_reclaimable",
      type: "gauge",
      help: "Empty reservations, whose addresses ADD hands out when the range is otherwise full.",
      samples: ofDirectories(
        ({ reservations }) =>
          reservations.filter(
            (reservation) => isSuspect(reservation) && isDebris(system, reservation.path),
          ).length,
      ),
    },
    {
      name: "cni_ipam_reservations_dead",
      type: "gauge",
      help: "Reservations that the last run of host-local gc found dead and did not release.",
      samples: ofDirectories((contents) => countDead(system, contents)),
    },
    {
      name: "cni_ipam_oldest_reservation_timestamp_seconds",
      type: "gauge",
      help: "Creation time of the oldest reservation of a network, in seconds since the epoch.",
      samples: ofDirectories(oldest),
    },
    {
      name: "cni_ipam_configuration_errors",
      type: "gauge",
      help: "Network configurations that are invalid or cannot be read.",
      samples: [{ labels: {}, value: problems.length }],
    },
  ];
}

/** A range that several configurations of a network have is measured once. */
function measureRanges({ directory, reservations }: DirectoryContents): readonly MeasuredRange[] {
  const measured = new Map<string, MeasuredRange>();
  for (const { rangeSets, exclusions } of directory.networks) {
    for (const [index, set] of rangeSets.entries()) {
      for (const usage of usageOf(set, exclusions, reservations)) {
        const range = formatAddressRange(usage.range);
        const key = `${index} ${range}`;
        if (measured.has(key)) continue;
        const labels = { ...labelsOf(directory), range_set: `${index}`, range };
        measured.set(key, { labels, usage });
      }
    }
  }
  return [...measured.values()];
}

function countOutOfRange({ directory, reservations }: DirectoryContents): number | undefined {
  if (!hasKnownRanges(directory)) return undefined;
  const ranges = rangesOf(directory);
  return reservations.filter(({ address }) => !ranges.some((range) => isWithin(address, range)))
    .length;
}

/** Reservations that were released since are not counted. */
function countDead(system: System, { directory, reservations }: DirectoryContents): number {
  const owners = new Map(reservations.map(({ name, owner }) => [name, ownerText(owner)]));
  return readSeenDead(system, directory.location).filter(
    ({ name, owner }) => owners.get(name) === owner,
  ).length;
}

function oldest({ reservations }: DirectoryContents): number | undefined {
  const times = reservations.flatMap(({ since }) => since ?? []);
  // Not Math.min: there may be more reservations than a call can have arguments.
  return times.length === 0
    ? undefined
    : Math.floor(times.reduce((least, time) => (time < least ? time : least)) / 1000);
}

function isSuspect({ owner }: NodeReservation): boolean {
  return ownerText(owner) === undefined;
}

function labelsOf({ location }: NetworkDirectory): Labels {
  return { network: location.network, data_dir: location.dataDir };
}
