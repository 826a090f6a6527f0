/** `CNI_ARGS`: extra arguments of the caller, `KEY=value;KEY=value`. */

import { CniError, internalError } from "./error.ts";
import { goQuote } from "./go-quote.ts";

/**
 * Reads `CNI_ARGS` by the Go plugin's grammar: pairs from left to right, the first error wins, keys in exact letters,
 * of a repeated key the last value counts. Unknown keys are errors unless `IgnoreUnknown` is true anywhere.
 *
 * @param text the variable's value; empty means no arguments
 * @param known the keys that the plugin understands, each with the reader of its value, which may throw
 * @throws CniError 999 that quotes the pair
 * @example readArguments("IgnoreUnknown=1;IP=10.1.2.3;K8S_POD_NAME=p", { IP: (value) => take(value) })
 */
export function readArguments(
  text: string,
  known: Readonly<Record<string, (value: string) => void>>,
): void {
  if (text === "") return;
  let ignoreUnknown = false;
  const unknown: string[] = [];
  for (const pair of text.split(";")) {
    const [key, value, ...rest] = pair.split("=");
    if (key === undefined || value === undefined || rest.length > 0) {
      throw internalError(
        `ARGS: invalid pair ${goQuote(pair)}`,
        `CNI_ARGS is ${goQuote(text)}; expected KEY=value;KEY=value`,
      );
    }
    if (key === "IgnoreUnknown") {
      ignoreUnknown = readBoolean(pair, value);
    } else if (key === "CommonArgs") {
      // An accident of the Go plugin: it finds the field of this name in its own structure.
      throw internalError(
        "ARGS: cannot unmarshal into field 'CommonArgs' - type '*types.CommonArgs' does not implement encoding.TextUnmarshaler",
      );
    } else if (Object.hasOwn(known, key)) {
      readValue(pair, () => known[key]?.(value));
    } else {
      unknown.push(pair);
    }
  }
  if (unknown.length > 0 && !ignoreUnknown) {
    throw internalError(
      `ARGS: unknown args [${unknown.map(goQuote).join(" ")}]`,
      `known in CNI_ARGS: ${Object.keys(known).join(", ")}, IgnoreUnknown; with IgnoreUnknown=1 others are ignored`,
    );
  }
}

function readBoolean(pair: string, value: string): boolean {
  const lower = value.toLowerCase();
  if (lower === "1" || lower === "true") return true;
  if (lower === "0" || lower === "false") return false;
  throw invalidValue(pair, `boolean unmarshal error: invalid input ${lower}`);
}

function readValue(pair: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    throw invalidValue(pair, error.message, error.details);
  }
}

function invalidValue(pair: string, reason: string, details = ""): CniError {
  return internalError(`ARGS: error parsing value of pair ${goQuote(pair)}: ${reason}`, details);
}

/**
 * The value of one key of `CNI_ARGS`, without checking anything else; empty where there is none. Of a repeated key the last
 * value counts.
 *
 * @param text the value of the variable
 */
export function argumentIn(key: string, text: string): string {
  const start = `${key}=`;
  const pair = text.split(";").findLast((pair) => pair.startsWith(start));
  return pair === undefined ? "" : pair.slice(start.length);
}
