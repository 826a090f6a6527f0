/** The metrics that `metrics` prints. What is not known has no sample. */

import { formatAddressRange } from "../../ipam/address.ts";
import type { FailedCall } from "../../store/failed-calls/failed-call.ts";
import { type Finding, type Severity, severityOf } from "../check/finding.ts";
import { readCollection, seenId } from "../gc/collection-file.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { callsByNetwork, lastAddOf, type NetworkCalls } from "../judgements/calls.ts";
import { type Collected, deadAmong } from "../judgements/leaks.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import { countRanges, type RangeCounts } from "../judgements/usage.ts";
import type { Node } from "../node.ts";
import type { Labels, Metric, Sample } from "./exposition.ts";

declare const BUILD_VERSION: string;

/** A range with its usage. */
interface MeasuredRange {
  readonly labels: Labels;
  readonly counts: RangeCounts;
}

/** A network with what was measured of its reservations. */
interface MeasuredNetwork {
  readonly directory: NetworkDirectory;
  /** The reservations that no ADD takes by itself. */
  readonly kept: readonly KnownReservation[];
  /** When an ADD last reserved an address, in milliseconds since the epoch. */
  readonly lastAdd: number | undefined;
}

/** What was measured. */
interface Measured {
  readonly networks: readonly MeasuredNetwork[];
  readonly ranges: readonly MeasuredRange[];
  /** The calls that failed since the node started; none where they are not seen. */
  readonly calls: readonly NetworkCalls[];
  readonly findings: readonly Finding[];
}

/** A metric, and how its samples are found. */
interface Gauge extends Pick<Metric, "name" | "help"> {
  readonly samples: (measured: Measured) => readonly Sample[];
}

/** The gauges, in the order in which they are printed. */
const gauges: readonly Gauge[] = [
  {
    name: "cni_ipam_build_info",
    help: "The version of host-local; the value is always 1.",
    samples: () => [{ labels: { version: BUILD_VERSION }, value: 1 }],
  },
  {
    name: "cni_ipam_addresses_capacity",
    help: "Addresses of a range that any pod can get: without the gateway, excluded and reserved addresses.",
    samples: ofRanges(({ counts }) => counts.capacity),
  },
  {
    name: "cni_ipam_addresses_used",
    help: "Addresses of these that are in use, without those that ADD takes where no other is free: of dead pods, from before this boot, and of empty files.",
    samples: ofRanges(({ counts }) => counts.used),
  },
  {
    name: "cni_ipam_addresses_free",
    help: "Addresses of these that ADD can hand out: not in use or, where no other is free, those of dead pods, from before this boot, and of empty files; 0 where no ADD with an address of the range works.",
    samples: ofRanges(({ counts }) => counts.free),
  },
  {
    name: "cni_ipam_reservations",
    help: "Reservations of a network, inside and outside its ranges.",
    samples: ofNetworks(({ directory }) => directory.reservations.length),
  },
  {
    name: "cni_ipam_reservations_dead",
    help: "Reservations of dead containers that no ADD takes by itself, by the network namespaces of the node or because host-local gc found them dead and has not released them. No sample instead of 0 where some may be dead.",
    samples: ofNetworks(({ directory, kept }) => deadAmong(kept, () => collectedIn(directory))),
  },
  {
    name: "cni_ipam_gc_last_run_timestamp_seconds",
    help: "When host-local gc --yes last ran on a network and was not refused, in seconds since the epoch.",
    samples: ofNetworks(({ directory }) => inSeconds(readCollection(directory.files).lastRun)),
  },
  {
    name: "cni_ipam_last_add_timestamp_seconds",
    help: "When an ADD of a network last reserved an address, of this plugin or another host-local, in seconds since the epoch.",
    samples: ofNetworks(({ lastAdd }) => inSeconds(lastAdd)),
  },
  {
    name: "cni_ipam_last_failed_call_timestamp_seconds",
    help: "When a call of a network last failed with a code, in seconds since the epoch; without the label network, calls that could not read their configuration. Failed calls are known until the node restarts.",
    samples: ofFailedCalls((calls) => Math.floor((calls.at(-1)?.time ?? 0) / 1000)),
  },
  {
    name: "cni_ipam_failed_calls",
    help: "Calls that failed with a code, as far as they are kept: since the node started, the last ones of many.",
    samples: ofFailedCalls((calls) => calls.length),
  },
  {
    name: "cni_ipam_check_findings",
    help: "Findings of host-local check on a network, by their code; without the label network, those that concern none. Where a network has none of a severity, 0 without the label code.",
    samples: countFindings,
  },
];

