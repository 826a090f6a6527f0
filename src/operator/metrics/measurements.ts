/** The metrics that `metrics` prints. What is not known has no sample. */

import { formatAddressRange } from "../../ipam/address.ts";
import { type Finding, severityOf } from "../check/finding.ts";
import { readCollection } from "../gc/collection-file.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { callsByNetwork } from "../judgements/calls.ts";
import { countRanges, type RangeCounts } from "../judgements/usage.ts";
import type { Node } from "../node.ts";
import type { Labels, Metric, Sample } from "./exposition.ts";

declare const BUILD_VERSION: string;

/** A range with its usage. */
interface MeasuredRange {
  readonly labels: Labels;
  readonly counts: RangeCounts;
}

/** Measures the networks that were checked. */
export function measure(node: Node, findings: readonly Finding[]): readonly Metric[] {
  const ranges = node.asked.flatMap((directory) => measureRanges(node, directory));
  const ofRanges = (value: (counts: RangeCounts) => bigint): readonly Sample[] =>
    ranges.map(({ labels, counts }) => ({ labels, value: value(counts) }));
  return [
    gauge("build_info", "The version of host-local; the value is always 1.", [
      { labels: { version: BUILD_VERSION }, value: 1 },
    ]),
    gauge(
      "addresses_capacity",
      "Addresses of a range that any pod can get: without the gateway, excluded and reserved addresses.",
      ofRanges(({ capacity }) => capacity),
    ),
    gauge(
      "addresses_used",
      "Addresses of these that are in use, without those that ADD takes where no other is free: of dead pods, from before this boot, and of empty files.",
      ofRanges(({ used }) => used),
    ),
    gauge(
      "gc_last_run_timestamp_seconds",
      "When host-local gc --yes last ran on a network and was not refused, in seconds since the epoch.",
      node.asked.flatMap(lastRunIn),
    ),
    gauge(
      "last_failed_call_timestamp_seconds",
      "When a call of a network last failed with a code, in seconds since the epoch; without the label network, calls that could not read their configuration. Failed calls are known until the node restarts.",
      failedCalls(node),
    ),
    gauge(
      "check_findings",
      "Findings of host-local check on a network, by their code; without the label network, those that concern none.",
      countFindings(findings),
    ),
  ];
}

function gauge(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name: `cni_ipam_${name}`, type: "gauge", help, samples };
}

/** A range that several configurations of a network have is measured once. */
function measureRanges(node: Node, directory: NetworkDirectory): readonly MeasuredRange[] {
  const measured = new Map<string, MeasuredRange>();
  for (const network of directory.networks) {
    const inUse = node.usedIn(directory, network);
    for (const counts of countRanges(network, inUse)) {
      const range = formatAddressRange(counts.range);
      const key = `${counts.set} ${range}`;
      if (measured.has(key)) continue;
      const labels = { ...labelsOf(directory), range_set: `${counts.set}`, range };
      measured.set(key, { labels, counts });
    }
  }
  return [...measured.values()];
}

function lastRunIn(directory: NetworkDirectory): readonly Sample[] {
  const { lastRun } = readCollection(directory.files);
  return lastRun === undefined ? [] : [{ labels: labelsOf(directory), value: inSeconds(lastRun) }];
}

/** A sample for each verb and code of each network's calls that failed; none where they are not seen. */
function failedCalls(node: Node): readonly Sample[] {
  const calls = node.calls();
  const records = calls.kind === "seen" ? calls.records : [];
  return callsByNetwork(records, node.directories)
    .filter(({ directory }) => directory === undefined || node.asked.includes(directory))
    .flatMap(({ network, dataDir, records: ofNetwork }) => {
      const about = network === "" ? {} : { network, data_dir: dataDir };
      const failed = ofNetwork.filter((record) => record.kind === "failed");
      const last = new Map(failed.map((call) => [`${call.verb} ${call.code}`, call]));
      return [...last.values()].map(({ verb, code, time }) => {
        return { labels: { ...about, verb, code: `${code}` }, value: inSeconds(time) };
      });
    });
}

/** A sample for each network, severity and code that there is. */
function countFindings(findings: readonly Finding[]): readonly Sample[] {
  const kindOf = (finding: Finding): string =>
    [finding.network, severityOf(finding), finding.code].join("\n");
  return [...Map.groupBy(findings, kindOf).values()].flatMap((alike) => {
    const [first] = alike;
    if (first === undefined) return [];
    const { network, code } = first;
    const about = network === "" ? {} : { network };
    return [{ labels: { ...about, severity: severityOf(first), code }, value: alike.length }];
  });
}

function inSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function labelsOf({ files }: NetworkDirectory): Labels {
  return { network: files.network, data_dir: files.dataDir };
}
