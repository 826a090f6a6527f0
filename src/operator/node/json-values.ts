/** Looking into JSON of which nothing is known: what is not as expected is absent. */

/** The member of an object; `undefined` where there is no object or no such member. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

/** The elements of a list; none where there is no list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text; empty where there is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
