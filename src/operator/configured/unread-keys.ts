/** Keys of a configuration that nothing reads. Of others' keys nothing is said, unless one that is read was meant. */

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
import { PASSING_ON } from "./main-plugin.ts";

const LIST = "";
const PLUGIN = "plugins[0]";
const IPAM = `${PLUGIN}.ipam`;

/** The keys of the short form for one range beside `subnet`, without which they are not read, as by the Go plugin. */
const shortForm: readonly string[] = rangeKeys.filter((key) => key !== "subnet");

/** The places of a list of plugins, each with the keys that something reads there. */
const places: Readonly<Record<string, readonly string[]>> = {
  // Those of libcni 1.3 (`NetworkConfFromBytes`).
  [LIST]: [
    ...["cniVersion", "cniVersions", "name", "plugins"],
    ...["disableCheck", "disableGC", "loadOnlyInlinedPlugins"],
  ],
  // Those of libcni, and this program's.
  [PLUGIN]: [
    ...["cniVersion", "name", "type", "capabilities", "ipam", "dns", "args", "runtimeConfig"],
    ...["prevResult", "gcOnly"],
  ],
  [IPAM]: [...goKeys, ...ownKeys].filter((key) => !shortForm.includes(key)),
  [`${IPAM}.ranges[0][0]`]: rangeKeys,
  [`${IPAM}.routes[0]`]: routeKeys,
  [`${IPAM}.history`]: ["maxBytes"],
  [`${IPAM}.partition`]: partitionKeys,
  [`${IPAM}.partition.ranges[0][0]`]: rangeKeys,
};

/**
 * What is to be said of the keys of a plugin that uses this one.
 *
 * @param path of the plugin in its file; empty where it is that
 * @returns such as `nothing reads ipam.excludes; did you mean ipam.exclude?`
 */
export function unreadInPlugin(document: JsonObject, path = ""): readonly string[] {
  // Another plugin may have keys of these names.
  return PASSING_ON.includes(textOf(valueInAnyCase(document, "type")))
    ? unreadAt(PLUGIN, document, path, path)
    : unreadAt(IPAM, valueInAnyCase(document, "ipam") ?? null, memberPath(path, "ipam"), path);
}

/** What is to be said of the keys of a list, without those of its plugins. */
export function unreadInList(document: Json): readonly string[] {
  return isObject(document) ? unreadAt(LIST, { ...document, plugins: null }, "", PLUGIN) : [];
}

/** @param plugin the path of the plugin that `path` is in, for what belongs elsewhere in it */
function unreadAt(place: string, value: Json, path: string, plugin: string): readonly string[] {
  if (Array.isArray(value) && Object.keys(places).some((one) => one.startsWith(`${place}[0]`))) {
    return value.flatMap((one: Json, at) => unreadAt(`${place}[0]`, one, `${path}[${at}]`, plugin));
  }
  const keys = places[place];
  if (keys === undefined || !isObject(value)) return [];
  const hasShortForm = place === IPAM && valueInAnyCase(value, "subnet") !== undefined;
  const all = hasShortForm ? [...keys, ...shortForm] : keys;
  return Object.entries<Json>(value).flatMap(([key, member]) => {
    const known = all.find((one) => (place === LIST ? one === key : isSameKey(one, key)));
    const at = memberPath(path, key);
    if (known !== undefined) return unreadAt(memberPath(place, known), member, at, plugin);
    // podman has its labels and options there (libnetwork/cni of containers/common).
    if (place === LIST && JSON.stringify(member).startsWith('{"podman_')) return [];
    const similar = similarTo(key, all);
    const meant = elsewhere(place, key, plugin) ?? (similar && memberPath(path, similar));
    return meant === undefined ? [] : [`nothing reads ${at}; did you mean ${meant}?`];
  });
}

/** Where a key is read that belongs right around or in this place; `undefined` where it is read at others, too. */
function elsewhere(place: string, key: string, plugin: string): string | undefined {
  const around = (at: string): string => at.replace(/\.?[^.]+$/, "");
  const reading = Object.entries(places).filter(([, keys]) =>
    keys.some((one) => isSameKey(one, key)),
  );
  if (new Set(reading.map(([, keys]) => keys)).size !== 1) return undefined;
  const next = reading.find(
    ([at]) => at !== LIST && (around(at) === place || at === around(place)),
  );
  return next && memberPath(`${plugin}${next[0].slice(PLUGIN.length)}`.replace(/^\./, ""), key);
}

function isSameKey(one: string, other: string): boolean {
  return foldKey(one) === foldKey(other);
}

/** Letter case is no difference to people. */
export function similarTo(key: string, keys: readonly string[]): string | undefined {
  const found = similarName(foldKey(key), keys.map(foldKey));
  return keys.find((one) => foldKey(one) === found);
}
