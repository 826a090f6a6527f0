import type { Command, Report } from "../../cli/command/command.ts";
import { canAsk, isConfirmed, yesOption } from "../../cli/command/confirm.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { isPodNamed } from "../../cni/pod.ts";
import { containerOf } from "../../store/reservations/owner.ts";
import { releaseIn } from "../held/release.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import { type Node, openNode } from "../node.ts";
import { type Hint, parseQuery, type Query, search, whyNotFound } from "../search.ts";
import { describeReservation } from "./describe-reservation.ts";
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
    const chosen = [...new Set(targets.flatMap(({ known }) => known))];
    const hints = targets.flatMap((target) => target.hints);
    const refuse = (why: readonly string[], what: string): Report => ({
      exitCode: 1,
      document: () => documentOf(node, [], chosen, hints),
      text: () => textOf(node, chosen, [...why, `Nothing was released. ${what}`]),
    });
    if (hints.length > 0) {
      return refuse(
        hints.map(({ text }) => text),
        "Correct this first.",
      );
    }
    const doubts = chosen.flatMap(doubtOn);
    const isSafe = chosen.every((judged) => isReleasable(judged, canAsk(context)));
    if (!isSafe && !context.has("--force")) return refuse(doubts, FORCE);
    const these = chosen.length === 1 ? "this address" : `these ${chosen.length} addresses`;
    if (!isConfirmed(context, textOf(node, chosen, doubts), `Release ${these}?`)) {
      return refuse([], "Use --yes, or answer y at a terminal.");
    }
    return releaseChosen(node, chosen);
  },
};

const FORCE =
  "What is released is handed out again while it may be in use; to release it nevertheless, add --force.";

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
  const how = "name one, with the complete id, NAMESPACE/NAME, --network or --data-dir";
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
  const id = containerOf(reservation.owner);
  if (kind === "address") return `that of ${id || "no container"} in ${network} (${directory})`;
  const pod = cache.podOf(reservation);
  const isPod = kind === "pod" || (id !== text && isPodNamed(pod, text));
  return isPod ? `pod ${pod}` : `container ${id}`;
}

/** Whether a reservation may be released without `--force`: its container is dead, or may be, and somebody can be asked. */
function isReleasable({ conclusion: { liveness } }: KnownReservation, canBeAsked: boolean) {
  return liveness === "dead" || (liveness === "unknown" && canBeAsked);
}

/** What speaks against a release; nothing where the container is dead. */
function doubtOn({ reservation, conclusion }: KnownReservation): string | readonly [] {
  const { liveness, reason } = conclusion;
  if (liveness === "dead") return [];
  const holder = `container that holds ${reservation.text} of ${reservation.network.files.network}`;
  return liveness === "alive"
    ? `The ${holder} is alive, since ${reason}.`
    : `Whether the ${holder} is alive is not known: ${reason}.`;
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
      `${text} of ${network.files.network} changed in the meantime and was not released; try again.`,
  );
  return {
    exitCode: left.length > 0 ? 1 : 0,
    document: () => documentOf(node, done, left, []),
    text: () => `${done.length === 0 ? "" : "Released:\n"}${textOf(node, done, lines)}`,
  };
}

/** A table of reservations, and lines below it. */
function textOf(node: Node, known: readonly KnownReservation[], lines: readonly string[]): string {
  const table = known.length === 0 ? "" : reservationTable(node, known);
  return `${table}${lines.map((line) => `${inOneLine(line)}\n`).join("")}`;
}

function documentOf(
  node: Node,
  released: readonly KnownReservation[],
  left: readonly KnownReservation[],
  hints: readonly Hint[],
): object {
  const describe = (judged: KnownReservation) => describeReservation(node, judged);
  return { released: released.map(describe), left: left.map(describe), hints };
}
