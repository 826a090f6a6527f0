import { type Command, type Context, type Report, UsageError } from "../../cli/command/command.ts";
import { canAsk, isConfirmed, yesOption } from "../../cli/command/confirm.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { formatId, tableWidth } from "../../cli/output/terminal.ts";
import { formatAddress } from "../../ipam/address.ts";
import { withLock } from "../../store/lock.ts";
import { formatLiveness } from "../node/conclusion.ts";
import { historyCall } from "../node/history-call.ts";
import type { NetworkDirectory, NodeReservation } from "../node/network-directory.ts";
import { unreserveCommand } from "../node/next-command.ts";
import { type Node, openNode } from "../node/node.ts";
import { ageOf, containerOf, describeReservation, interfaceOf } from "../node/node-reservations.ts";
import { releaseUnchanged } from "../node/release-unchanged.ts";
import { cacheOption } from "../node/results-cache.ts";
import { parseQuery, type Query, search } from "../node/search.ts";
import { othersOf, othersText } from "./also-held.ts";
import { formatQuery, type Hint, hintsFor, inSeveralNetworks } from "./search-hints.ts";

/** `release`: releases addresses by hand. */
export const release: Command = {
  name: "release",
  operands: "ADDRESS|CONTAINER|POD [INTERFACE]",
  findsNetworks: true,
  summary: "release an address, or those of a container or pod, by hand",
  description: [
    "Releases an address, all addresses of a container or pod in any network, or those of one of its interfaces. The container id must be complete; a pod is NAMESPACE/NAME, or NAME if that is unique, if libcni's cache contains it. If an address is reserved in several networks, choose one with --network.",
    "Refuses, with exit code 1, while a container is alive: if a network namespace of the node has the address, or the one that libcni's cache names exists; and, unless it can ask at a terminal, if that is not known. The next container would get the address, too, while this one keeps using it. --force releases it nevertheless.",
    "Prints what else the container holds in the network, such as its IPv6 address; --all releases that, too, and at a terminal it asks.",
    "Asks for confirmation at a terminal. Elsewhere, without --yes, it only prints what it would release and exits with 1. A reservation that changes in the meantime is not released.",
  ],
  options: [
    yesOption,
    { name: "--all", summary: "release everything that the container holds in the network" },
    { name: "--force", summary: "release even if the container is, or may be, alive" },
    { name: "--network", value: "NETWORK", summary: "release in this network only" },
    cacheOption,
  ],
  examples: [
    { line: "host-local release 10.88.0.7", effect: "release one address, after a confirmation" },
    {
      line: "host-local release 10.88.0.7 --all --yes",
      effect: "release it and the other addresses of its container in the network",
    },
    {
      line: "host-local release 4f1d6e0c8b7a eth0 --yes",
      effect: "release the addresses of one interface of a container",
    },
    { line: "host-local release default/web", effect: "release the addresses of a pod" },
  ],
  run: (context) => {
    const [operand = "", interfaceName] = context.operands;
    const asked = parseQuery(operand);
    if (asked.kind === "address" && interfaceName !== undefined) {
      throw new UsageError("release: an interface belongs to a container, not to an address");
    }
    const node = openNode(context, context.option("--network"));
    const { reservations, candidates, pod } = search(node, asked);
    const query: Query = pod === undefined ? asked : { kind: "pod", pod };
    const matching = matchingReservations(reservations, query, interfaceName);
    if (matching.length === 0) {
      const hints =
        reservations.length > 0
          ? noMatch(reservations, interfaceName)
          : hintsFor(node, query, candidates);
      return refused(node, query, [], hints);
    }
    if (query.kind === "address" && matching.length > 1) {
      return refused(node, query, matching, [
        inSeveralNetworks(
          matching.map(({ network }) => network),
          "is reserved in",
        ),
      ]);
    }
    // Those that are kept have no container: a pod may have others.
    const held = matching.filter(({ owner }) => owner.kind !== "kept");
    if (held.length > 0) return releaseReservations(node, query, held);
    return refused(node, query, matching, matching.map(keptHint(context)));
  },
};

