import type { Command, Context, Report } from "../../cli/command/command.ts";
import { canAsk, isConfirmed, yesOption } from "../../cli/command/confirm.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { containerOf, interfaceOf } from "../../store/reservations/owner.ts";
import type { NodeReservation } from "../held/network-directory.ts";
import { releaseIn } from "../held/release.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import { commandText } from "../next-command.ts";
import { type Node, openNode, parseQuery, type Query, search } from "../node.ts";
import { describeReservations } from "./describe-reservation.ts";
import { reservationTable } from "./reservation-table.ts";
import { type Hint, hint, hintsFor, inSeveralNetworks, nothingFound } from "./search-hints.ts";

/** `release`: releases addresses by hand. */
export const release: Command = {
  name: "release",
  operands: "ADDRESS|CONTAINER|POD...",
  findsNetworks: true,
  summary: "release addresses, or those of containers or pods, by hand",
  description: [
    "Releases addresses, or all addresses of containers or pods: in any network, or in that of --network. If one of several is not found, or is alive, nothing is released. The container id must be complete; a pod is NAMESPACE/NAME, or NAME if that is unique, if libcni's cache contains it.",
    "Refuses (exit code 1) if the container is alive, that is, if a network namespace has the address or the container's namespace exists. If that is unknown, asks at a terminal, and refuses elsewhere. --force overrides both: the next container then gets an address that may be in use.",
    "Prints what else the container holds in the network, such as its IPv6 address, and the command that releases all of it.",
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
    const chosen = new Map(
      targets.flatMap(({ reservations }) => reservations.map((one) => [one.path, one])),
    );
    const reservations = [...chosen.values()];
    const hints = targets.flatMap((target) => target.hints);
    if (hints.length === 0) return releaseReservations(node, reservations);
    const further = hint("refused", "Nothing was released; correct this first.");
    return refused(node, targets, reservations, targets.length > 1 ? [further] : []);
  },
};

/** An operand, and what it means. */
interface Target {
  readonly query: Query;
  /** What is to be released. */
  readonly reservations: readonly NodeReservation[];
  /** Why that cannot be said; empty where it can. */
  readonly hints: readonly Hint[];
}

function targetOf(node: Node, asked: Query): Target {
  const { reservations: found, candidates, pod } = search(node, asked);
  const query: Query = pod === undefined ? asked : { kind: "pod", pod };
  const reservations = found.filter(
    ({ owner }) => query.kind !== "container" || containerOf(owner) === query.id,
  );
  if (reservations.length === 0) {
    const hints = found.length > 0 ? [incompleteId(found)] : hintsFor(node, query, candidates);
    return { query, reservations, hints };
  }
  const isAmbiguous = query.kind === "address" && reservations.length > 1;
  const hints = isAmbiguous ? [inSeveralNetworks(reservations.map(({ network }) => network))] : [];
  return { query, reservations, hints };
}

function incompleteId(reservations: readonly NodeReservation[]): Hint {
  const held = new Set(reservations.map(({ owner }) => containerOf(owner)));
  return hint("ambiguous", `Held by ${[...held].join(", ")}; use the complete container id.`);
}

/** What the containers hold in the same networks beside what was asked for. */
function othersOf(reservations: readonly NodeReservation[]): readonly NodeReservation[] {
  const byNetwork = Map.groupBy(reservations, ({ network }) => network);
  return [...byNetwork].flatMap(([network, here]) => {
    const names = new Set(here.map(({ name }) => name));
    const containers = new Set(here.map(({ owner }) => containerOf(owner)));
    containers.delete("");
    if (containers.size === 0) return [];
    return network.reservations.filter(
      ({ owner, name }) => containers.has(containerOf(owner)) && !names.has(name),
    );
  });
}

function releaseReservations(node: Node, matching: readonly NodeReservation[]): Report {
  const { context } = node;
  const others = othersOf(matching);
  const living = context.has("--force") ? [] : livingHints(node, [...matching, ...others]);
  if (living.length > 0) return refused(node, [], matching, living, others);
  // Before anything is released: what is from before this boot is then still known.
  const known = node.liveness.livenessOfAll(matching);
  const table = reservationTable(node, known, true);
  const question = `Release ${known.length === 1 ? "this address" : `these ${known.length} addresses`}?`;
  if (!isConfirmed(context, `${table}${doubts(known)}`, question)) {
    const text = "Nothing was released: use --yes, or answer y at a terminal.";
    return refused(node, [], matching, [hint("refused", text)], others);
  }
  const besides = node.liveness.livenessOfAll(others);
  const byNetwork = Map.groupBy(matching, ({ network }) => network);
  const released = [...byNetwork].flatMap(([network, here]) => releaseIn(network, "release", here));
  return report(node, known, besides, new Set(released));
}

