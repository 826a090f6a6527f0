/** A fixed number of generated calls for a seed. */

import fc from "fast-check";
import { isObject, type Json, parseJson } from "../../../src/cni/json.ts";
import type { Call } from "../../harness/executable.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { calls, type Grammar } from "./fuzz-grammar.ts";
import { mutated, mutations } from "./fuzz-mutation.ts";

/** One generated call. */
export interface FuzzCase {
  readonly call: Call;
  /** The seed and the number of the case, to repeat it. */
  readonly what: string;
}

/**
 * The cases of a seed; every third is mutated byte by byte. One that could lead a plugin to the real data directory
 * is left out.
 */
export function fuzzCases(grammar: Grammar, seed: number, count: number): readonly FuzzCase[] {
  const numRuns = count + Math.ceil(count / 20);
  const generated = fc.sample(fc.tuple(calls(grammar), mutations), { seed, numRuns });
  const cases = generated.flatMap(([{ environment, text }, changes], at) => {
    const stdin = at % 3 === 0 ? mutated(text, changes) : Buffer.from(text);
    if (at % 3 === 0 && !isTame(stdin.toString(), grammar)) return [];
    const call = { environment: { ...runtimeEnvironment, ...environment }, stdin };
    return [{ call, what: `case ${at} of seed ${seed}` }];
  });
  return cases.slice(0, count);
}

/** The exact input of a case, to be given to the plugin again. */
export function inputOf({ call, what }: FuzzCase): string {
  const bytes = Buffer.from(call.stdin);
  const isText = Buffer.from(bytes.toString("utf8")).equals(bytes);
  const input = isText ? { stdin: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
  return `${what}: ${JSON.stringify({ environment: call.environment, ...input })}`;
}

/** Whether a plugin that accepts the text works in the data directory of the grammar, or in none. */
function isTame(text: string, { dataDir }: Grammar): boolean {
  const value = parsed(text);
  if (value === undefined || !isObject(value)) return true;
  // The Go plugin merges repeated objects: none of them may name another directory.
  const sections = (text.match(/"ipam"/gi) ?? []).length;
  const named = (text.match(new RegExp(`"dataDir"\\s*:\\s*${JSON.stringify(dataDir)}`, "gi")) ?? [])
    .length;
  return sections === named && (text.match(/datadir/gi) ?? []).length === named;
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