/** A hint for each container that is alive or, where nobody can be asked, of which that is not known, in each network. */
function livingHints(node: Node, chosen: readonly NodeReservation[]): readonly Hint[] {
  const results = node.liveness.livenessOfAll(chosen);
  const byContainer = Map.groupBy(chosen, ({ network: { files }, owner, path }) => {
    const container = containerOf(owner);
    return `${files.directory} ${container === "" ? path : container}`;
  });
  return [...byContainer.values()].flatMap((held): readonly Hint[] => {
    const [first] = held;
    const result = first && results.get(first);
    if (first === undefined || result === undefined || result.liveness === "dead") return [];
    const isAlive = result.liveness === "alive";
    if (!isAlive && canAsk(node.context)) return [];
    const addresses = held.map(({ address }) => formatAddress(address)).join(", ");
    const state = isAlive
      ? `the container that holds ${addresses} is alive, since ${result.reason}`
      : `whether the container that holds ${addresses} is alive is not known: ${result.reason}`;
    const text = `Refused: ${state}. What is released is handed out again while it is in use; to release it nevertheless, add --force.`;
    return [
      { reason: isAlive ? "alive" : "mayBeAlive", network: first.network.files.network, text },
    ];
  });
}

/**
 * Only complete container ids match. An interface matches the reservations that name it or, if there are none, those that
 * name no interface.
 */
function matchingReservations(
  reservations: readonly NodeReservation[],
  query: Query,
  interfaceName: string | undefined,
): readonly NodeReservation[] {
  if (query.kind === "address") return reservations;
  const own =
    query.kind === "pod"
      ? reservations
      : reservations.filter(({ owner }) => containerOf(owner) === query.id);
  if (interfaceName === undefined) return own;
  const exact = own.filter(({ owner }) => interfaceOf(owner) === interfaceName);
  return exact.length > 0 ? exact : own.filter(({ owner }) => owner.kind === "legacy");
}

/** Why none of the reservations found matches exactly. */
function noMatch(
  reservations: readonly NodeReservation[],
  interfaceName: string | undefined,
): readonly Hint[] {
  const held = new Set(
    reservations.map(({ owner }) => `${containerOf(owner)} ${interfaceOf(owner)}`.trim()),
  );
  const remedy =
    interfaceName === undefined
      ? "use the complete container id"
      : `not by interface ${interfaceName}`;
  return [
    { reason: "ambiguous", network: null, text: `Held by ${[...held].join(", ")}; ${remedy}.` },
  ];
}

/** Such a reservation is not a container's: it would be made again. */
function keptHint(context: Context): (reservation: NodeReservation) => Hint {
  return ({ address, network: { files } }) => {
    const command = unreserveCommand(context, files, formatAddress(address));
    const text = `It is kept by reserve. To keep it no longer: ${command}`;
    return { reason: "kept", network: files.network, text };
  };
}

function releaseReservations(
  node: Node,
  query: Query,
  matching: readonly NodeReservation[],
): Report {
  const { context } = node;
  const held = othersOf(matching);
  const all = [...matching, ...held];
  const living = context.has("--force") ? [] : livingHints(node, all);
  if (living.length > 0) return refused(node, query, matching, living, held);
  const isAll = held.length > 0 && includesOthers(context, held);
  const chosen = isAll ? all : matching;
  const others = isAll ? [] : held;
  const question = `Release ${chosen.length === 1 ? "this address" : `these ${chosen.length} addresses`}?`;
  if (!isConfirmed(context, `${tableOf(node, chosen)}${doubts(node, chosen)}`, question)) {
    const text = "Nothing was released: use --yes, or answer y at a terminal.";
    return refused(node, query, chosen, [{ reason: "refused", network: null, text }], others);
  }
  // Before anything is released: what is from before this boot is then still known.
  const documents = documentsOf(node, all);
  const networks = new Set(chosen.map(({ network }) => network));
  const released = [...networks].flatMap((network) => {
    const here = chosen.filter((reservation) => reservation.network === network);
    return releaseIn(context, network, here);
  });
  return report(node, chosen, others, new Set(released), documents);
}

/** What is not known of those that may be released after a question. */
function doubts({ liveness }: Node, chosen: readonly NodeReservation[]): string {
  const reasons = [...liveness.livenessOfAll(chosen).values()]
    .filter((one) => one.liveness === "unknown")
    .map(({ reason }) => `Whether its container is alive is not known: ${inOneLine(reason)}.\n`);
  return [...new Set(reasons)].join("");
}

