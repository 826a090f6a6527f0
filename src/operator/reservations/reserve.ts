import {
  type Command,
  CommandError,
  type Context,
  type Report,
  UsageError,
} from "../../cli/command/command.ts";
import { type Address, formatAddress, isWithin } from "../../ipam/address.ts";
import { isGateway } from "../../ipam/range.ts";
import { withLock } from "../../store/lock.ts";
import type { LockedNetwork } from "../../store/locked-network.ts";
import { readKept } from "../../store/reservations/kept.ts";
import {
  describeOwner,
  type Owner,
  type PodName,
  parsePodName,
} from "../../store/reservations/owner.ts";
import type { NetworkDirectory } from "../node/network-directory.ts";
import { type Node, openNode } from "../node/node.ts";
import { containerOf } from "../node/node-reservations.ts";
import { parseQuery } from "../node/search.ts";
import { keep, keepNoLonger } from "./keep.ts";
import { type Hint, hintLines, hintsFor, inSeveralNetworks } from "./search-hints.ts";

/** `reserve`: keeps an address, for a pod or for nobody. */
export const reserve: Command = {
  name: "reserve",
  operands: "ADDRESS",
  findsNetworks: true,
  summary: "keep an address for a pod that need not be there yet, or for nobody",
  description: [
    "Keeps an address of a range on this node: no ADD hands it out, by the Go plugin either, except to the pod of --for, which gets it each time it is started, until --unreserve. Without --for nobody gets it, as with ipam.exclude, but without editing a configuration. GC and gc leave it alone.",
    "An address that somebody has is kept from its release on. The Go plugin frees it then: check names it, with the command that keeps it again.",
    "With --unreserve the address is kept no longer: free at once or, if the pod has it, once that has ended.",
  ],
  options: [
    { name: "--for", value: "POD", summary: "the pod that gets it, as NAMESPACE/NAME" },
    { name: "--unreserve", summary: "keep it no longer" },
    {
      name: "--network",
      value: "NETWORK",
      summary: "in this network, if several have the address",
    },
  ],
  exclusive: [["--for", "--unreserve"]],
  examples: [
    {
      line: "host-local reserve 10.88.0.7 --for default/db-0",
      effect: "keep an address for a pod",
    },
    { line: "host-local reserve 10.88.0.9", effect: "keep an address for nobody" },
    { line: "host-local reserve 10.88.0.9 --unreserve", effect: "keep it no longer" },
  ],
  run: (context) => {
    const query = parseQuery(context.operands[0] ?? "");
    if (query.kind !== "address") throw new UsageError("reserve: expected an address");
    const pod = podOf(context);
    const isUndone = context.has("--unreserve");
    const { address } = query;
    const node = openNode(context, context.option("--network"));
    const places = isUndone ? keptIn(node, address) : rangesIn(node, address);
    const [directory, ...others] = places;
    if (directory === undefined) {
      return refused(address, isUndone ? [notKept] : hintsFor(node, query, []));
    }
    if (others.length > 0) return refused(address, [inSeveralNetworks(places)]);
    return isUndone ? unreserved(directory, address) : reserved(directory, address, pod);
  },
};

/** @throws UsageError */
function podOf({ option }: Context): PodName | undefined {
  const text = option("--for");
  const pod = text === undefined ? undefined : parsePodName(text);
  if (text !== undefined && pod === undefined) {
    throw new UsageError(`--for: expected a pod as NAMESPACE/NAME, found ${JSON.stringify(text)}`);
  }
  return pod;
}

/** The networks that hand the address out, or may: those without known ranges only by their name. */
function rangesIn({ context, directories }: Node, address: Address): readonly NetworkDirectory[] {
  return directories.filter(({ ranges, hasKnownRanges }) => {
    if (!hasKnownRanges && context.option("--network") !== undefined) return true;
    return ranges.some((range) => isWithin(address, range) && !isGateway(address, range));
  });
}

function keptIn({ directories }: Node, address: Address): readonly NetworkDirectory[] {
  const name = formatAddress(address);
  return directories.filter(
    (directory) =>
      readKept(directory.files).some((one) => one.name === name) ||
      directory.reservationsAt(address).some(({ owner }) => owner.kind === "kept"),
  );
}

function reserved(directory: NetworkDirectory, address: Address, pod: PodName | undefined): Report {
  const { files } = directory;
  if (files.state === undefined) {
    throw new CommandError(`reserve: ${files.stateDirectory} is not a directory; nothing was kept`);
  }
  const owner = change(directory, (locked) => keep(locked, address, pod));
  const time = owner?.kind === "kept" ? "" : ` from its release on: ${ownerText(owner)}`;
  const text = `${formatAddress(address)} of ${files.network} is kept for ${pod ?? "nobody"}${time}.\n`;
  return report(directory, address, { pod: pod ?? "", kept: true }, owner, text);
}

function unreserved(directory: NetworkDirectory, address: Address): Report {
  const owner = change(directory, (locked) => keepNoLonger(locked, address));
  const { network } = directory.files;
  const text = `${formatAddress(address)} of ${network} is kept no longer: ${ownerText(owner)}.\n`;
  return report(directory, address, { pod: "", kept: false }, owner, text);
}

function ownerText(owner: Owner | undefined): string {
  return owner === undefined ? "it is free" : `it is ${describeOwner(owner)}`;
}

/** Changes what is kept, under the lock; and writes the journal anew, without which the next boot reclaims nothing. */
function change(
  { files, networks: [network] }: NetworkDirectory,
  body: (locked: LockedNetwork) => Owner | undefined,
): Owner | undefined {
  const options = { timeoutSeconds: network.lockTimeoutSeconds };
  const owner = withLock(files, options, body);
  withLock(files, options, (locked) => locked.bringUpToDate());
  return owner;
}

function report(
  { files: { network } }: NetworkDirectory,
  address: Address,
  state: { readonly pod: string; readonly kept: boolean },
  owner: Owner | undefined,
  text: string,
): Report {
  const container = owner === undefined ? "" : containerOf(owner);
  const document = { network, address: formatAddress(address), ...state, container, hints: [] };
  return { exitCode: 0, document: () => document, text: () => text };
}

const notKept: Hint = { reason: "unknown", network: null, text: "No network keeps it." };

function refused(operand: Address, hints: readonly Hint[]): Report {
  const address = formatAddress(operand);
  const text = `Nothing was changed for ${address}.\n${hintLines(hints)}`;
  const document = { network: "", address, pod: "", kept: false, container: "", hints };
  return { exitCode: 1, document: () => document, text: () => text };
}
