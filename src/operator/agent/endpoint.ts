/** Where the agent serves metrics and its state. */

import { type Context, type Option, UsageError } from "../../cli/command/command.ts";
import { parseAddress } from "../../ipam/address.ts";

/** The option that opens a port. */
export const listenOption: Option = {
  name: "--listen",
  value: "ADDRESS:PORT",
  summary: "serve what metrics prints at /metrics, and /healthz (default: no port is opened)",
};

/** The path of the metrics. */
export const METRICS = "/metrics";

/** The path of the agent's own state. */
export const HEALTH = "/healthz";

/** Where metrics are served. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/**
 * Where to listen.
 *
 * @returns `undefined` if the option was not given
 * @throws UsageError
 */
export function endpointOf({ option }: Context): Endpoint | undefined {
  const text = option(listenOption.name);
  if (text === undefined) return undefined;
  const [, address = "", digits = ""] = /^\[?([0-9A-Fa-f:.]+)\]?:([0-9]{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (parseAddress(address) !== undefined && port > 0 && port < 65_536) return { address, port };
  throw new UsageError(
    `${listenOption.name}: expected an IP address and a port such as 127.0.0.1:9464, found ${text}`,
  );
}
