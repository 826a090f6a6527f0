/** Findings on addresses that are used again too soon for `reuseDelaySeconds`. */

import { DAY, formatDuration } from "../../cli/command/duration.ts";
import { plural } from "../../cli/output/plural.ts";
import { parseAddress } from "../../ipam/address.ts";
import { decimal } from "../../ipam/decimal.ts";
import { formatRangeSet, type RangeSet, rangeOf } from "../../ipam/range-set.ts";
import { readHistory } from "../../store/history/history-file.ts";
import type { HistoryRecord } from "../../store/history/history-record.ts";
import { candidateAt } from "../../store/reservations/usage.ts";
import { synSentSeconds } from "../../store/reuse/cooldown.ts";
import { attempt, type System } from "../../system/system.ts";
import { addUp, countRanges } from "../capacity/capacity-count.ts";
import type { NetworkDirectory } from "../node/network-directory.ts";
import type { FoundNetwork } from "../node/networks.ts";
import type { Finding } from "./finding.ts";

/** Checks the delay of a network, and whether its ranges are large enough for it. */
export function reuseFindings(system: System, directory: NetworkDirectory): readonly Finding[] {
  const delayed = directory.networks.filter(({ reuseDelaySeconds }) => reuseDelaySeconds > 0);
  const syn = delayed.length === 0 ? undefined : synSentSeconds(system);
  return delayed.flatMap((network) => [
    ...tooShort(network, syn),
    ...missed(system, directory, network),
  ]);
}

function tooShort(
  { files, source = "", reuseDelaySeconds }: FoundNetwork,
  synSent: number | undefined,
): readonly Finding[] {
  if (synSent === undefined || reuseDelaySeconds >= synSent) return [];
  const message = `reuseDelaySeconds is ${reuseDelaySeconds}, but conntrack remembers a connection that was not answered for ${plural(synSent, "second")} (net.netfilter.nf_conntrack_tcp_timeout_syn_sent): a client that tries again may reach the next pod with the address`;
  return [{ code: "reuse-delay-short", network: files.network, path: source, message }];
}

/** A set has too few addresses where ADD has to take one that cools down: now, or lately. */
function missed(
  system: System,
  directory: NetworkDirectory,
  network: FoundNetwork,
): readonly Finding[] {
  const { files, source = "", rangeSets, exclusions, reuseDelaySeconds } = network;
  const delay = reuseDelaySeconds * 1000;
  const cooling = directory.coolingIn(network);
  const used = directory.usedIn(network);
  // A history that this user may not read says nothing; `history` says so.
  const records = attempt(() => readHistory(files), undefined) ?? [];
  // What it tells is old after a day.
  const early = earlyReuses(records, delay, system.now() - DAY);
  return rangeSets.flatMap((set): readonly Finding[] => {
    const { free } = addUp(countRanges({ ...network, rangeSets: [set] }, used, []));
    const own = cooling.filter((address) => candidateAt(address, set, exclusions) !== undefined);
    const isNext = free > 0n && BigInt(own.length) >= free;
    const texts = [
      ...(isNext
        ? [
            `all free addresses (${decimal(free)}) were released later than that, and the next pod gets one of them`,
          ]
        : []),
      ...describeEarly(set, early),
    ];
    if (texts.length === 0) return [];
    const message = `${formatRangeSet(set)} is turned over faster than reuseDelaySeconds (${reuseDelaySeconds}): ${texts.join("; ")}`;
    return [{ code: "reuse-delay-missed", network: files.network, path: source, message }];
  });
}

/** An address that was handed out again within the delay. */
interface EarlyReuse {
  readonly address: string;
  /** How long after its release, in milliseconds. */
  readonly after: number;
}

/** Those since a time. A pod that gets its own address back is none: its clients mean it. */
function earlyReuses(
  records: readonly HistoryRecord[],
  delay: number,
  since: number,
): readonly EarlyReuse[] {
  const released = new Map<string, number>();
  const pods = new Map<string, string>();
  return records.flatMap(({ address, verb, time, pod }): readonly EarlyReuse[] => {
    if (verb !== "ADD") {
      // No connection has survived the boot after which an address is reclaimed.
      if (verb === "RECLAIM") released.delete(address);
      else released.set(address, time);
      return [];
    }
    const isSamePod = pod !== "" && pods.get(address) === pod;
    pods.set(address, pod);
    const after = time - (released.get(address) ?? Number.NEGATIVE_INFINITY);
    // A clock that was set back says nothing.
    return time >= since && !isSamePod && after >= 0 && after < delay ? [{ address, after }] : [];
  });
}

function describeEarly(set: RangeSet, early: readonly EarlyReuse[]): readonly string[] {
  const own = early.filter(({ address: text }) => {
    const address = parseAddress(text);
    return address !== undefined && rangeOf(set, address) !== undefined;
  });
  if (own.length === 0) return [];
  const soonest = formatDuration(Math.min(...own.map(({ after }) => after)));
  return [
    `in the last day ${plural(own.length, "address")} came too soon, at the earliest ${soonest} after the release`,
  ];
}
