/** Keys of a configuration that nothing reads where they are. Of others' keys nothing is said, unless one that is read was meant. */

import { exactMember, textOf } from "../../cli/command/json-values.ts";
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

/** An object of a configuration: the keys that something reads there, and what is meant by others. */
interface Level {
  readonly keys: readonly string[];
  /** What is said of keys that nothing reads there; the first with a key counts. */
  readonly others: readonly (readonly [meant: string, keys: readonly string[]])[];
  /** Whether keys are read only in these letters. */
  readonly isExact?: true;
}

const IN_IPAM = ["it belongs in ipam", onlyInIpam] as const;
const list: Level = {
  keys: listKeys,
  others: [["it belongs in an entry of plugins", pluginKeys]],
  isExact: true,
};
/** A list that podman has made: it keeps its labels and options in `args` (libnetwork/cni of containers/common). */
const podmanList: Level = { ...list, keys: [...listKeys, "args"] };
const plugin: Level = { keys: pluginKeys, others: [IN_IPAM] };
const range: Level = { keys: rangeKeys, others: [IN_IPAM] };
const route: Level = {
  keys: routeKeys,
  others: [
    ["did you mean gw?", ["gateway"]],
    ["did you mean dst?", ["destination"]],
  ],
};
const history: Level = { keys: ["maxBytes"], others: [IN_IPAM] };
const partition: Level = {
  keys: partitionKeys,
  others: [["it belongs in a range of ipam.partition.ranges", rangeKeys], IN_IPAM],
};
const ipam: Level = {
  keys: ipamKeys,
  others: [
    ["it belongs beside ipam", pluginKeys],
    ["it belongs in ipam.partition", partitionKeys],
    ["it belongs in ipam.history", history.keys],
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

/** What is to be said of the keys of a list. */
export function unreadInList(document: Json): readonly string[] {
  const args = exactMember(document, "args");
  const isPodmans = ["podman_labels", "podman_options"].some(
    (key) => exactMember(args, key) !== undefined,
  );
  return unreadAt("", document, isPodmans ? podmanList : list, "the list");
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
function meantBy(key: string, { keys, others, isExact }: Level): string | undefined {
  const isThis = (one: string): boolean => (isExact ? one === key : foldKey(one) === foldKey(key));
  if (keys.some(isThis)) return undefined;
  const known = others.find(([, names]) => names.some(isThis));
  return known === undefined ? similarTo(key, keys) : known[0];
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
