/** Keys of a configuration that nothing reads, as far as one that is read was probably meant. Keys of others are passed over. */

import { textOf } from "../../cli/command/json-values.ts";
import { similarName } from "../../cli/command/suggestion.ts";
import { isObject, type Json, type JsonObject, valueInAnyCase } from "../../cni/json.ts";
import { goKeys, ownKeys } from "../../ipam/config.ts";
import { partitionKeys } from "../../ipam/partition-fields.ts";
import { rangeKeys } from "../../ipam/range-fields.ts";
import { routeKeys } from "../../ipam/route.ts";
import { PASSING_ON } from "./found-network.ts";
import { repeatedKeys } from "./repeated-keys.ts";

const ipamKeys: readonly string[] = [...goKeys, ...ownKeys];

/** The keys that only `ipam` has; the others are those of many objects. */
const onlyInIpam = ipamKeys.filter((key) => key !== "type" && key !== "name");

/** The keys of a list (`NetworkConfFromBytes` of libcni 1.3). */
const listKeys: readonly string[] = [
  ...["cniVersion", "cniVersions", "name", "disableCheck", "disableGC"],
  ...["loadOnlyInlinedPlugins", "plugins"],
];

/** What a plugin has beside the keys of its own: those of libcni, and this program's. */
const pluginKeys: readonly string[] = [
  ...["cniVersion", "name", "type", "capabilities", "ipam", "dns", "args", "runtimeConfig"],
  ...["prevResult", "gcOnly"],
];

/** Words for a key of another name. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ["gateway", "gw"],
  ["destination", "dst"],
]);

/** The keys that an object may have, and where keys belong that are not among them. */
interface Level {
  readonly keys: readonly string[];
  readonly places: readonly (readonly [keys: readonly string[], place: string])[];
}

const IN_IPAM = [onlyInIpam, "in ipam"] as const;
const range: Level = { keys: rangeKeys, places: [IN_IPAM] };
const route: Level = { keys: routeKeys, places: [] };
const history: Level = { keys: ["maxBytes"], places: [IN_IPAM] };
const partition: Level = {
  keys: partitionKeys,
  places: [[rangeKeys, "in a range of ipam.partition.ranges"], IN_IPAM],
};
const ipam: Level = {
  keys: ipamKeys,
  places: [
    [["gcOnly"], "beside ipam"],
    [partitionKeys, "in ipam.partition"],
    [history.keys, "in ipam.history"],
  ],
};
const plugin: Level = { keys: pluginKeys, places: [IN_IPAM] };

/**
 * What is to be said of the keys of a plugin that uses this one.
 *
 * @returns such as `nothing reads ipam.excludes; did you mean exclude?`
 */
export function unreadInPlugin(document: JsonObject): readonly string[] {
  const given = valueInAnyCase(document, "ipam");
  // Another plugin may have keys of these names.
  const isKnown = PASSING_ON.includes(textOf(valueInAnyCase(document, "type")));
  return [...(isKnown ? unreadAt("", document, plugin) : []), ...unreadInIpam(given)];
}

function unreadInIpam(value: Json | undefined): readonly string[] {
  const divided = valueInAnyCase(value, "partition");
  return [
    ...unreadAt("ipam", value, ipam),
    ...unreadWithoutSubnet(value),
    ...unreadInSets("ipam.ranges", valueInAnyCase(value, "ranges")),
    ...listOf(valueInAnyCase(value, "routes")).flatMap((one, at) =>
      unreadAt(`ipam.routes[${at}]`, one, route),
    ),
    ...unreadAt("ipam.partition", divided, partition),
    ...unreadInSets("ipam.partition.ranges", valueInAnyCase(divided, "ranges")),
    ...unreadAt("ipam.history", valueInAnyCase(value, "history"), history),
  ];
}

