/** What libcni 1.3 decodes of a plugin before it calls it (`types.PluginConf`), whatever the plugin itself reads. */

import { foldKey, isObject, type Json, kindOf, memberPath } from "../../cni/json.ts";

/** The form of a value; `null` is as good as none everywhere. */
type Form =
  | "text"
  | "boolean"
  | "anything"
  | { readonly listOf: Form }
  | { readonly valuesOf: Form }
  | { readonly members: Readonly<Record<string, Form>> };

const texts: Form = { listOf: "text" };

const PLUGIN: Form = {
  members: {
    cniVersion: "text",
    name: "text",
    type: "text",
    capabilities: { valuesOf: "boolean" },
    ipam: { members: { type: "text" } },
    dns: { members: { nameservers: texts, domain: "text", search: texts, options: texts } },
    prevResult: { valuesOf: "anything" },
    "cni.dev/valid-attachments": { listOf: { members: { containerID: "text", ifname: "text" } } },
  },
};

/**
 * Why libcni refuses a plugin, or the list that it is in, for the type of a value.
 *
 * @param path of the plugin in its file, such as `plugins[0]`; empty for a plugin alone
 * @returns such as `expected an object at dns, found "10.0.0.1"`; `undefined` where all types are right
 */
export function wrongTypeIn(plugin: Json, path: string): string | undefined {
  return mismatchIn(plugin, PLUGIN, path);
}

function mismatchIn(value: Json, form: Form, path: string): string | undefined {
  if (value === null || form === "anything") return undefined;
  if (form === "text")
    return typeof value === "string" ? undefined : expected("a text", path, value);
  if (form === "boolean") {
    return typeof value === "boolean" ? undefined : expected("true or false", path, value);
  }
  if ("listOf" in form) {
    if (!Array.isArray(value)) return expected("a list", path, value);
    return first(value.map((one: Json, at) => mismatchIn(one, form.listOf, `${path}[${at}]`)));
  }
  if (!isObject(value)) return expected("an object", path, value);
  const entries = Object.entries<Json>(value);
  if ("valuesOf" in form) {
    return first(
      entries.map(([key, one]) => mismatchIn(one, form.valuesOf, memberPath(path, key))),
    );
  }
  const members = Object.entries(form.members);
  return first(
    entries.map(([key, one]) => {
      // As Go's decoder, in any letter case.
      const [name, own] = members.find(([known]) => isSameKey(known, key)) ?? [];
      return name && own && mismatchIn(one, own, memberPath(path, name));
    }),
  );
}

function isSameKey(one: string, other: string): boolean {
  return foldKey(one) === foldKey(other);
}

function first(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}

/**
 * What is wrong with a value.
 *
 * @param what is right, such as `a text`
 * @param path its path; empty for the whole document
 */
export function expected(what: string, path: string, found: Json): string {
  const place = path === "" ? "" : ` at ${path}`;
  return `expected ${what}${place}, found ${inShort(found)}`;
}

function inShort(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return kindOf(value) === "array" ? "a list" : "an object";
}
