/** What is on this node at one moment. */

import type { Context } from "../cli/command/command.ts";
import type { HeldAddress } from "../store/reservations/reservation-file.ts";
import { ResultsCache } from "./alive/cache/results-cache.ts";
import type { ConfigurationFile, ConfigurationProblem } from "./configured/configuration-files.ts";
import type { FoundNetwork } from "./configured/found-network.ts";
import { findNetworks, type Networks } from "./configured/networks.ts";
import { readCursorDates } from "./facts/cursor-date.ts";
import { type KeptCalls, readKeptCalls } from "./facts/kept-calls.ts";
import { NodeLifeFacts } from "./facts/life-facts.ts";
import { readLinks } from "./facts/links.ts";
import { type NextHop, readNextHops } from "./facts/next-hops.ts";
import { outlookOf } from "./facts/outlook.ts";
import {
  logUnreadable,
  type NetworkDirectory,
  type NodeReservation,
  networkDirectories,
} from "./held/network-directory.ts";
import { addressIn } from "./judgements/address-in-network.ts";
import { type AddTraces, cursorsMoved } from "./judgements/calls.ts";
import { Lives } from "./judgements/lives.ts";
import { type NextAdd, nextAddIn } from "./judgements/next-add.ts";
import { takenByAdd } from "./judgements/taken-by-add.ts";
import { once, onceFor } from "./once.ts";

/** What is on this node at one moment: each thing is read once, when it is asked for. */
export class Node {
  readonly context: Context;
  /** The networks, without the configurations that nobody uses. */
  readonly networks: readonly FoundNetwork[];
  /** The configurations of networks that nobody uses beside others of these. */
  readonly unused: readonly FoundNetwork[];
  /** What is wrong with their configurations. */
  readonly problems: readonly ConfigurationProblem[];
  /** The files of the configuration directories, also those that use other plugins. */
  readonly files: readonly ConfigurationFile[];
  readonly places: Networks["places"];
  /** Who uses each of them, and the configurations in them that use this plugin. */
  readonly uses: Networks["uses"];
  readonly configurations: Networks["configurations"];
  /** The directories of the networks, in the order of these: the reservations of all tell whose a network namespace is. */
  readonly directories: readonly NetworkDirectory[];
  /** The directories of the network that the command is about; all of them where it is about none. */
  readonly asked: readonly NetworkDirectory[];
  /** Whether the command is about all networks. */
  readonly isOfAll: boolean;
  readonly cache: ResultsCache;
  readonly facts: NodeLifeFacts;
  readonly liveness: Lives;
  readonly #networks: Networks;
  readonly #name: string | undefined;

  constructor(
    context: Context,
    networks: Networks,
    name: string | undefined,
    cache: ResultsCache = new ResultsCache(context),
  ) {
    const { found, unused, problems, files, places, uses, configurations } = networks;
    this.context = context;
    this.#networks = networks;
    this.#name = name;
    this.isOfAll = name === undefined;
    this.networks = found;
    this.unused = unused;
    this.problems = problems;
    this.files = files;
    this.places = places;
    this.uses = uses;
    this.configurations = configurations;
    this.directories = networkDirectories(context.system, this.networks);
    this.asked = this.directories.filter((directory) => this.isAsked(directory.files.network));
    this.cache = cache;
    this.facts = new NodeLifeFacts(context.system, this.cache, this.directories);
    this.liveness = new Lives(this.facts);
  }

  /** The networks that the command is about. */
  get askedNetworks(): readonly FoundNetwork[] {
    return this.asked.flatMap(({ networks }) => networks);
  }

  /** Whether the command is about a network of this name. */
  isAsked(network: string): boolean {
    return this.isOfAll || network === this.#name;
  }

  /**
   * The reservations of all networks, in the order of reading that every command has: the names of libcni's entries, reservations,
   * journals, and only then what the kernel shows. So what is added meanwhile is known, and what ends meanwhile is not taken for
   * alive.
   */
  readonly reservations = once((): readonly NodeReservation[] => {
    this.cache.learnNames();
    const reservations = this.directories.flatMap((directory) => directory.reservations);
    for (const directory of this.directories) this.facts.journalOf(directory);
    return reservations;
  });

  /** The reservations of the networks that the command is about. */
  readonly askedReservations = once((): readonly NodeReservation[] =>
    this.reservations().filter(({ network }) => this.isAsked(network.files.network)),
  );

  /** The links of the node; `undefined` where they are not seen. */
  readonly links = once(() => readLinks(this.context.system));

