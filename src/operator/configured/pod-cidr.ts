/** The podCIDR of this node where a configuration only asks for it: Calico's plugin puts it in before it calls this one. */

import { textOf } from "../../cli/command/json-values.ts";
import { isObject, type Json, type JsonObject, valueInAnyCase } from "../../cni/json.ts";
import { flannelSubnets } from "../../configuration/subnet-env.ts";
import { type Address, bitsOf, type Family, isWithin } from "../../ipam/address.ts";
import {
  addressRangeOf,
  formatPrefix,
  networkOf,
  type Prefix,
  parsePrefix,
} from "../../ipam/prefix.ts";
import type { System } from "../../system/system.ts";
import { DEFAULT_SUBNET_FILE, LARGEST_SUBNET_FILE } from "./flannel-delegate.ts";

/** What Calico's plugin replaces, in any letter case. */
const WORDS: ReadonlyMap<string, Family> = new Map([
  ["usepodcidr", 4],
  ["usepodcidripv6", 6],
]);

/** What kube-controller-manager gives a node unless it is told otherwise. */
const USUAL_LENGTH: Readonly<Record<Family, number>> = { 4: 24, 6: 64 };

const LOOK_IT_UP = "kubectl get node NODE -o jsonpath='{.spec.podCIDRs}' shows it";

/** What this node shows of the addresses of a network. */
export interface Shown {
  /** Its reservations. */
  readonly addresses: readonly Address[];
  /** The addresses of its latest result, with the prefix lengths of their subnets. */
  readonly results: readonly Prefix[];
}

/** A configuration with the podCIDR in it. */
export interface Completed {
  /** The configuration without the ranges of which nothing is known. */
  readonly document: JsonObject;
  /** Why some of its ranges are assumed, or not known; `undefined` where none is. */
  readonly uncertainty: string | undefined;
}

/** Whether a plugin configuration asks for the podCIDR, in `ipam.subnet` or in a range. */
export function asksForPodCidr(plugin: JsonObject): boolean {
  // To libcni the type is in any letter case, to Calico's plugin what is in `ipam` as it is written.
  if (textOf(valueInAnyCase(plugin, "type")) !== "calico") return false;
  return subnetsIn(plugin.ipam ?? null).some((subnet) => WORDS.has(subnet.toLowerCase()));
}

/** Every `subnet`, at any depth. */
function subnetsIn(value: Json): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries<Json>(value).flatMap(([key, one]) =>
    key === "subnet" && typeof one === "string" ? [one] : subnetsIn(one),
  );
}

/**
 * Puts the podCIDR of this node in, as Calico's plugin does. It is what a result or flannel (in Canal) says; else it is assumed
 * to be a subnet of the usual size, if all reservations lie in one.
 *
 * @param plugin one that asks for it
 */
export function withPodCidr(
  system: Pick<System, "readFile">,
  plugin: JsonObject,
  shown: Shown,
): Completed {
  const notes = new Set<string>();
  const fixed = subnetsIn(plugin.ipam ?? null).flatMap((subnet) => parsePrefix(subnet) ?? []);
  const isFixed = (address: Address): boolean =>
    fixed.some((prefix) => isWithin(address, addressRangeOf(prefix)));
  const addresses = shown.addresses.filter((address) => !isFixed(address));
  const results = shown.results.filter(({ address }) => !isFixed(address));
  const replaced = (range: JsonObject): JsonObject | undefined => {
    const family = WORDS.get(textOf(range.subnet).toLowerCase());
    if (family === undefined) return range;
    const { podCidr, note } = podCidrOf(system, family, { addresses, results });
    if (note !== undefined) notes.add(note);
    return podCidr === undefined ? undefined : { ...range, subnet: formatPrefix(podCidr) };
  };
  const given = plugin.ipam ?? null;
  const { subnet, ranges, ...ipam } = isObject(given) ? given : {};
  const short = subnet === undefined ? {} : (replaced({ subnet }) ?? {});
  const sets = Array.isArray(ranges) ? { ranges: setsOf(ranges, replaced) } : {};
  const document = { ...plugin, ipam: { ...ipam, ...short, ...sets } };
  return { document, uncertainty: uncertaintyOf(notes) };
}

function uncertaintyOf(notes: ReadonlySet<string>): string | undefined {
  if (notes.size === 0) return undefined;
  return `its ranges are the podCIDR of this node (usePodCidr): ${[...notes].join("; ")}; ${LOOK_IT_UP}`;
}

/** The range sets, without those of which every range is left out. */
function setsOf(
  sets: readonly Json[],
  replaced: (range: JsonObject) => JsonObject | undefined,
): readonly Json[] {
  return sets.flatMap((set): readonly Json[] => {
    if (!Array.isArray(set)) return [set];
    const left = set.flatMap((one: Json) => (isObject(one) ? (replaced(one) ?? []) : [one]));
    return left.length === 0 && set.length > 0 ? [] : [left];
  });
}

/** @param shown of the ranges that ask for it */
function podCidrOf(
  system: Pick<System, "readFile">,
  family: Family,
  { addresses, results }: Shown,
): { readonly podCidr?: Prefix; readonly note?: string } {
  const own = addresses.filter((address) => address.family === family);
  const hasAll = (prefix: Prefix): boolean =>
    own.every((address) => isWithin(address, addressRangeOf(prefix)));
  // Calico's own results have each address alone.
  const told = results.find(
    ({ address, length }) => address.family === family && length < bitsOf(family),
  );
  if (told !== undefined && hasAll(told)) return { podCidr: networkOf(told) };
  const unknown = { note: `IPv${family} is not known here` };
  const [first] = own;
  if (first === undefined) return unknown;
  const ofFlannel = subnetsOfFlannel(system).find(({ address }) => address.family === family);
  if (ofFlannel !== undefined && hasAll(ofFlannel)) return { podCidr: ofFlannel };
  const length = USUAL_LENGTH[family];
  const usual = networkOf({ address: first, length, mapped: false });
  if (!hasAll(usual)) return unknown;
  const note = `IPv${family} is assumed to be ${formatPrefix(usual)}, in which all its reservations are`;
  return { podCidr: usual, note };
}

/** The subnets of flannel; none where it does not run, as beside Calico in Canal. */
function subnetsOfFlannel(system: Pick<System, "readFile">): readonly Prefix[] {
  try {
    const text = system.readFile(DEFAULT_SUBNET_FILE, LARGEST_SUBNET_FILE);
    return flannelSubnets(text).map(({ subnet }) => subnet);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return [];
  }
}