function releaseIn(
  { system }: Context,
  { files, networks: [network] }: NetworkDirectory,
  reservations: readonly NodeReservation[],
): readonly NodeReservation[] {
  const request = {
    timeoutSeconds: network.lockTimeoutSeconds,
    history: historyCall(system, network, "release"),
  };
  return withLock(files, request, (locked) => releaseUnchanged(locked, reservations));
}

/** With `--all`, or if the answer at the terminal is yes. */
function includesOthers(context: Context, others: readonly NodeReservation[]): boolean {
  if (context.has("--all")) return true;
  if (context.has(yesOption.name)) return false;
  return isConfirmed(context, "", `${inOneLine(othersText(others))} Release that, too?`);
}

function report(
  node: Node,
  chosen: readonly NodeReservation[],
  others: readonly NodeReservation[],
  released: ReadonlySet<NodeReservation>,
  documents: ReadonlyMap<NodeReservation, object>,
): Report {
  const done = chosen.filter((reservation) => released.has(reservation));
  const left = chosen.filter((reservation) => !released.has(reservation));
  const lines = left.map(
    ({ address, network }) =>
      `${formatAddress(address)} of ${network.files.network} changed in the meantime and was not released; try again.\n`,
  );
  return {
    exitCode: left.length > 0 ? 1 : 0,
    document: { ...documentOf(documents, done, left, others), hints: [] },
    text: `${done.length > 0 ? `Released:\n${tableOf(node, done)}` : ""}${lines.join("")}${othersNote(others)}`,
  };
}

function othersNote(others: readonly NodeReservation[]): string {
  return others.length === 0
    ? ""
    : `${inOneLine(othersText(others))} To release that, too, add --all.\n`;
}

/** Nothing was released. */
function refused(
  node: Node,
  query: Query,
  reservations: readonly NodeReservation[],
  hints: readonly Hint[],
  others: readonly NodeReservation[] = [],
): Report {
  const found =
    reservations.length > 0
      ? tableOf(node, reservations)
      : `No reservation for ${inOneLine(formatQuery(query))}.\n`;
  // The hint for a container that is alive names all that it holds.
  const isAlive = hints.some(({ reason }) => reason === "alive" || reason === "mayBeAlive");
  return {
    exitCode: 1,
    document: {
      ...documentOf(documentsOf(node, [...reservations, ...others]), [], reservations, others),
      hints,
    },
    text: `${found}${isAlive ? "" : othersNote(others)}${hints.map(({ text }) => `${reservations.length > 0 ? "" : "  "}${inOneLine(text)}\n`).join("")}`,
  };
}

function documentsOf(
  { cache, liveness }: Node,
  reservations: readonly NodeReservation[],
): ReadonlyMap<NodeReservation, object> {
  return new Map(
    [...liveness.livenessOfAll(reservations)].map(([one, conclusion]) => [
      one,
      describeReservation(one, cache.podOf(one), conclusion),
    ]),
  );
}

function documentOf(
  documents: ReadonlyMap<NodeReservation, object>,
  released: readonly NodeReservation[],
  left: readonly NodeReservation[],
  others: readonly NodeReservation[],
): object {
  const describe = (reservation: NodeReservation): object | undefined => documents.get(reservation);
  return {
    released: released.map(describe),
    left: left.map(describe),
    others: others.map(describe),
  };
}

function tableOf(
  { context: { system }, cache, liveness }: Node,
  reservations: readonly NodeReservation[],
): string {
  const now = system.now();
  const isOne = new Set(reservations.map(({ network }) => network)).size <= 1;
  return formatTable(
    columns(
      isOne ? "?NETWORK" : "NETWORK",
      "ADDRESS",
      "CONTAINER",
      "?INTERFACE",
      "AGE",
      "ALIVE",
      "POD",
    ),
    [...liveness.livenessOfAll(reservations)].map(([reservation, conclusion]) => [
      reservation.network.files.network,
      formatAddress(reservation.address),
      formatId(system, containerOf(reservation.owner)),
      interfaceOf(reservation.owner) || "-",
      ageOf(reservation, now),
      formatLiveness(conclusion.liveness),
      cache.podOf(reservation) || "-",
    ]),
    { width: tableWidth(system) },
  );
}
