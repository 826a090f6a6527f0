/** Files in TOML, in which runtimes have their configuration. */

import { parse, TomlError } from "smol-toml";
import { exactMember } from "../../cli/command/json-values.ts";
import { isObject, type Json } from "../../cni/json.ts";
import { attempt, type System } from "../../system/system.ts";

/** A file that was read. */
export interface TomlFile {
  readonly source: string;
  readonly document: unknown;
}

/** Twenty times the configuration that containerd prints as its default, in bytes. */
const LARGEST_TOML = 256 * 1024;

/** Ten times as deep as that. */
const DEEPEST = 100;

/**
 * Reads a file.
 *
 * @throws SyntaxError if it is not TOML
 * @throws SystemError if it cannot be read
 */
export function readToml(system: System, source: string): TomlFile {
  const text = system.readFile(source, LARGEST_TOML);
  try {
    const document = parse(text, { maxDepth: DEEPEST, integersAsBigInt: "asNeeded" });
    return { source, document };
  } catch (error) {
    throw error instanceof TomlError ? new SyntaxError(error.message) : error;
  }
}

/**
 * Whether there is a file.
 *
 * @throws SystemError if that cannot be told
 */
export function isThere(system: System, path: string): boolean {
  return attempt(() => system.status(path), undefined, "ENOENT", "ENOTDIR") !== undefined;
}

/**
 * The text at a place in a file; `undefined` where it is missing or empty, which is the same to runtimes.
 *
 * @param keys those of the tables, and its own
 * @throws SyntaxError if there is something else, with which no runtime starts
 */
export function textAt(file: TomlFile, keys: readonly string[]): string | undefined {
  const isText = (value: unknown): value is string => typeof value === "string";
  return valueAt(file, keys, isText) || undefined;
}

/** The texts in the list at a place in a file; none where there is none. Otherwise as `textAt`. */
export function textsAt(file: TomlFile, keys: readonly string[]): readonly string[] {
  const isTexts = (value: unknown): value is readonly string[] =>
    Array.isArray(value) && value.every((text) => typeof text === "string");
  return valueAt(file, keys, isTexts) ?? [];
}

/** The number at a place in a file; `undefined` where there is none. Otherwise as `textAt`. */
export function numberAt(file: TomlFile, keys: readonly string[]): number | undefined {
  return valueAt(file, keys, (value) => typeof value === "number");
}

function valueAt<Value>(
  { source, document }: TomlFile,
  keys: readonly string[],
  isExpected: (value: unknown) => value is Value,
): Value | undefined {
  let value = document;
  for (const key of keys) {
    if (value === undefined) return undefined;
    if (!isObject(value as Json)) throw new SyntaxError(`${source}: ${keys.join(".")}`);
    value = exactMember(value, key);
  }
  if (value === undefined || isExpected(value)) return value;
  throw new SyntaxError(`${source}: ${keys.join(".")}`);
}