/** The short form for one range is read only with its subnet, as by the Go plugin. */
function unreadWithoutSubnet(value: Json | undefined): readonly string[] {
  if (valueInAnyCase(value, "subnet") !== undefined) return [];
  return rangeKeys
    .filter((key) => valueInAnyCase(value, key) !== undefined)
    .map(
      (key) =>
        `nothing reads ipam.${key} without ipam.subnet; it belongs in a range of ipam.ranges`,
    );
}

function unreadInSets(path: string, sets: Json | undefined): readonly string[] {
  return listOf(sets).flatMap((set, at) =>
    listOf(set).flatMap((one, index) => unreadAt(`${path}[${at}][${index}]`, one, range)),
  );
}

/** @param path of the object; empty for the plugin */
function unreadAt(path: string, value: Json | undefined, level: Level): readonly string[] {
  if (value === undefined || !isObject(value)) return [];
  return Object.keys(value).flatMap((key) => {
    const place = path === "" ? key : `${path}.${key}`;
    const meant = meantBy(key, level);
    return meant === undefined ? [] : [`nothing reads ${place}; ${meant}`];
  });
}

/** What a key probably means; `undefined` for one that is read, or of which nothing is known. */
function meantBy(key: string, { keys, places }: Level): string | undefined {
  const written = key.toLowerCase();
  const isKey = (one: string): boolean => one.toLowerCase() === written;
  if (keys.some(isKey)) return undefined;
  const synonym = synonyms.get(written);
  if (synonym !== undefined && keys.includes(synonym)) return `did you mean ${synonym}?`;
  const [, place] = places.find(([others]) => others.some(isKey)) ?? [];
  return place === undefined ? similarTo(key, keys) : `it belongs ${place}`;
}

/**
 * What is to be said of a plugin without `ipam` that has it under a name which is nearly that: it gives pods no address, and
 * no error.
 *
 * @param document of a file: a plugin, or a list of them
 * @param names by which configurations call this plugin
 */
export function nearlyIpam(document: Json, names: ReadonlySet<string>): readonly string[] {
  const plugins = [document, ...listOf(valueInAnyCase(document, "plugins"))];
  return plugins.flatMap((one) => {
    if (!isObject(one) || valueInAnyCase(one, "ipam") !== undefined) return [];
    return Object.entries<Json>(one).flatMap(([key, value]) => {
      const isOwn = names.has(textOf(valueInAnyCase(value, "type")));
      const meant = isOwn ? similarTo(key, ["ipam"]) : undefined;
      return meant === undefined ? [] : [`nothing reads ${key}; ${meant}`];
    });
  });
}

/** Finds what `unreadInPlugin` does in a list, of which libcni reads the keys only in these letters. */
export function unreadInList(document: Json): readonly string[] {
  if (!isObject(document)) return [];
  return Object.keys(document).flatMap((key) => {
    const meant = listKeys.includes(key) ? undefined : similarTo(key, listKeys);
    return meant === undefined ? [] : [`nothing reads ${key}; ${meant}`];
  });
}

/** The longest text of a key that is shown; an address of `reserved` is shorter. */
const LONGEST = 64;

const knownKeys = new Set(
  [ipam, plugin, range, route, history, partition]
    .flatMap(({ keys }) => keys)
    .concat(listKeys)
    .map((key) => key.toLowerCase()),
);

/** What is to be said of the keys that the text of a file has twice, those of others excepted. */
export function repeatedIn(text: string): readonly string[] {
  return repeatedKeys(text)
    .filter(({ key, parent }) => knownKeys.has(key) || parent.toLowerCase() === "reserved")
    .filter(({ key }) => key.length <= LONGEST)
    .map(({ message }) => message);
}

/** Letter case and the marks between words are no difference to people. */
function similarTo(key: string, names: readonly string[]): string | undefined {
  const similar = similarName(plain(key), names.map(plain));
  const name = names.find((one) => plain(one) === similar);
  return name === undefined ? undefined : `did you mean ${name}?`;
}

function plain(key: string): string {
  return key.toLowerCase().replaceAll(/[_-]/g, "");
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
