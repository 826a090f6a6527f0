/** What libcni 1.3 refuses of a configuration before it calls a plugin, whatever the plugin itself reads. */

import { exactMember, textOf } from "../../cli/command/json-values.ts";
import { foldKey, isObject, type Json, memberPath, valueInAnyCase } from "../../cni/json.ts";

/** The type of a value: of the members of an object, or of all of them (`*`). What is in no form may be anything. */
type Form = "string" | "boolean" | readonly [Form] | { readonly [key: string]: Form };

/** What is decoded of a plugin (`types.PluginConf`). */
const plugin: Form = {
  cniVersion: "string",
  name: "string",
  type: "string",
  capabilities: { "*": "boolean" },
  ipam: { type: "string" },
  dns: { nameservers: ["string"], domain: "string", search: ["string"], options: ["string"] },
  prevResult: {},
  "cni.dev/valid-attachments": [{ containerID: "string", ifname: "string" }],
};

/** The keys of a list that are true or false, or one of these words. */
const BOOLEANS = ["disableCheck", "disableGC", "loadOnlyInlinedPlugins"] as const;

/** What libcni can compare with another version. */
const VERSION = /^(?:\d+(?:\.\d+){0,2})?$/;

/**
 * Why libcni refuses a plugin (`ConfFromBytes`).
 *
 * @param path of the plugin in its file, such as `plugins[0]`; empty for a plugin alone
 * @returns such as `expected an object at dns, found "10.0.0.1"`; `undefined` where it does not
 */
export function pluginRefusal(document: Json, path = ""): string | undefined {
  const hasType = textOf(valueInAnyCase(document, "type")) !== "";
  return (
    mismatchIn(document, plugin, path) ?? (hasType ? undefined : "no type, which names the plugin")
  );
}

/**
 * Why libcni refuses a list (`NetworkConfFromBytes`), as far as it is about the list itself; its name is checked with that of any
 * network.
 */
export function listRefusal(document: Json): string | undefined {
  if (!isObject(document)) return expected("an object", "", document);
  const { name = "", cniVersion = "", cniVersions = [], plugins } = document;
  if (typeof name !== "string") return expected("a text", "name", name);
  if (typeof cniVersion !== "string") return expected("a text", "cniVersion", cniVersion);
  if (!Array.isArray(cniVersions)) return expected("a list", "cniVersions", cniVersions);
  const compared: readonly Json[] = cniVersions.length === 0 ? [] : [...cniVersions, cniVersion];
  const wrong = compared.find((text) => typeof text !== "string" || !VERSION.test(text));
  if (wrong !== undefined) return expected("a version such as 1.1.0", "cniVersions", wrong);
  const unclear = BOOLEANS.find((key) => !isBooleanOrWord(document[key]));
  if (unclear !== undefined) return expected("true or false", unclear, document[unclear] ?? null);
  if (plugins === undefined) {
    const isRequired = isTrue(exactMember(document, "loadOnlyInlinedPlugins"));
    return isRequired ? "no plugins, and loadOnlyInlinedPlugins leaves out all others" : undefined;
  }
  if (!Array.isArray(plugins) || plugins.length === 0) {
    return expected("a list of plugins, at least one", "plugins", plugins);
  }
  return first(plugins.map((member: Json, at) => pluginRefusal(member, `plugins[${at}]`)));
}

function isBooleanOrWord(value: Json = false): boolean {
  return typeof value !== "object" && /^(?:true|false)$/i.test(`${value}`);
}

/** Whether libcni takes a key of a list for true. */
export function isTrue(value: unknown): boolean {
  return value === true || textOf(value).toLowerCase() === "true";
}

/** The first value of another type, as Go's decoder sees it: keys in any letter case, and `null` is as good as none. */
function mismatchIn(value: Json, form: Form, path: string): string | undefined {
  if (value === null) return undefined;
  if (typeof form === "string") {
    const what = form === "string" ? "a text" : "true or false";
    return typeof value === form ? undefined : expected(what, path, value);
  }
  if (isListForm(form)) {
    if (!Array.isArray(value)) return expected("a list", path, value);
    return first(value.map((item: Json, at) => mismatchIn(item, form[0], `${path}[${at}]`)));
  }
  if (!isObject(value)) return expected("an object", path, value);
  const members = Object.entries(form);
  return first(
    Object.entries<Json>(value).map(([key, member]) => {
      const [name = key, own = form["*"]] =
        members.find(([known]) => foldKey(known) === foldKey(key)) ?? [];
      return own && mismatchIn(member, own, memberPath(path, name));
    }),
  );
}

function isListForm(form: Form): form is readonly [Form] {
  return Array.isArray(form);
}

function first(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}

/** @param path empty for the whole document */
function expected(what: string, path: string, found: Json): string {
  const place = path === "" ? "" : ` at ${path}`;
  const isShort = typeof found !== "object" || found === null;
  const short = isShort ? JSON.stringify(found) : isObject(found) ? "an object" : "a list";
  return `expected ${what}${place}, found ${short}`;
}
