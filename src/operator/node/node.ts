import type { Context } from "../../cli/command/command.ts";
import type { ConfigurationProblem } from "./configurations.ts";
import { LivenessChecker } from "./liveness.ts";
import {
  type NetworkDirectory,
  type NodeReservation,
  networkDirectories,
} from "./network-directory.ts";
import { type FoundNetwork, findNetworks } from "./networks.ts";
import { ResultsCache } from "./results-cache.ts";

/** What is on this node at one moment: each thing is read once, when it is asked for. */
export class Node {
  readonly context: Context;
  readonly networks: readonly FoundNetwork[];
  /** The same node with the networks that were not asked for; `undefined` where there are none. */
  readonly others: Node | undefined;
  /** What is wrong with their configurations. */
  readonly problems: readonly ConfigurationProblem[];
  /** In the order of their networks. */
  readonly directories: readonly NetworkDirectory[];
  readonly cache: ResultsCache;
  readonly liveness: LivenessChecker;

  constructor(
    context: Context,
    networks: readonly FoundNetwork[],
    problems: readonly ConfigurationProblem[],
    others: readonly FoundNetwork[] = [],
  ) {
    this.context = context;
    this.networks = networks;
    this.problems = problems;
    this.directories = networkDirectories(context.system, networks);
    this.cache = new ResultsCache(context);
    this.others = others.length === 0 ? undefined : new Node(context, others, []);
    // Whose a network namespace is, tell the reservations of all networks.
    const whole = [...this.directories, ...(this.others?.directories ?? [])];
    this.liveness = new LivenessChecker(context.system, this.cache, whole);
  }

  /** The reservations of all networks. */
  get reservations(): readonly NodeReservation[] {
    return this.directories.flatMap(({ reservations }) => reservations);
  }

  /** The same networks as they are now. */
  readAgain(): Node {
    return new Node(this.context, this.networks, this.problems, this.others?.networks);
  }
}

/**
 * The node with all networks, or those of one name; what is wrong with their configurations is logged.
 *
 * @param isKept as `findNetworks`
 * @throws CommandError as `findNetworks`
 * @throws SystemError if a directory cannot be read
 */
export function openNode(
  context: Context,
  name: string | undefined,
  isKept?: Parameters<typeof findNetworks>[2],
): Node {
  const { found, others, problems } = findNetworks(context, name, isKept);
  logProblems(context, problems);
  return new Node(context, found, problems, others);
}

/** Logs what is wrong with configurations. */
export function logProblems({ log }: Context, problems: readonly ConfigurationProblem[]): void {
  for (const { source, problem } of problems) log(`${source}: ${problem}`);
}

/**
 * The node with all networks, for checks of those of one name, or of all; nothing is logged.
 *
 * @throws CommandError as `findNetworks`
 * @throws SystemError if a directory cannot be read
 */
export function openWholeNode(context: Context, name: string | undefined): Node {
  const { found, others, problems } = findNetworks(context, name);
  return new Node(context, [...others, ...found], problems);
}
