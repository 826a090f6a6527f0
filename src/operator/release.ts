import { formatAddress } from "../ipam/address.ts";
import { underLock } from "../store/lock.ts";
import { releaseUnchanged, snapshotOf } from "../store/release-seen.ts";
import { CannotLook, type Command, type Context, type Report } from "./command.ts";
import { isConfirmed, yesOption } from "./confirm.ts";
import { formatWanted, type Hint, hintsForAddress, hintsForOwner } from "./hints.ts";
import { containerOf, describeItem, type Item, interfaceOf } from "./inventory.ts";
import { distinctDirectories, findNetworks, tellProblems } from "./networks.ts";
import { knownPods, type Pods } from "./pods.ts";
import { cacheOption } from "./results-cache.ts";
import { readWanted, search, type Wanted } from "./search.ts";
import { columns, formatTable } from "./table.ts";

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
    const wanted = readWanted(operand);
    if (wanted.kind === "pod") {
      throw new CannotLook(`release: expected an address or a container id; see host-local show`);
    }
    if (wanted.kind === "address" && interfaceName !== undefined) {
      throw new CannotLook("release: an interface belongs to a container, not to an address");
    }
    const { found, bad } = findNetworks(context, context.option("--network"));
    tellProblems(context, bad);
    const pods = knownPods(context);
    const { items, candidates } = search(context, distinctDirectories(found), wanted, pods);
    const meant = itemsMeant(items, wanted, interfaceName);
    const [first] = meant;
    if (first === undefined) {
      if (items.length > 0) return refused(wanted, [], pods, notMeant(items, interfaceName));
      const hints =
        wanted.kind === "address"
          ? hintsForAddress(wanted.address, found)
          : hintsForOwner(wanted, candidates, pods.attachments);
      return refused(wanted, [], pods, hints);
    }
    if (wanted.kind === "address" && meant.some(({ path }) => path !== first.path)) {
      return refused(wanted, meant, pods, [inSeveral(meant)]);
    }
    return releaseItems(context, wanted, meant, pods);
  },
};

/** Whole container ids only; of an interface what names it or, where nothing does, what names no interface. */
function itemsMeant(
  items: readonly Item[],
  wanted: Wanted,
  interfaceName: string | undefined,
): readonly Item[] {
  if (wanted.kind !== "container") return items;
  const own = items.filter(({ owner }) => containerOf(owner) === wanted.id);
  if (interfaceName === undefined) return own;
  const exact = own.filter(({ owner }) => interfaceOf(owner) === interfaceName);
  return exact.length > 0 ? exact : own.filter(({ owner }) => owner.kind === "legacy");
}

/** Why what was found is not what was asked for. */
function notMeant(items: readonly Item[], interfaceName: string | undefined): readonly Hint[] {
  const held = new Set(
    items.map(({ owner }) => `${containerOf(owner)} ${interfaceOf(owner)}`.trim()),
  );
  const whole = interfaceName === undefined ? "say the whole container id" : "not that interface";
  return [
    { reason: "ambiguous", network: null, text: `Held by ${[...held].join(", ")}: ${whole}.` },
  ];
}

function inSeveral(items: readonly Item[]): Hint {
  const places = items.map(
    ({ network: { location } }) => `${location.network} (${location.directory})`,
  );
  const text = `It is reserved in several networks: ${places.join(", ")}. Say which with --network, or --data-dir.`;
  return { reason: "ambiguous", network: null, text };
}

function releaseItems(
  context: Context,
  wanted: Wanted,
  items: readonly Item[],
  pods: Pods,
): Report {
  const { system } = context;
  const looked = items.flatMap((item) => {
    const snapshot = snapshotOf(system, item.network.location, item);
    return snapshot === undefined ? [] : [{ item, snapshot }];
  });
  const preview = tableOf(items, pods);
  const question = `Release ${items.length === 1 ? "this address" : `these ${items.length} addresses`}? A container that is alive would go on using it.`;
  if (!isConfirmed(context, preview, question)) {
    const text = "Nothing was released: say --yes, or answer y at a terminal.";
    return refused(wanted, items, pods, [{ reason: "refused", network: null, text }]);
  }
  const released = new Set<Item>();
  for (const network of new Set(items.map((item) => item.network))) {
    const here = looked.filter(({ item }) => item.network === network);
    const wish = {
      holder: `release ${formatWanted(wanted)}`,
      timeoutSeconds: network.lockTimeoutSeconds,
    };
    const names = underLock(system, network.location, wish, (ledger) =>
      releaseUnchanged(
        ledger,
        here.map(({ snapshot }) => snapshot),
      ),
    );
    for (const { item } of here) if (names.includes(item.name)) released.add(item);
  }
  return done(items, released, pods);
}

function done(items: readonly Item[], released: ReadonlySet<Item>, pods: Pods): Report {
  const freed = items.filter((item) => released.has(item));
  const left = items.filter((item) => !released.has(item));
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
  wanted: Wanted,
  items: readonly Item[],
  pods: Pods,
  hints: readonly Hint[],
): Report {
  const found =
    items.length > 0 ? tableOf(items, pods) : `No reservation for ${formatWanted(wanted)}.\n`;
  return {
    exitCode: 1,
    document: { ...documentOf([], items, pods), hints },
    text: `${found}${hints.map(({ text }) => `${items.length > 0 ? "" : "  "}${text}\n`).join("")}`,
  };
}

function documentOf(released: readonly Item[], left: readonly Item[], pods: Pods): object {
  const describe = (item: Item): object => describeItem(item, pods.of(item));
  return { released: released.map(describe), left: left.map(describe) };
}

function tableOf(items: readonly Item[], pods: Pods): string {
  return formatTable(
    columns("NETWORK", "ADDRESS", "CONTAINER", "INTERFACE", "POD"),
    items.map((item) => [
      item.network.location.network,
      formatAddress(item.address),
      containerOf(item.owner) || "-",
      interfaceOf(item.owner) || "-",
      pods.of(item) || "-",
    ]),
  );
}
