/** The calls of real clients, as they were recorded (`npm run test:clients -- --record`), or written from their source. */

import { readFileSync } from "node:fs";
import type { RecordedCall } from "../e2e/recording-shim.ts";

/** What a client has called. */
interface ClientCalls {
  /** The client with its version, and where the calls are from if not from a record. */
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
 * The text of a record: of each call what a plugin can see that is not the machine's.
 *
 * @param client with its version
 */
export function fixtureText(client: string, calls: readonly RecordedCall[]): string {
  const told = calls.map(({ environment, ...call }) => {
    const variables = Object.entries(environment).filter(([name]) => name.startsWith("CNI_"));
    return { ...call, environment: Object.fromEntries(variables.sort()) };
  });
  return [{ client }, ...told].map((line) => `${JSON.stringify(line)}\n`).join("");
}
