import type { Command, Report } from "../../cli/command/command.ts";
import { canAsk, isConfirmed, yesOption } from "../../cli/command/confirm.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { isPodNamed } from "../../cni/pod.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import { releaseIn } from "../held/release.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import { type Node, openNode } from "../node.ts";
import { type Hint, parseQuery, type Query, search, whyNotFound } from "../search.ts";
import { describeReservations } from "./describe-reservation.ts";
import { reservationTable } from "./reservation-table.ts";

/** `release`: releases addresses by hand. */
export const release: Command = {
  name: "release",
  operands: "ADDRESS|CONTAINER|POD...",
  findsNetworks: true,
  summary: "release addresses, or those of containers or pods, by hand",
  description: [
    "Releases addresses, or all addresses of containers or pods: in any network, or in that of --network. If one of several is not found, or is alive, nothing is released. The container id must be complete; a pod is NAMESPACE/NAME, or NAME if that is unique, if libcni's cache contains it.",
    "Refuses (exit code 1) if the container is alive, that is, if a network namespace has an address of it or the container's namespace exists. If that is unknown, asks at a terminal, and refuses elsewhere. --force overrides both: the next container then gets an address that may be in use.",
    "Asks for confirmation at a terminal. Elsewhere, without --yes, it only prints what it would release and exits with 1. A reservation that changes in between is not released.",
  ],
  options: [
    yesOption,
    { name: "--force", summary: "release even if the container is, or may be, alive" },
    { name: "--network", value: "NETWORK", summary: "release in this network only" },
  ],
  examples: [
    { line: "host-local release 10.88.0.7", effect: "release one address, after a confirmation" },
    {
      line: "host-local release 4f1d6e0c8b7a --network mynet --yes",
      effect: "release what a container holds in one network",
    },
    { line: "host-local release default/web", effect: "release the addresses of a pod" },
  ],
  run: (context) => {
    const queries = context.operands.map(parseQuery);
    const node = openNode(context, context.option("--network"));
    const targets = queries.map((query) => targetOf(node, query));
    const meant = targets.flatMap(({ known }) => known);
    const chosen = [...new Map(meant.map((judged) => [judged.reservation, judged])).values()];
    const unclear = targets.flatMap(({ hints }) => hints);
    if (unclear.length > 0) return refused(node, chosen, unclear, "Correct this first.");
    const doubts = chosen.flatMap(doubtOn);
    const isSafe = !doubts.some(({ reason }) => reason === "alive" || !canAsk(context));
    if (!isSafe && !context.has("--force")) return refused(node, chosen, doubts, FORCE);
    const these = chosen.length === 1 ? "this address" : `these ${chosen.length} addresses`;
    const preview = `${tableOf(node, chosen)}${doubts.map(lineOf).join("")}`;
    if (!isConfirmed(context, preview, `Release ${these}?`)) {
      return refused(node, chosen, [], "Use --yes, or answer y at a terminal.");
    }
    return releaseChosen(node, chosen);
  },
};

const FORCE =
  "What is released is handed out again while it is in use; to release it nevertheless, add --force.";

/** What an operand means. */
interface Target {
  readonly known: readonly KnownReservation[];
  /** Why nothing of it may be released; empty where it may. */
  readonly hints: readonly Hint[];
}

/** What an operand means: addresses in one network, or those of one container or pod, named as a whole. */
function targetOf(node: Node, query: Query): Target {
  const found = search(node, query);
  if (found.length === 0) return { known: [], hints: whyNotFound(node, query) };
  const known = found.filter((judged) => isWhole(node, query, judged));
  const meant = known.length === 0 ? found : known;
  const meanings = new Set(meant.map((judged) => meaningOf(node, query, judged)));
  if (known.length > 0 && meanings.size === 1) return { known, hints: [] };
  const how =
    query.kind === "address"
      ? "choose one with --network or --data-dir"
      : "name one, with the complete id or NAMESPACE/NAME";
  const text = `${query.text} means ${[...meanings].join(", ")}: ${how}.`;
  return { known, hints: [{ reason: "ambiguous", network: null, text }] };
}

/** Whether more than the beginning of a container id was given. */
function isWhole(
  { cache }: Node,
  { kind, text }: Query,
  { reservation }: KnownReservation,
): boolean {
  const isId = containerOf(reservation.owner) === text;
  return kind !== "name" || isId || isPodNamed(cache.podOf(reservation), text);
}

/** What an operand means by one of the reservations that it finds. */
function meaningOf(
  { cache }: Node,
  { kind, text }: Query,
  { reservation }: KnownReservation,
): string {
  const { network, directory } = reservation.network.files;
  if (kind === "address") return `that of ${network} (${directory})`;
  const id = containerOf(reservation.owner);
  const pod = cache.podOf(reservation);
  const isPod = kind === "pod" || (id !== text && isPodNamed(pod, text));
  return isPod ? `pod ${pod}` : `container ${id}`;
}

/** What speaks against a release; nothing where the container is dead. */
function doubtOn({ reservation, conclusion }: KnownReservation): Hint | readonly [] {
  const { liveness, reason: why } = conclusion;
  if (liveness === "dead") return [];
  const { network } = reservation.network.files;
  const of = `${reservation.text} of ${network}`;
  return liveness === "alive"
    ? { reason: "alive", network, text: `The container that holds ${of} is alive, since ${why}.` }
    : {
        reason: "mayBeAlive",
        network,
        text: `Whether the container that holds ${of} is alive is not known: ${why}.`,
      };
}

function releaseChosen(node: Node, chosen: readonly KnownReservation[]): Report {
  const byNetwork = Map.groupBy(chosen, ({ reservation }) => reservation.network);
  const released = new Set(
    [...byNetwork].flatMap(([network, here]) =>
      releaseIn(
        network,
        "release",
        here.map(({ reservation }) => reservation),
      ),
    ),
  );
  const done = chosen.filter(({ reservation }) => released.has(reservation));
  const left = chosen.filter(({ reservation }) => !released.has(reservation));
  const lines = left.map(
    ({ reservation: { text, network } }) =>
      `${text} of ${network.files.network} changed in the meantime and was not released; try again.\n`,
  );
  return {
    exitCode: left.length > 0 ? 1 : 0,
    document: () => documentOf(node, done, left, []),
    text: () => `${done.length === 0 ? "" : "Released:\n"}${tableOf(node, done)}${lines.join("")}`,
  };
}

/**
 * Nothing was released.
 *
 * @param hints why
 * @param what to do
 */
function refused(
  node: Node,
  left: readonly KnownReservation[],
  hints: readonly Hint[],
  what: string,
): Report {
  const all: readonly Hint[] = [
    ...hints,
    { reason: "refused", network: null, text: `Nothing was released. ${what}` },
  ];
  return {
    exitCode: 1,
    document: () => documentOf(node, [], left, all),
    text: () => `${tableOf(node, left)}${all.map(lineOf).join("")}`,
  };
}

function tableOf(node: Node, known: readonly KnownReservation[]): string {
  return known.length === 0 ? "" : reservationTable(node, known, true);
}

function lineOf({ text }: Hint): string {
  return `${inOneLine(text)}\n`;
}

function documentOf(
  node: Node,
  released: readonly KnownReservation[],
  left: readonly KnownReservation[],
  hints: readonly Hint[],
): object {
  return {
    released: describeReservations(node, released),
    left: describeReservations(node, left),
    hints,
  };
}