/** Measures the networks that were checked. */
export function measure(node: Node, findings: readonly Finding[]): readonly Metric[] {
  const { asked: directories, facts, liveness } = node;
  const calls = node.calls();
  const ranges = directories.flatMap((directory) => measureRanges(node, directory));
  const networks = directories.map((directory) => {
    const known = liveness.livenessOfAll(directory.reservations);
    const takes = directory.networks.every(({ reclaims }) => reclaims);
    const taken = (takes && node.takenIn(directory).all) || new Set();
    return {
      directory,
      kept: known.filter(({ reservation }) => !taken.has(reservation.name)),
      lastAdd: lastAddOf(node.addTracesIn(directory), facts.now()),
    };
  });
  const checked = new Set(directories);
  const failed = callsByNetwork(calls.kind === "seen" ? calls.records : [], node.directories);
  const measured = {
    ...{ networks, ranges, findings },
    calls: failed.filter(({ directory }) => directory === undefined || checked.has(directory)),
  };
  return gauges.map(({ name, help, samples }) => ({
    name,
    type: "gauge",
    help,
    samples: samples(measured),
  }));
}

/** A sample for each range. */
function ofRanges(value: (range: MeasuredRange) => bigint): Gauge["samples"] {
  return ({ ranges }) => ranges.map((one) => ({ labels: one.labels, value: value(one) }));
}

/** A sample for each network whose value is known. */
function ofNetworks(value: (network: MeasuredNetwork) => number | undefined): Gauge["samples"] {
  return ({ networks }) =>
    networks.flatMap((network) => {
      const found = value(network);
      return found === undefined ? [] : [{ labels: labelsOf(network.directory), value: found }];
    });
}

/** A sample for each verb and code of each network's calls that failed. */
function ofFailedCalls(value: (calls: readonly FailedCall[]) => number): Gauge["samples"] {
  return ({ calls }) =>
    calls.flatMap(({ network, dataDir, records }) => {
      const failed = records.filter((one) => one.kind === "failed");
      const alike = Map.groupBy(failed, ({ verb, code }) => `${verb} ${code}`);
      return [...alike].map(([kind, same]) => {
        const [verb = "", code = ""] = kind.split(" ");
        const about = network === "" ? {} : { network, data_dir: dataDir };
        return { labels: { ...about, verb, code }, value: value(same) };
      });
    });
}

/** A range that several configurations of a network have is measured once. */
function measureRanges(node: Node, directory: NetworkDirectory): readonly MeasuredRange[] {
  const measured = new Map<string, MeasuredRange>();
  for (const network of directory.networks) {
    const inUse = node.usedIn(directory, network);
    for (const counts of countRanges(network, inUse, [])) {
      const range = formatAddressRange(counts.range);
      const key = `${counts.set} ${range}`;
      if (measured.has(key)) continue;
      const labels = { ...labelsOf(directory), range_set: `${counts.set}`, range };
      measured.set(key, { labels, counts });
    }
  }
  return [...measured.values()];
}

/** What `gc` has left of a network. */
function collectedIn({ files }: NetworkDirectory): Collected {
  const { lastRun, seenDead } = readCollection(files);
  return {
    isRun: lastRun !== undefined,
    isSeenDead: (reservation) => seenDead.has(seenId(reservation) ?? ""),
  };
}

const severities: readonly Severity[] = ["error", "warning", "info"];

/** Also 0 of a severity, so that an alert can tell a problem that was solved from one that is no longer measured. */
function countFindings({ networks: measured, findings }: Measured): readonly Sample[] {
  const byNetwork = Map.groupBy(findings, ({ network }) => network);
  const networks = new Set([
    "",
    ...measured.map(({ directory }) => directory.files.network),
    ...byNetwork.keys(),
  ]);
  return [...networks].flatMap((network) => {
    const bySeverity = Map.groupBy(byNetwork.get(network) ?? [], severityOf);
    const about = network === "" ? {} : { network };
    return severities.flatMap((severity) => {
      const byCode = Map.groupBy(bySeverity.get(severity) ?? [], ({ code }) => code);
      if (byCode.size === 0) return [{ labels: { ...about, severity }, value: 0 }];
      return [...byCode].map(([code, { length }]) => {
        return { labels: { ...about, severity, code }, value: length };
      });
    });
  });
}

function inSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.floor(milliseconds / 1000);
}

function labelsOf({ files }: NetworkDirectory): Labels {
  return { network: files.network, data_dir: files.dataDir };
}
