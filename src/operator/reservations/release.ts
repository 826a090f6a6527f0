import { formatAddress } from "../../ipam/address.ts";
import { withLock } from "../../store/lock.ts";
import { releaseUnchanged, snapshotOf } from "../../store/release-unchanged.ts";
import { type Command, CommandError, type Context, type Report } from "../command/command.ts";
import { isConfirmed, yesOption } from "../command/confirm.ts";
import { distinctDirectories, findNetworks, logProblems } from "../node/networks.ts";
import {
  containerOf,
  describeReservation,
  interfaceOf,
  type NodeReservation,
} from "../node/node-reservations.ts";
import { knownPods, type Pods } from "../node/pods.ts";
import { cacheOption } from "../node/results-cache.ts";
import { parseQuery, type Query, search } from "../node/search.ts";
import { columns, formatTable } from "../output/table.ts";
import { formatQuery, type Hint, hintsForAddress, hintsForOwner } from "./hints.ts";

/** `release`: frees addresses by hand. */
export const release: Command = {
  name: "release",
  operands: "ADDRESS|CONTAINER [INTERFACE]",
  operandCount: { least: 1, most: 2 },
  summary: "free one address, or those of one container, by hand",
  description: [
    "Frees an address, or all that a container holds in any network, or what one of its interfaces holds. The container id must be whole. Where an address is reserved in several networks, --network says in which. A container that is alive goes on using its address: make sure that it is gone.",
    "Asks at a terminal; elsewhere it needs --yes, and without it only says what it would free and ends with 1. A reservation that changes between the look and the release is left alone.",
  ],
  options: [
    yesOption,
    { name: "--network", value: "NETWORK", summary: "free in this network only" },
    cacheOption,
  ],
  examples: [
    { line: "host-local release 10.88.0.7", effect: "one address, after a question" },
    {
      line: "host-local release 4f1d6e0c8b7a eth0 --yes",
      effect: "what one interface of a container holds",
    },
  ],
  run: (context) => {
    const [operand = "", interfaceName] = context.operands;
    const query = parseQuery(operand);
    if (query.kind === "pod") {
      throw new CommandError(`release: expected an address or a container id; see host-local show`);
    }
    if (query.kind === "address" && interfaceName !== undefined) {
      throw new CommandError("release: an interface belongs to a container, not to an address");
    }
    const { found, bad } = findNetworks(context, context.option("--network"));
    logProblems(context, bad);
    const pods = knownPods(context);
    const { reservations, candidates } = search(context, distinctDirectories(found), query, pods);
    const meant = reservationsMeant(reservations, query, interfaceName);
    const [first] = meant;
    if (first === undefined) {
      if (reservations.length > 0)
        return refused(query, [], pods, notMeant(reservations, interfaceName));
      const hints =
        query.kind === "address"
          ? hintsForAddress(query.address, found)
          : hintsForOwner(query, candidates, pods.attachments);
      return refused(query, [], pods, hints);
    }
    if (query.kind === "address" && meant.some(({ path }) => path !== first.path)) {
      return refused(query, meant, pods, [inSeveral(meant)]);
    }
    return releaseReservations(context, query, meant, pods);
  },
};

/** Whole container ids only; of an interface what names it or, where nothing does, what names no interface. */
function reservationsMeant(
  reservations: readonly NodeReservation[],
  query: Query,
  interfaceName: string | undefined,
): readonly NodeReservation[] {
  if (query.kind !== "container") return reservations;
  const own = reservations.filter(({ owner }) => containerOf(owner) === query.id);
  if (interfaceName === undefined) return own;
  const exact = own.filter(({ owner }) => interfaceOf(owner) === interfaceName);
  return exact.length > 0 ? exact : own.filter(({ owner }) => owner.kind === "legacy");
}

