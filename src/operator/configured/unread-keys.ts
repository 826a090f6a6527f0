/** Keys of a configuration that nothing reads where they are. Of others' keys nothing is said, unless one that is read was meant. */

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

const ipamKeys: readonly string[] = [...goKeys, ...ownKeys];

/** The keys that only `ipam` has. */
const onlyInIpam = ipamKeys.filter((key) => key !== "type" && key !== "name");

/** What a plugin has beside the keys of its own: those of libcni, and this program's. */
const pluginKeys: readonly string[] = [
  ...["cniVersion", "name", "type", "capabilities", "ipam", "dns", "args", "runtimeConfig"],
  ...["prevResult", "gcOnly"],
];

/** The keys of a list (`NetworkConfFromBytes` of libcni 1.3). */
const listKeys: readonly string[] = [
  ...["cniVersion", "cniVersions", "name", "disableCheck", "disableGC"],
  ...["loadOnlyInlinedPlugins", "plugins"],
];

/** An object of a configuration: the keys that something reads there, and where others belong. */
interface Level {
  readonly keys: readonly string[];
  /** A place, and the keys that something reads there; the first with a key counts. */
  readonly elsewhere: readonly (readonly [place: string, keys: readonly string[]])[];
}

const IN_IPAM = ["in ipam", onlyInIpam] as const;
const list: Level = { keys: listKeys, elsewhere: [["in an entry of plugins", pluginKeys]] };
const plugin: Level = { keys: pluginKeys, elsewhere: [IN_IPAM] };
const range: Level = { keys: rangeKeys, elsewhere: [IN_IPAM] };
const route: Level = { keys: routeKeys, elsewhere: [] };
const history: Level = { keys: ["maxBytes"], elsewhere: [IN_IPAM] };
const partition: Level = {
  keys: partitionKeys,
  elsewhere: [["in a range of ipam.partition.ranges", rangeKeys], IN_IPAM],
};
const ipam: Level = {
  keys: ipamKeys,
  elsewhere: [
    ["beside ipam", pluginKeys],
    ["in ipam.partition", partitionKeys],
    ["in ipam.history", history.keys],
  ],
};

/** So many keys of one object are compared: no configuration that people write has as many. */
const MOST_KEYS = 1000;

/**
 * What is to be said of the keys of a plugin that uses this one.
 *
 * @param path of the plugin in its file; empty where it is that
 * @returns such as `nothing reads ipam.excludes; did you mean exclude?`
 */
export function unreadInPlugin(document: JsonObject, path = ""): readonly string[] {
  const own = valueInAnyCase(document, "ipam");
  const at = memberPath(path, "ipam");
  const divided = valueInAnyCase(own, "partition");
  // Another plugin may have keys of these names.
  const isKnown = PASSING_ON.includes(textOf(valueInAnyCase(document, "type")));
  return [
    ...(isKnown ? unreadAt(path, document, plugin) : []),
    ...unreadAt(at, own, ipam),
    ...unreadWithoutSubnet(at, own),
    ...unreadInSets(`${at}.ranges`, valueInAnyCase(own, "ranges")),
    ...listOf(valueInAnyCase(own, "routes")).flatMap((one, index) =>
      unreadAt(`${at}.routes[${index}]`, one, route),
    ),
    ...unreadAt(`${at}.partition`, divided, partition),
    ...unreadInSets(`${at}.partition.ranges`, valueInAnyCase(divided, "ranges")),
    ...unreadAt(`${at}.history`, valueInAnyCase(own, "history"), history),
  ];
}

/** What is to be said of the keys of a list, which libcni reads only in these letters; podman has its labels in one beside them. */
export function unreadInList(document: Json): readonly string[] {
  const args = valueInAnyCase(document, "args");
  const isPodmans = isObject(args ?? null) && Object.keys(args ?? {}).some(isOfPodman);
  const said = unreadAt("", document, list, "the list");
  return isPodmans ? said.filter((one) => !one.startsWith("nothing reads args;")) : said;
}

function isOfPodman(key: string): boolean {
  return key.startsWith("podman_");
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
      const meant = isOwn ? similarTo(key, ["ipam"]) : undefined;
      return meant === undefined ? [] : [`nothing reads ${memberPath(path, key)}; ${meant}`];
    });
  });
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

/** @param path of the object; empty for that of a file, which then has a name */
function unreadAt(
  path: string,
  value: Json | undefined,
  level: Level,
  name = path || "the plugin",
): readonly string[] {
  if (value === undefined || !isObject(value)) return [];
  const keys = Object.keys(value);
  if (keys.length > MOST_KEYS) {
    return [`${name} has ${keys.length} keys, too many to look for mistyped ones`];
  }
  return keys.flatMap((key) => {
    const meant = meantBy(key, level);
    return meant === undefined ? [] : [`nothing reads ${memberPath(path, key)}; ${meant}`];
  });
}

/** What a key probably means; `undefined` for one that is read, or of which nothing is known. */
function meantBy(key: string, level: Level): string | undefined {
  const { keys, elsewhere } = level;
  const isRead = (one: string): boolean =>
    level === list ? one === key : foldKey(one) === foldKey(key);
  if (keys.some(isRead)) return undefined;
  const place = elsewhere.find(([, others]) => others.some(isRead))?.[0];
  return place === undefined ? similarTo(key, keys) : `it belongs ${place}`;
}

/** Letter case and the marks between words are no difference to people. */
function similarTo(key: string, keys: readonly string[]): string | undefined {
  const plain = (one: string): string => one.toLowerCase().replaceAll(/[_-]/g, "");
  const found = similarName(plain(key), keys.map(plain));
  const name = keys.find((one) => plain(one) === found);
  return name === undefined ? undefined : `did you mean ${name}?`;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
