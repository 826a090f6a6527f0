/** Keys of a configuration that nothing reads, as far as one that is read was probably meant. Keys of others are passed over. */

import { textOf } from "../../cli/command/json-values.ts";
import { similarName } from "../../cli/command/suggestion.ts";
import {
  foldKey,
  isObject,
  type Json,
  type JsonObject,
  memberPath,
  valueInAnyCase,
} from "../../cni/json.ts";
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

/** So many keys of one object are compared: no configuration that people write has as many. */
const MOST_KEYS = 1000;

/** Keys without what is no difference to people, each with the key as it is written. */
type Names = ReadonlyMap<string, string>;

/** The keys that an object may have, and where keys belong that are not among them. */
interface Level {
  readonly keys: readonly string[];
  readonly names: Names;
  /** The keys that are read here, as `foldKey` has them. */
  readonly read: ReadonlySet<string>;
  /** Where others belong, by the key as `foldKey` has it. */
  readonly places: ReadonlyMap<string, string>;
}

type Place = readonly [keys: readonly string[], place: string];

/** @param places the first of them that has a key counts */
function levelOf(keys: readonly string[], ...places: readonly Place[]): Level {
  const placeOf = places.flatMap(([others, place]) =>
    others.map((key) => [foldKey(key), place] as const),
  );
  return {
    keys,
    names: namesOf(keys),
    read: new Set(keys.map(foldKey)),
    places: new Map(placeOf.toReversed()),
  };
}

const IN_IPAM: Place = [onlyInIpam, "in ipam"];
const historyKeys: readonly string[] = ["maxBytes"];
const range = levelOf(rangeKeys, IN_IPAM);
const route = levelOf(routeKeys);
const history = levelOf(historyKeys, IN_IPAM);
const partition = levelOf(
  partitionKeys,
  [rangeKeys, "in a range of ipam.partition.ranges"],
  IN_IPAM,
);
const ipam = levelOf(
  ipamKeys,
  [["gcOnly"], "beside ipam"],
  [partitionKeys, "in ipam.partition"],
  [historyKeys, "in ipam.history"],
);
const plugin = levelOf(pluginKeys, IN_IPAM);
const listNames = namesOf(listKeys);
const ipamName = namesOf(["ipam"]);

/**
 * What is to be said of the keys of a plugin that uses this one.
 *
 * @param path of the plugin in its file; empty where it is that
 * @returns such as `nothing reads ipam.excludes; did you mean exclude?`
 */
export function unreadInPlugin(document: JsonObject, path = ""): readonly string[] {
  const given = valueInAnyCase(document, "ipam");
  // Another plugin may have keys of these names.
  const isKnown = PASSING_ON.includes(textOf(valueInAnyCase(document, "type")));
  return [
    ...(isKnown ? unreadAt(path, document, plugin) : []),
    ...unreadInIpam(memberPath(path, "ipam"), given),
  ];
}

function unreadInIpam(path: string, value: Json | undefined): readonly string[] {
  const divided = valueInAnyCase(value, "partition");
  return [
    ...unreadAt(path, value, ipam),
    ...unreadWithoutSubnet(path, value),
    ...unreadInSets(`${path}.ranges`, valueInAnyCase(value, "ranges")),
    ...listOf(valueInAnyCase(value, "routes")).flatMap((one, at) =>
      unreadAt(`${path}.routes[${at}]`, one, route),
    ),
    ...unreadAt(`${path}.partition`, divided, partition),
    ...unreadInSets(`${path}.partition.ranges`, valueInAnyCase(divided, "ranges")),
    ...unreadAt(`${path}.history`, valueInAnyCase(value, "history"), history),
  ];
}

/** The short form for one range is read only with its subnet, as by the Go plugin. */
function unreadWithoutSubnet(path: string, value: Json | undefined): readonly string[] {
  if (valueInAnyCase(value, "subnet") !== undefined) return [];
  return rangeKeys
    .filter((key) => valueInAnyCase(value, key) !== undefined)
    .map(
      (key) =>
        `nothing reads ${path}.${key} without ipam.subnet; it belongs in a range of ipam.ranges`,
    );
}

