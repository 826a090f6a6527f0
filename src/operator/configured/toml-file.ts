/** Files in TOML, in which runtimes have their configuration. */

import { parse, TomlError } from "smol-toml";
import { exactMember } from "../../cli/command/json-values.ts";
import { attempt, type System } from "../../system/system.ts";

/** A file that was read. */
export interface TomlFile {
  readonly source: string;
  readonly document: unknown;
}

/** Twenty times the configuration that containerd prints as its default, in bytes. */
const LARGEST_FILE = 256 * 1024;

/** Ten times as deep as that. */
const DEEPEST = 100;

/**
 * Reads a file.
 *
 * @throws SyntaxError that names the file and the line, if it is not TOML
 * @throws SystemError if it cannot be read
 */
export function readToml(system: System, source: string): TomlFile {
  const text = system.readFile(source, LARGEST_FILE);
  try {
    const document = parse(text, { maxDepth: DEEPEST, integersAsBigInt: "asNeeded" });
    return { source, document };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // What follows is the text around the place.
    const [problem = ""] = error.message.split("\n");
    throw new SyntaxError(`${source}, line ${error.line}: ${problem}`);
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
 * The text at a place in a file; `undefined` where there is none, or it is empty, by which runtimes mean the same.
 *
 * @param keys those of the tables, and its own
 * @throws SyntaxError if there is something else, with which no runtime starts
 */
export function textAt(file: TomlFile, keys: readonly string[]): string | undefined {
  const value = valueAt(file, keys) ?? "";
  if (typeof value === "string") return value === "" ? undefined : value;
  throw wrong(file, "a text", keys);
}

/**
 * The texts in the list at a place in a file; none where there is none.
 *
 * @param keys as in `textAt`
 * @throws SyntaxError as `textAt`
 */
export function textsAt(file: TomlFile, keys: readonly string[]): readonly string[] {
  const value = valueAt(file, keys) ?? [];
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw wrong(file, "a list of texts", keys);
}

/**
 * The number at a place in a file; `undefined` where there is none.
 *
 * @param keys as in `textAt`
 * @throws SyntaxError as `textAt`
 */
export function numberAt(file: TomlFile, keys: readonly string[]): number | undefined {
  const value = valueAt(file, keys);
  if (value === undefined || typeof value === "number") return value;
  throw wrong(file, "a number", keys);
}

function valueAt(file: TomlFile, keys: readonly string[]): unknown {
  let value = file.document;
  for (const [at, key] of keys.entries()) {
    if (value === undefined) return undefined;
    const isTable = typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isTable) throw wrong(file, "a table", keys.slice(0, at));
    value = exactMember(value, key);
  }
  return value;
}

function wrong({ source }: TomlFile, what: string, keys: readonly string[]): SyntaxError {
  const quoted = keys.map((key) => (key.includes(".") ? JSON.stringify(key) : key));
  return new SyntaxError(`${source}: expected ${what} at ${quoted.join(".")}`);
}
