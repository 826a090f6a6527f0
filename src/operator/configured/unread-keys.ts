/**
 * Keys of a configuration that nothing reads, even `ipam` itself. A key of another plugin is named only if it resembles one
 * that is read.
 */

import { listOf, textOf } from "../../cli/command/json-values.ts";
import { similarName } from "../../cli/command/suggestion.ts";
import { foldKey, isObject, type Json, memberPath, valueInAnyCase } from "../../cni/json.ts";
import { goKeys, ownKeys } from "../../ipam/config.ts";
import { partitionKeys } from "../../ipam/partition-fields.ts";
import { rangeKeys } from "../../ipam/range-fields.ts";
import { routeKeys } from "../../ipam/route.ts";
import type { Configuration } from "./configurations.ts";
import { PASSING_ON } from "./main-plugin.ts";

const LIST = "";
const PLUGIN = "plugins[0]";
const IPAM = `${PLUGIN}.ipam`;

/** The keys of the short form for one range beside `subnet`, without which they are not read, as by the Go plugin. */
const shortForm: readonly string[] = rangeKeys.filter((key) => key !== "subnet");

/** The places of a list of plugins, each with the keys that something reads there. */
const places: Readonly<Record<string, readonly string[]>> = {
  // libcni 1.3 reads these (`NetworkConfFromBytes`).
  [LIST]: [
    ...["cniVersion", "cniVersions", "name", "plugins"],
    ...["disableCheck", "disableGC", "loadOnlyInlinedPlugins"],
  ],
  // libcni and this program read these.
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
 * What is to be said of the keys of a plugin that uses this one, and of those of its list.
 *
 * @returns such as `nothing reads ipam.excludes; did you mean ipam.exclude?`
 */
export function unreadKeys({ document, path, source, file }: Configuration): readonly string[] {
  const ofList =
    source === file.source && file.isList && isObject(file.document)
      ? unreadAt(LIST, { ...file.document, plugins: null }, "", path)
      : [];
  // Another plugin may have keys of these names.
  const isPassedOn = PASSING_ON.includes(textOf(valueInAnyCase(document, "type")));
  const own = isPassedOn ? document : { ipam: valueInAnyCase(document, "ipam") ?? null };
  return [...ofList, ...unreadAt(PLUGIN, own, path, path)];
}

/** @param plugin the path of the plugin that `path` is in, for what belongs elsewhere in it */
function unreadAt(place: string, value: Json, path: string, plugin: string): readonly string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: Json, at) =>
      unreadAt(`${place}[0]`, item, `${path}[${at}]`, plugin),
    );
  }
  const keys = places[place];
  if (keys === undefined || !isObject(value)) return [];
  const hasShortForm = place === IPAM && valueInAnyCase(value, "subnet") !== undefined;
  const all = hasShortForm ? [...keys, ...shortForm] : keys;
  return Object.entries<Json>(value).flatMap(([key, member]) => {
    const known = all.find((name) => (place === LIST ? name === key : isSameKey(name, key)));
    const at = memberPath(path, key);
    if (known !== undefined) return unreadAt(memberPath(place, known), member, at, plugin);
    const similar = similarKey(key, all);
    const meant = elsewhere(place, key, plugin) ?? (similar && memberPath(path, similar));
    return meant === undefined ? [] : [`nothing reads ${at}; did you mean ${meant}?`];
  });
}

/** The place right around or in this one in which a key of a plugin is read; `undefined` where it is read in others, too. */
function elsewhere(place: string, key: string, plugin: string): string | undefined {
  const around = (at: string): string => at.replace(/\.?[^.]+$/, "");
  const reading = Object.keys(places).filter((at) =>
    places[at]?.some((name) => isSameKey(name, key)),
  );
  if (place === LIST || new Set(reading.map((at) => places[at])).size !== 1) return undefined;
  const next = reading.find((at) => at !== LIST && (around(at) === place || at === around(place)));
  return next && memberPath(`${plugin}${next.slice(PLUGIN.length)}`.replace(/^\./, ""), key);
}

/**
 * Why a file that seems meant to use this plugin does not.
 *
 * @param document of the file: a plugin, or a list of them
 * @param names by which configurations call this plugin
 * @param isPlugin whether a plugin of another name is on this node
 */
export function whyNotConfigured(
  document: Json,
  names: readonly string[],
  isPlugin: (type: string) => boolean,
): readonly string[] {
  const listed = listOf(valueInAnyCase(document, "plugins")) as readonly Json[];
  const typeIn = (ipam: Json | undefined): string => textOf(valueInAnyCase(ipam, "type"));
  return [document, ...listed].flatMap((plugin, at) => {
    if (!isObject(plugin)) return [];
    const path = memberPath(at === 0 ? "" : `plugins[${at - 1}]`, "ipam");
    const ipam = valueInAnyCase(plugin, "ipam");
    const type = typeIn(ipam);
    const meant = names.includes(type) ? undefined : similarName(type, names);
    if (meant !== undefined && !isPlugin(type)) {
      return [
        `no plugin of this node is named ${type}, the type of ${path}; did you mean ${meant}?`,
      ];
    }
    const keys = Object.entries<Json>(ipam === undefined ? plugin : {});
    return keys
      .filter(([key, value]) => names.includes(typeIn(value)) && similarKey(key, ["ipam"]))
      .map(
        ([key]) =>
          `nothing reads ${key}; did you mean ${path}? As it is, pods get no address, and no error: restart them once it is corrected`,
      );
  });
}

function isSameKey(name: string, other: string): boolean {
  return foldKey(name) === foldKey(other);
}

/** The key that was probably meant: letter case is no difference to people. */
function similarKey(key: string, keys: readonly string[]): string | undefined {
  const found = similarName(foldKey(key), keys.map(foldKey));
  return keys.find((name) => foldKey(name) === found);
}