/** Why what was found is not what was asked for. */
function notMeant(
  reservations: readonly NodeReservation[],
  interfaceName: string | undefined,
): readonly Hint[] {
  const held = new Set(
    reservations.map(({ owner }) => `${containerOf(owner)} ${interfaceOf(owner)}`.trim()),
  );
  const whole = interfaceName === undefined ? "say the whole container id" : "not that interface";
  return [
    { reason: "ambiguous", network: null, text: `Held by ${[...held].join(", ")}: ${whole}.` },
  ];
}

function inSeveral(reservations: readonly NodeReservation[]): Hint {
  const directories = reservations.map(
    ({ network: { location } }) => `${location.network} (${location.directory})`,
  );
  const text = `It is reserved in several networks: ${directories.join(", ")}. Say which with --network, or --data-dir.`;
  return { reason: "ambiguous", network: null, text };
}

function releaseReservations(
  context: Context,
  query: Query,
  reservations: readonly NodeReservation[],
  pods: Pods,
): Report {
  const { system } = context;
  const looked = reservations.flatMap((reservation) => {
    const snapshot = snapshotOf(system, reservation.network.location, reservation);
    return snapshot === undefined ? [] : [{ reservation, snapshot }];
  });
  const preview = tableOf(reservations, pods);
  const question = `Release ${reservations.length === 1 ? "this address" : `these ${reservations.length} addresses`}? A container that is alive would go on using it.`;
  if (!isConfirmed(context, preview, question)) {
    const text = "Nothing was released: say --yes, or answer y at a terminal.";
    return refused(query, reservations, pods, [{ reason: "refused", network: null, text }]);
  }
  const released = new Set<NodeReservation>();
  for (const network of new Set(reservations.map((reservation) => reservation.network))) {
    const here = looked.filter(({ reservation }) => reservation.network === network);
    const request = {
      holder: `release ${formatQuery(query)}`,
      timeoutSeconds: network.lockTimeoutSeconds,
    };
    const names = withLock(system, network.location, request, (store) =>
      releaseUnchanged(
        store,
        here.map(({ snapshot }) => snapshot),
      ),
    );
    for (const { reservation } of here)
      if (names.includes(reservation.name)) released.add(reservation);
  }
  return done(reservations, released, pods);
}

function done(
  reservations: readonly NodeReservation[],
  released: ReadonlySet<NodeReservation>,
  pods: Pods,
): Report {
  const freed = reservations.filter((reservation) => released.has(reservation));
  const left = reservations.filter((reservation) => !released.has(reservation));
  const lines = left.map(
    ({ address, network }) =>
      `${formatAddress(address)} of ${network.location.network} was changed meanwhile and is left alone; look again.\n`,
  );
  return {
    exitCode: left.length > 0 ? 1 : 0,
    document: { ...documentOf(freed, left, pods), hints: [] },
    text: `${freed.length > 0 ? `Released:\n${tableOf(freed, pods)}` : ""}${lines.join("")}`,
  };
}

/** Nothing was released. */
function refused(
  query: Query,
  reservations: readonly NodeReservation[],
  pods: Pods,
  hints: readonly Hint[],
): Report {
  const found =
    reservations.length > 0
      ? tableOf(reservations, pods)
      : `No reservation for ${formatQuery(query)}.\n`;
  return {
    exitCode: 1,
    document: { ...documentOf([], reservations, pods), hints },
    text: `${found}${hints.map(({ text }) => `${reservations.length > 0 ? "" : "  "}${text}\n`).join("")}`,
  };
}

function documentOf(
  released: readonly NodeReservation[],
  left: readonly NodeReservation[],
  pods: Pods,
): object {
  const describe = (reservation: NodeReservation): object =>
    describeReservation(reservation, pods.of(reservation));
  return { released: released.map(describe), left: left.map(describe) };
}

function tableOf(reservations: readonly NodeReservation[], pods: Pods): string {
  return formatTable(
    columns("NETWORK", "ADDRESS", "CONTAINER", "INTERFACE", "POD"),
    reservations.map((reservation) => [
      reservation.network.location.network,
      formatAddress(reservation.address),
      containerOf(reservation.owner) || "-",
      interfaceOf(reservation.owner) || "-",
      pods.of(reservation) || "-",
    ]),
  );
}