  /** The routers of the node; none where this process is in another network namespace, or they are not seen. */
  readonly nextHops = once((): readonly NextHop[] =>
    this.liveness.whose.isInNode() ? readNextHops(this.context.system) : [],
  );

  /** The calls that failed, or gave their address back at once, since the node started. */
  readonly calls = once((): KeptCalls => readKeptCalls(this.context.system));

  /** What ADDs of a network that succeeded have left. */
  readonly addTracesIn = onceFor((directory: NetworkDirectory): AddTraces => {
    const dates = readCursorDates(this.context.system, directory);
    return {
      cursor: cursorsMoved(dates, directory.networks),
      reservations: directory.reservations,
    };
  });

  /** What the next ADD in a network comes to. */
  nextAddIn(directory: NetworkDirectory, network: FoundNetwork): NextAdd {
    return this.#nextAdds(directory)(network);
  }

  readonly #nextAdds = onceFor((directory: NetworkDirectory) =>
    onceFor((network: FoundNetwork): NextAdd => {
      const outlook = outlookOf(this.context.system, network, this.facts);
      return nextAddIn(network, outlook, this.usedIn(directory, network));
    }),
  );

  /** The names of the reservations of a network that an ADD takes where no other address is free; `undefined` where unread. */
  readonly takenIn = onceFor((directory: NetworkDirectory): ReadonlySet<string> | undefined => {
    const { fault, states } = this.facts.journalOf(directory);
    const beforeBoot = states.namesBeforeBoot(() => directory.reservations);
    const read = fault === undefined ? states : undefined;
    return takenByAdd(beforeBoot, read, this.facts.useIn(directory.files));
  });

  /** The addresses of a network that count as used: see `NetworkDirectory.usedIn`, and those in use without a reservation. */
  usedIn(directory: NetworkDirectory, network: FoundNetwork): readonly HeldAddress[] {
    const reserved = directory.usedIn(network, this.takenIn(directory));
    const inUse = this.facts.inUseIn(directory);
    if (inUse.length === 0) return reserved;
    const names = new Set(reserved.map(({ name }) => name));
    return [...reserved, ...inUse.filter(({ name }) => !names.has(name))];
  }

  /** The addresses that ADDs of a network would get if containers did not use them without a reservation. */
  unreservedIn(directory: NetworkDirectory): readonly string[] {
    const { networks } = directory;
    return this.facts
      .inUseIn(directory)
      .filter(({ user }) => user === "container")
      .filter(({ address }) =>
        networks.some((network) => addressIn(network, address).kind === "handedOut"),
      )
      .map(({ name }) => name)
      .filter((name) => directory.heldAt(name).length === 0);
  }

  /** The same networks as they are now: the reservations are read, as before all else. What cannot be read is logged already. */
  readAgain(): Node {
    const now = new Node({ ...this.context, log: () => {} }, this.#networks, this.#name);
    now.reservations();
    return now;
  }
}

/**
 * The node, for a command about the network of one name, or all; what is wrong with configurations is logged.
 *
 * @param counts as `findNetworks`
 * @throws CommandError as `findNetworks`
 * @throws SystemError if a directory cannot be read
 */
export function openNode(...request: Parameters<typeof findNode>): Node {
  const node = findNode(...request);
  for (const { source, problem } of node.problems) node.context.log(`${source}: ${problem}`);
  return node;
}

/** The node, as `openNode` finds it; nothing is logged. */
export function findNode(
  context: Context,
  name: string | undefined,
  counts?: Parameters<typeof findNetworks>[3],
): Node {
  const cache = new ResultsCache(context);
  return new Node(context, findNetworks(context, cache, name, counts), name, cache);
}

/** Logs which ranges are not known, for commands that count addresses. */
export function logUncertainty({ context, askedNetworks }: Node): void {
  for (const { source, uncertainty } of askedNetworks) {
    if (uncertainty !== undefined) context.log(`${source}: ${uncertainty}`);
  }
}

/** Logs what this user may not read of a network, for commands that count its free addresses. */
export function logUncounted({ context, facts }: Node, directory: NetworkDirectory): void {
  const { files, unowned } = directory;
  logUnreadable(context, unowned, "; they count as used");
  const { fault } = facts.journalOf(directory);
  if (fault === undefined) return;
  context.log(
    `${files.network}: which reservations are of dead pods or from before this boot, and count as free, and which addresses were released lately is not known: ${fault.message}`,
  );
}
