/** Files that nearly use this plugin: `ipam` is mistyped, or the type in it. */

import { textOf } from "../../cli/command/json-values.ts";
import { similarName } from "../../cli/command/suggestion.ts";
import { isObject, type Json, memberPath, valueInAnyCase } from "../../cni/json.ts";
import { similarKey } from "./unread-keys.ts";

/**
 * Why a file does not use this plugin that seems meant to.
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
  const listed = valueInAnyCase(document, "plugins");
  const plugins: readonly Json[] = [document, ...(Array.isArray(listed) ? listed : [])];
  const typeIn = (ipam: Json | undefined): string => textOf(valueInAnyCase(ipam, "type"));
  return plugins.flatMap((plugin, at) => {
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
