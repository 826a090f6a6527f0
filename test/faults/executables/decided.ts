/** Recognizes a decided difference from the Go plugin in the answers to a generated call: see test/blackbox/differences.ts. */

import { isObject, type Json, parseJson } from "../../../src/cni/json.ts";
import type { Call } from "../../harness/executable.ts";
import { readError } from "../../harness/printed-error.ts";
import type { Ending } from "./running-call.ts";

/** A call with the answers of both plugins. */
interface Answers {
  readonly command: string;
  readonly text: string;
  readonly here: Ending;
  readonly go: Ending;
}

/** For each difference, by its title, whether it explains the two answers. */
export const explanations: Readonly<Record<string, (answers: Answers) => boolean>> = {
  "DEL frees addresses whatever else the configuration says": ({ command, here, go }) =>
    command === "DEL" && (here.exitCode === 0 || codeOf(here) === 5) && codeOf(go) === 999,
  "GC frees addresses of attachments that no longer exist": ({ command, here, go }) =>
    command === "GC" && go.exitCode === 0 && codeOf(here) === 7,
  "STATUS says when no address can ever be handed out": ({ command, here, go }) =>
    command === "STATUS" && go.exitCode === 0 && codeOf(here) === 50,
  "null among requested addresses or routes is an error, not a crash": ({ here, go }) =>
    codeOf(here) === 999 &&
    (go.exitCode === 2 || messageOf(here) === "invalid CIDR address: ") &&
    /IP <nil> not v4 nor v6$|^invalid CIDR address: $/.test(messageOf(here)),
  "rangeStart may not lie above the default end of the range": ({ here, go }) =>
    go.exitCode === 0 && /RangeStart \S+ not in network/.test(messageOf(here)),
  "Subnets of one or two addresses are accepted": ({ go }) =>
    /^(?:failed.*|invalid range set .*): Network \S+ too small to allocate from$/.test(
      messageOf(go),
    ),
  "Several requested addresses are taken in their order": ({ text, here, go }) =>
    here.exitCode === go.exitCode && /"ips"/.test(text),
  "IPv6 ranges below ::/96 are counted correctly": ({ text }) => /"::\/\d/.test(text),
  "Of a repeated key in the configuration the last one counts": ({ text }) => hasRepeatedKey(text),
  "Numbers beyond 2^53 lose their last digits": ({ here, text }) =>
    /^json: cannot unmarshal number/.test(messageOf(here)) && /\d{16}/.test(text),
  "Whole numbers may be written as 1.0 or 1e3": ({ here, go }) =>
    here.exitCode === 0 && /cannot unmarshal number \S*[.eE]/.test(messageOf(go)),
};

/** The title of the decided difference that explains the answers; `undefined` if none does. */
export function decidedDifference(call: Call, here: Ending, go: Ending): string | undefined {
  const command = call.environment.CNI_COMMAND ?? "";
  const answers = { command, text: Buffer.from(call.stdin).toString(), here, go };
  return Object.entries(explanations).find(([, explains]) => explains(answers))?.[0];
}

/** The code of the printed error; `undefined` if there is none. */
export function codeOf({ stdout }: Ending): number | undefined {
  return readError(stdout)?.code;
}

function messageOf({ stdout }: Ending): string {
  return readError(stdout)?.msg ?? "";
}

/** Whether any object names a member twice, even in different letter case. */
function hasRepeatedKey(text: string): boolean {
  const written = text.match(/"(?:[^"\\]|\\.)*"\s*:/g) ?? [];
  try {
    return written.length !== distinctKeys(parseJson(text));
  } catch {
    return false;
  }
}

function distinctKeys(value: Json): number {
  if (Array.isArray(value)) return sum(value.map(distinctKeys));
  if (!isObject(value)) return 0;
  const keys = new Set(Object.keys(value).map((key) => key.toLowerCase()));
  return keys.size + sum(Object.values(value).map(distinctKeys));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
