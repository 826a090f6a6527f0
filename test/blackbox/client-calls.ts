/** The recorded calls of real clients (`npm run test:clients -- --record`), or calls written from their source. */

import { readFileSync } from "node:fs";
import type { RecordedCall } from "../e2e/recording-shim.ts";

/** The calls of a client. */
interface ClientCalls {
  /** The client with its version, and the origin of the calls if it is not a record. */
  readonly client: string;
  readonly calls: readonly RecordedCall[];
}

/** Reads a record: a line about the client, and one for each call. */
export function readClientCalls(file: string): ClientCalls {
  const path = new URL(`client-calls/${file}`, import.meta.url);
  const [first = "", ...lines] = readFileSync(path, "utf8").trim().split("\n");
  return { ...JSON.parse(first), calls: lines.map((line) => JSON.parse(line)) };
}

/**
 * The text of a record: for each call, everything that a plugin can see except the machine's own.
 *
 * @param client the client with its version
 */
export function fixtureText(client: string, calls: readonly RecordedCall[]): string {
  const told = calls.map(({ environment, ...call }) => {
    const variables = Object.entries(environment).filter(([name]) => name.startsWith("CNI_"));
    return { ...call, environment: Object.fromEntries(variables.sort()) };
  });
  return [{ client }, ...told].map((line) => `${JSON.stringify(line)}\n`).join("");
}
