/** What becomes of the networks of this node where another plugin takes the place of this one, or none. */

import { type Context, type Option, RefusedError } from "../../cli/command/command.ts";
import { exactMember, textOf } from "../../cli/command/json-values.ts";
import { inOneLine } from "../../cli/output/escape.ts";
import { CniError } from "../../cni/error.ts";
import { elements, type JsonObject, type Located, memberInAnyCase } from "../../cni/json.ts";
import { bitsOf } from "../../ipam/address.ts";
import { isGcOnly, ownKeys } from "../../ipam/config.ts";
import { NO_GATEWAY, type RangeSpec } from "../../ipam/range.ts";
import { rangeIn } from "../../ipam/range-fields.ts";
import { type Requested, readAllFiles } from "../configured/configuration-directories.ts";
import type { ConfigurationProblem } from "../configured/configuration-files.ts";
import { configurationsIn } from "../configured/configurations.ts";

/** The option that goes back nevertheless. */
export const forceOption: Option = {
  name: "--force",
  summary:
    "go back to a plugin that does not understand the configurations of this node or does not answer here, or to none",
};

/** What the Go plugin does where one of these keys is set; `undefined` where it merely does not do what the key says. */
const ofKeys: Readonly<Record<(typeof ownKeys)[number], string | undefined>> = {
  exclude: "excluded addresses are handed out",
  reserved: "reserved addresses are handed out to anybody, and a pod gets another than its own",
  requested: "a pod gets another address than it requests by a name",
  rangesFile: "ADD and DEL fail",
  partition: "ADD and DEL fail",
  repeatedAdd: "a repeated ADD fails",
  history: undefined,
  reclaim: undefined,
  reuseDelaySeconds: undefined,
  sticky: undefined,
  stickySeconds: undefined,
  exhaustedStatus: undefined,
  lockTimeoutSeconds: undefined,
};

/** What goes wrong, a clause for each cause, such as `…/10-mynet.conf (network mynet) has exclude: excluded addresses …`. */
export interface GoingBack {
  readonly broken: readonly string[];
  /** The keys that have no effect then. */
  readonly lost: readonly string[];
  /** The networks that call the plugin by this name, such as `…/10-mynet.conf (network mynet)`. */
  readonly networks: readonly string[];
  /** The configurations that cannot be read, which may have anything. */
  readonly unread: readonly ConfigurationProblem[];
}

/**
 * What going back to the Go plugin would do to the networks of this node.
 *
 * @param name by which the configurations call the plugin
 */
export function goingBack(context: Requested, name: string): GoingBack {
  const { system } = context;
  const problems: ConfigurationProblem[] = [];
  const files = readAllFiles(context, problems);
  const read = configurationsIn(system, files, problems, new Set([name]));
  const unread = problems.filter((problem) =>
    read.every(({ source }) => source !== problem.source),
  );
  const uses = read.flatMap(({ source, document }) => usesOf(source, document, name));
  const broken = new Set(
    uses.flatMap((use) => use.breaking.map((one) => `${use.network} has ${one}`)),
  );
  const lost = new Set(uses.flatMap((use) => use.lost));
  const networks = new Set(uses.map(({ network }) => network));
  return { broken: [...broken], lost: [...lost], networks: [...networks], unread };
}

/**
 * What is said before going back; where a network would break, only with `--force`.
 *
 * @returns a sentence for people; empty where nothing changes
 * @throws RefusedError
 */
export function requireGoingBack(context: Context, name: string): string {
  const { broken: known, lost, unread } = goingBack(context, name);
  const maybe = unread.map(({ source, problem }) => `${source} may have such keys: ${problem}`);
  const broken = [...known, ...maybe];
  requireForce(
    context,
    "the Go plugin does not understand the configurations of this node; nothing was changed. Correct them",
    broken,
  );
  const notes = lost.length === 0 ? [] : [`${lost.join(", ")} will have no effect`];
  return [...broken, ...notes].map((note) => `${note}.`).join(" ");
}