/** A hint for each container that is alive or, where nobody can be asked, of which that is not known, in each network. */
function livingHints(node: Node, chosen: readonly NodeReservation[]): readonly Hint[] {
  const concluded = node.liveness.livenessOfAll(chosen);
  const byContainer = Map.groupBy(concluded, ({ reservation: { network, owner, path } }) => {
    const container = containerOf(owner);
    return `${network.files.directory} ${container === "" ? path : container}`;
  });
  return [...byContainer.values()].flatMap((held): readonly Hint[] => {
    const [first] = held;
    if (first === undefined) return [];
    const { reservation, conclusion: result } = first;
    if (result.liveness === "dead") return [];
    const isAlive = result.liveness === "alive";
    if (!isAlive && canAsk(node.context)) return [];
    const addresses = held.map((one) => one.reservation.text).join(", ");
    const state = isAlive
      ? `the container that holds ${addresses} is alive, since ${result.reason}`
      : `whether the container that holds ${addresses} is alive is not known: ${result.reason}`;
    const text = `Refused: ${state}. What is released is handed out again while it is in use; to release it nevertheless, add --force.`;
    const { network } = reservation.network.files;
    return [hint(isAlive ? "alive" : "mayBeAlive", text, network)];
  });
}

/** What is not known of those that may be released after a question. */
function doubts(known: readonly KnownReservation[]): string {
  const reasons = known
    .filter(({ conclusion }) => conclusion.liveness === "unknown")
    .map(({ conclusion: { reason } }) => inOneLine(reason))
    .map((reason) => `Whether its container is alive is not known: ${reason}.\n`);
  return [...new Set(reasons)].join("");
}

function report(
  node: Node,
  chosen: readonly KnownReservation[],
  others: readonly KnownReservation[],
  released: ReadonlySet<NodeReservation>,
): Report {
  const done = chosen.filter(({ reservation }) => released.has(reservation));
  const left = chosen.filter(({ reservation }) => !released.has(reservation));
  const table = done.length === 0 ? "" : reservationTable(node, done, true);
  const lines = left.map(
    ({ reservation: { text, network } }) =>
      `${text} of ${network.files.network} changed in the meantime and was not released; try again.\n`,
  );
  return {
    exitCode: left.length > 0 ? 1 : 0,
    document: () => documentOf(node, done, left, others, []),
    text: () =>
      `${table === "" ? "" : `Released:\n${table}`}${lines.join("")}${othersNote(node.context, others)}`,
  };
}

/**
 * Nothing was released.
 *
 * @param targets those with a hint say why
 * @param hints what is to be said of all
 */
function refused(
  node: Node,
  targets: readonly Target[],
  reservations: readonly NodeReservation[],
  hints: readonly Hint[],
  others: readonly NodeReservation[] = [],
): Report {
  const { context } = node;
  const left = node.liveness.livenessOfAll(reservations);
  const besides = node.liveness.livenessOfAll(others);
  const table = left.length > 0 ? reservationTable(node, left, true) : "";
  // The hint for a container that is alive names all that it holds.
  const isAlive = hints.some(({ reason }) => reason === "alive" || reason === "mayBeAlive");
  const all = [...targets.flatMap((target) => target.hints), ...hints];
  return {
    exitCode: 1,
    document: () => documentOf(node, [], left, besides, all),
    text: () =>
      `${table}${isAlive ? "" : othersNote(context, besides)}${targets.map(targetText).join("")}${hints.map(hintText).join("")}`,
  };
}

/** The hints of an operand; empty where there are none. */
function targetText({ query, reservations, hints }: Target): string {
  return reservations.length > 0 ? hints.map(hintText).join("") : nothingFound(query, hints);
}

function hintText({ text }: Hint): string {
  return `${inOneLine(text)}\n`;
}

function documentOf(
  node: Node,
  released: readonly KnownReservation[],
  left: readonly KnownReservation[],
  others: readonly KnownReservation[],
  hints: readonly Hint[],
): object {
  return {
    released: describeReservations(node, released),
    left: describeReservations(node, left),
    others: describeReservations(node, others),
    hints,
  };
}

/** What else the containers hold, and the commands that release all of it. */
function othersNote(context: Context, others: readonly KnownReservation[]): string {
  const [first] = others;
  if (first === undefined) return "";
  const held = others.map(({ reservation: { text, owner, network } }) => {
    const place = `${interfaceOf(owner)} in ${network.files.network}`.replace(/^ in /, "");
    return `${text} (${place})`;
  });
  const commands = others.map(({ reservation: { owner, network } }) => {
    const { files } = network;
    return commandText(context, files, ["release", containerOf(owner), "--network", files.network]);
  });
  const text = `The container also holds ${held.join(", ")}. To release all: ${[...new Set(commands)].join("; ")}`;
  return `${inOneLine(text)}\n`;
}
