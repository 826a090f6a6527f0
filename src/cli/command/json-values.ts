/** Access to JSON of unknown form: what is not of the expected type counts as absent. */

/** The member of an object; `undefined` if the value is no object or has no such member. */
export function exactMember(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** The elements of a list; empty if the value is no list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A string; empty if the value is no string. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
