/** Findings on calls that fail now: by what has failed since the node started, and what has succeeded since. */

import { formatDuration } from "../../cli/command/duration.ts";
import { plural } from "../../cli/output/plural.ts";
import { ErrorCode, withDetails } from "../../cni/error.ts";
import { causeIn, type FailedCall } from "../../store/failed-calls/failed-call.ts";
import { withoutAdvice } from "../../store/no-address.ts";
import { attempt } from "../../system/system.ts";
import { readLockHolder } from "../facts/lock-holder.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import {
  callsByNetwork,
  type FailingCalls,
  failingAdds,
  failingDels,
  givenBack,
  lastAddOf,
  mayBeOwnRequest,
  type NetworkCalls,
  whyOver,
} from "../judgements/calls.ts";
import type { NextAdd } from "../judgements/next-add.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { namedPods, podOrContainer } from "./holder.ts";

/**
 * Looks for networks whose ADDs or DELs fail now, or whose pods give their addresses back at once; also for calls that could not
 * read which network they were of.
 */
export function callFindings(node: Node): readonly Finding[] {
  const calls = node.calls();
  if (calls.kind === "unseen") {
    const message = `which calls fail cannot be told: ${calls.reason}`;
    return [{ code: "add-unknown", network: "", path: "", message }];
  }
  const found = callsByNetwork(calls.records, node.directories).filter(
    ({ network }) => network === "" || node.isAsked(network),
  );
  return [
    ...found.flatMap((calls) => addFindings(node, calls)),
    ...found.flatMap((calls) => givenBackFindings(node, calls)),
    ...found.flatMap((calls) => delFindings(node, calls)),
  ];
}

/** Whether the ADDs of a network fail now, the last one for this reason: in the same words, or with the same error of the system. */
export function hasFailedFor(node: Node, directory: NetworkDirectory, reason: string): boolean {
  const calls = node.calls();
  if (calls.kind === "unseen") return false;
  return callsByNetwork(calls.records, [directory])
    .filter((calls) => calls.directory === directory)
    .flatMap((calls) => failingAddsOf(node, calls) ?? [])
    .some(({ last }) => causeIn(withDetails(last)) === causeIn(reason));
}

function failingAddsOf(node: Node, calls: NetworkCalls): FailingCalls | undefined {
  const { directory, records } = calls;
  const now = node.facts.now();
  // If it is not known which network failed, an ADD of any network may be the one that succeeded.
  const traces = (directory === undefined ? node.directories : [directory]).map((network) =>
    node.addTracesIn(network),
  );
  const dates = traces.flatMap((trace) => lastAddOf(trace, now) ?? []);
  return failingAdds(records, dates.length === 0 ? undefined : Math.max(...dates));
}

function addFindings(node: Node, calls: NetworkCalls): readonly Finding[] {
  const failing = failingAddsOf(node, calls);
  if (failing === undefined) return [];
  const { last, ofPods } = failing;
  const about = { ...aboutOf(calls), code: "calls-fail" } as const;
  const next = nextAddsIn(node, calls);
  const over = whyOver(failing, next, changedAt(node, calls));
  if (over !== undefined) {
    const message = `${whatFails(node, "ADD", failing)}; ${over}`;
    const remedy =
      "none unless the next ADD fails, too; nothing is said here once one has succeeded";
    return [{ ...about, severity: "info", message, remedy }];
  }
  if (mayBeOwnRequest(failing, next)) {
    const whose = `of ${podsOf(ofPods)} alone, whose request may be the cause`;
    const message = whatFails(node, "ADD", failing, `, ${whose}`);
    const remedy =
      "see what this pod asks for, such as an address of its own, and correct that; if it asks for nothing, do what the message says. Nothing is said here once an ADD has succeeded, and it is an error once ADDs of other pods fail, too";
    return [{ ...about, severity: "warning", message, remedy }];
  }
  const message = `${whatFails(node, "ADD", failing)}${holderText(node, calls, last)}`;
  const isFull = withoutAdvice(last.details) !== last.details;
  return isFull ? [{ ...about, message, remedy: WHERE_FULL }] : [{ ...about, message }];
}

const WHERE_FULL =
  "see what else is found on this network. gc lists the addresses of dead containers; if there are none, give the node more addresses, as the page 'Give a node more addresses' of the documentation says";

/** The pods of calls, or where none is known their containers. */
function podsOf(calls: readonly FailedCall[]): string {
  const named = calls.filter(({ container }) => container !== "");
  return namedPods(
    named.map(({ pod, container: containerId }) => podOrContainer({ pod, containerId })),
  );
}

/** When the file of the configuration was last changed, in milliseconds since the epoch. */
function changedAt({ context }: Node, { directory }: NetworkCalls): number | undefined {
  const [source] = directory?.sources ?? [];
  if (source === undefined) return undefined;
  const read = (): number => Number(context.system.status(source).modified / 1_000_000n);
  return attempt(read, undefined);
}

function nextAddsIn(node: Node, { directory }: NetworkCalls): readonly NextAdd[] {
  return directory?.networks.map((network) => node.nextAddIn(directory, network)) ?? [];
}

function delFindings(node: Node, calls: NetworkCalls): readonly Finding[] {
  const { directory, records } = calls;
  const directories = directory === undefined ? node.directories : [directory];
  const failing = failingDels(
    records,
    directories.flatMap(({ reservations }) => reservations),
  );
  if (failing === undefined) return [];
  const what = whatFails(node, "DEL", failing, `, of ${podsOf(failing.ofPods)}`);
  const message = `${what}${holderText(node, calls, failing.last)}`;
  const remedy =
    "see the section 'A DEL fails' of the documentation: until it succeeds, the pod stays in Terminating and keeps its address";
  return [{ ...aboutOf(calls), code: "calls-fail", severity: "warning", message, remedy }];
}

function givenBackFindings(node: Node, calls: NetworkCalls): readonly Finding[] {
  const { directory, records } = calls;
  if (directory === undefined) return [];
  const now = node.facts.now();
  const pods = givenBack(records, node.addTracesIn(directory), now);
  if (pods === undefined) return [];
  const { count, last } = pods;
  const message = `the last ${plural(count, "pod")} gave the address back within a second, the last one ${formatDuration(now - last.time)} ago: a plugin after this one, or the runtime, fails`;
  return [{ ...aboutOf(calls), code: "addresses-given-back", message }];
}

function aboutOf({ network, directory }: NetworkCalls): Pick<Finding, "network" | "path"> {
  return { network, path: directory?.sources[0] ?? directory?.files.directory ?? "" };
}

/** Since when a verb fails, how often, and the last error in its own words. */
function whatFails(
  { facts }: Node,
  verb: string,
  { since, count, last }: FailingCalls,
  whose = "",
): string {
  const ago = `${formatDuration(facts.now() - last.time)} ago${whose}`;
  const error = withoutAdvice(withDetails(last));
  if (count === 1) return `the last ${verb} failed, ${ago}: ${error}`;
  return `${verb} fails since ${secondText(since)}, ${count} times, the last time ${ago}: ${error}`;
}

/** Who holds the lock now, as a clause, where the error was that it was held. */
function holderText({ context }: Node, { directory }: NetworkCalls, last: FailedCall): string {
  if (last.code !== ErrorCode.tryAgainLater || directory === undefined) return "";
  const holder = readLockHolder(context.system, directory.files);
  if (holder === undefined) return "; no process is seen that holds it now";
  return last.details.includes(holder) ? "; it still holds it" : `; ${holder} holds it now`;
}

/** A time in UTC, to the second. */
function secondText(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