/**
 * What is said before this node is left without a plugin; where a network names it, only with `--force`.
 *
 * @returns a sentence for people
 * @throws RefusedError
 */
export function requireLeaving(context: Context, name: string): string {
  const { networks, unread } = goingBack(context, name);
  const maybe = unread.map(({ source, problem }) => `${source} may name it: ${problem}`);
  requireForce(
    context,
    `there is no other ${name} to restore, and configurations of this node name it; nothing was changed. Change them`,
    [...networks, ...maybe],
  );
  return `There is no other ${name} to restore: as long as a configuration names it, runtimes can neither start nor remove the containers of its network.`;
}

/** @throws RefusedError where there are reasons against a change, and nobody insists on it */
function requireForce(context: Context, problem: string, reasons: readonly string[]): void {
  if (reasons.length === 0 || context.has(forceOption.name)) return;
  throw new RefusedError(
    `install: ${problem}, or add ${forceOption.name}:`,
    reasons.map((reason) => inOneLine(`  ${reason}`)),
  );
}

interface Use {
  /** The file and the network, such as `…/10-mynet.conf (network mynet)`. */
  readonly network: string;
  /** The keys with what happens, such as `exclude: excluded addresses are handed out`. */
  readonly breaking: readonly string[];
  readonly lost: readonly string[];
}

/** Each part by itself: what is invalid, or Calico's `usePodCidr`, hides no key. None of a configuration of another plugin. */
function usesOf(source: string, document: JsonObject, type: string): readonly Use[] {
  const at: Located = { value: document, path: "" };
  const ipam = unlessInvalid(() => memberInAnyCase(at, "ipam"), undefined);
  if (ipam === undefined || typeIn(ipam) !== type) return [];
  const keys = ownKeys.filter((key) => isSet(memberInAnyCase(ipam, key)));
  const ranges = rangesIn(ipam);
  // What is neither true nor false is as good as set: this plugin refuses it, the Go plugin does not look at it.
  const breaking = [
    ...(unlessInvalid(() => isGcOnly({ document: at }), true)
      ? ["gcOnly: every ADD fails, and leaves an address reserved"]
      : []),
    ...(ranges.some(isTooSmall) ? ["a subnet of one or two addresses: ADD and DEL fail"] : []),
    ...(ranges.some(({ gateway }) => gateway === NO_GATEWAY)
      ? [`gateway "${NO_GATEWAY}": ADD and DEL fail`]
      : []),
    ...keys.flatMap((key) => (ofKeys[key] === undefined ? [] : [`${key}: ${ofKeys[key]}`])),
  ];
  const lost = keys.filter((key) => ofKeys[key] === undefined);
  const name = textOf(exactMember(document, "name")) || "without a name";
  return [{ network: `${source} (network ${name})`, breaking, lost }];
}

function typeIn(ipam: Located): unknown {
  return unlessInvalid(() => memberInAnyCase(ipam, "type")?.value, undefined);
}

function unlessInvalid<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof CniError) return otherwise;
    throw error;
  }
}

/** Whether a key has another value than those that turn it off. */
function isSet(at: Located | undefined): boolean {
  const off: readonly unknown[] = [undefined, false, 0, "", "none", "never", "ready", "error"];
  const value = at?.value;
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return !off.includes(value) && !isEmpty;
}

/** The ranges that can be read. */
function rangesIn(ipam: Located): readonly RangeSpec[] {
  const sets = unlessInvalid(() => elements(memberInAnyCase(ipam, "ranges")), []);
  const ranges = sets.flatMap((set) =>
    unlessInvalid(() => elements(set.value === null ? undefined : set), []),
  );
  return [ipam, ...ranges].flatMap((range): readonly RangeSpec[] => {
    const spec = unlessInvalid(() => rangeIn(range), undefined);
    return spec?.subnet === undefined ? [] : [spec];
  });
}

function isTooSmall({ subnet }: RangeSpec): boolean {
  return subnet !== undefined && subnet.length > bitsOf(subnet.address.family) - 2;
}