function unreadInSets(path: string, sets: Json | undefined): readonly string[] {
  return listOf(sets).flatMap((set, at) =>
    listOf(set).flatMap((one, index) => unreadAt(`${path}[${at}][${index}]`, one, range)),
  );
}

/** @param path of the object; empty for the plugin of a file */
function unreadAt(path: string, value: Json | undefined, level: Level): readonly string[] {
  if (value === undefined || !isObject(value)) return [];
  return ofKeys(path === "" ? "the plugin" : path, value, (key) => {
    const place = memberPath(path, key);
    const meant = meantBy(key, level);
    return meant === undefined ? [] : [`nothing reads ${place}; ${meant}`];
  });
}

/** What is to be said of each key of an object; of one that has too many, that they were passed over. */
function ofKeys(
  name: string,
  value: JsonObject,
  say: (key: string) => readonly string[],
): readonly string[] {
  const keys = Object.keys(value);
  if (keys.length <= MOST_KEYS) return keys.flatMap(say);
  return [`${name} has ${keys.length} keys, too many to look for mistyped ones`];
}

/** What a key probably means; `undefined` for one that is read, or of which nothing is known. */
function meantBy(key: string, { keys, names, read, places }: Level): string | undefined {
  const written = foldKey(key);
  if (read.has(written)) return undefined;
  const synonym = synonyms.get(written);
  if (synonym !== undefined && keys.includes(synonym)) return `did you mean ${synonym}?`;
  const place = places.get(written);
  return place === undefined ? similarTo(key, names) : `it belongs ${place}`;
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
  return plugins.flatMap((one, at) => {
    const path = at === 0 ? "" : `plugins[${at - 1}]`;
    if (!isObject(one) || valueInAnyCase(one, "ipam") !== undefined) return [];
    return Object.entries<Json>(one).flatMap(([key, value]) => {
      const isOwn = names.has(textOf(valueInAnyCase(value, "type")));
      const meant = isOwn ? similarTo(key, ipamName) : undefined;
      return meant === undefined ? [] : [`nothing reads ${memberPath(path, key)}; ${meant}`];
    });
  });
}

/** Finds what `unreadInPlugin` does in a list, of which libcni reads the keys only in these letters. */
export function unreadInList(document: Json): readonly string[] {
  if (!isObject(document)) return [];
  return ofKeys("the list", document, (key) => {
    const meant = listKeys.includes(key) ? undefined : similarTo(key, listNames);
    return meant === undefined ? [] : [`nothing reads ${key}; ${meant}`];
  });
}

/** The longest text of a key that is shown; an address of `reserved` is shorter. */
const LONGEST = 64;

const knownKeys = new Set(
  [ipam, plugin, range, route, history, partition]
    .flatMap(({ keys }) => keys)
    .concat(listKeys)
    .map(foldKey),
);

/** What is to be said of the keys that the text of a file has twice, those of others excepted. */
export function repeatedIn(text: string): readonly string[] {
  return repeatedKeys(text)
    .filter(({ key, parent }) => knownKeys.has(key) || parent.toLowerCase() === "reserved")
    .filter(({ key }) => key.length <= LONGEST)
    .map(({ message }) => message);
}

function similarTo(key: string, names: Names): string | undefined {
  if (key.length > LONGEST) return undefined;
  const name = names.get(similarName(plain(key), [...names.keys()]) ?? "");
  return name === undefined ? undefined : `did you mean ${name}?`;
}

function namesOf(keys: readonly string[]): Names {
  return new Map(keys.map((key) => [plain(key), key]));
}

/** Letter case and the marks between words are no difference to people. */
function plain(key: string): string {
  return key.toLowerCase().replaceAll(/[_-]/g, "");
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
