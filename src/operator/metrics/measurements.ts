/** What `metrics` measures: one metric for each thing worth a graph or an alert. */

import { formatAddressRange, isWithin } from "../../ipam/address.ts";
import { ownerText } from "../../store/owner.ts";
import { readSeenDead } from "../../store/seen-dead.ts";
import { isDebris, type RangeUsage, usageOf } from "../../store/usage.ts";
import type { System } from "../../system/system.ts";
import type { BadConfiguration } from "../node/configurations.ts";
import type { DirectoryContents } from "../node/directory-contents.ts";
import { knowsItsRanges, type NetworkDirectory, rangesOf } from "../node/network-directories.ts";
import type { NodeReservation } from "../node/node-reservations.ts";
import type { Labels, Metric, Sample } from "./exposition.ts";

/** A range with what is in use of it. */
interface Measured {
  readonly labels: Labels;
  readonly usage: RangeUsage;
}

/** Measures every place. */
export function measure(
  system: System,
  contents: readonly DirectoryContents[],
  bad: readonly BadConfiguration[],
): readonly Metric[] {
  const ranges = contents.flatMap(measureRanges);
  const ofRanges = (value: (usage: RangeUsage) => bigint): readonly Sample[] =>
    ranges.map(({ labels, usage }) => ({ labels, value: value(usage) }));
  const ofPlaces = (value: (content: DirectoryContents) => number | undefined): readonly Sample[] =>
    contents.flatMap((content) => {
      const measured = value(content);
      return measured === undefined
        ? []
        : [{ labels: labelsOf(content.directory), value: measured }];
    });
  return [
    {
      name: "cni_ipam_addresses_total",
      type: "untyped",
      help: "Addresses of a range that can be handed out, the gateway and excluded ones not counted.",
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
      help: "Reservations of a network, in whatever range they lie.",
      samples: ofPlaces(({ reservations }) => reservations.length),
    },
    {
      name: "cni_ipam_reservations_out_of_range",
      type: "gauge",
      help: "Reservations that lie in no range of their network; only where all ranges are configured.",
      samples: ofPlaces(countOutOfRange),
    },
    {
      name: "cni_ipam_reservations_suspect",
      type: "gauge",
      help: "Reservations whose file names no container, or cannot be read.",
      samples: ofPlaces(({ reservations }) => reservations.filter(isSuspect).length),
    },
    {
      name: "cni_ipam_reservations_reclaimable",
      type: "gauge",
      help: "Empty reservations, which ADD takes over once the range is otherwise full.",
      samples: ofPlaces(
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
      samples: ofPlaces((content) => countDead(system, content)),
    },
    {
      name: "cni_ipam_oldest_reservation_timestamp_seconds",
      type: "gauge",
      help: "When the oldest reservation of a network was made, in seconds since the epoch.",
      samples: ofPlaces(oldest),
    },
    {
      name: "cni_ipam_configuration_errors",
      type: "gauge",
      help: "Network configurations that cannot be read.",
      samples: [{ labels: {}, value: bad.length }],
    },
  ];
}

/** Two configurations of a network may have the same range; it is measured once. */
function measureRanges({ directory, reservations }: DirectoryContents): readonly Measured[] {
  const measured = new Map<string, Measured>();
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
  if (!knowsItsRanges(directory)) return undefined;
  const ranges = rangesOf(directory);
  return reservations.filter(({ address }) => !ranges.some((range) => isWithin(address, range)))
    .length;
}

/** What was seen dead and has gone since is not counted. */
function countDead(system: System, { directory, reservations }: DirectoryContents): number {
  const owners = new Map(reservations.map(({ name, owner }) => [name, ownerText(owner)]));
  return readSeenDead(system, directory.location).filter(
    ({ name, owner }) => owners.get(name) === owner,
  ).length;
}

function oldest({ reservations }: DirectoryContents): number | undefined {
  const times = reservations.flatMap(({ since }) => since ?? []);
  // Not by Math.min: there may be more reservations than arguments.
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
