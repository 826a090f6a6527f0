/** The options of the agent. */

import { type Context, type Option, UsageError } from "../../cli/command/command.ts";
import { parseAddress } from "../../ipam/address.ts";

/** The options that ask for a part, or say how it runs. */
export const agentOptions = {
  gc: { name: "--gc", summary: "release the addresses of dead containers" },
  liveCommand: {
    name: "--live-command",
    value: "COMMAND",
    summary:
      "for gc: shell command that prints the ids of live containers (default: check the network namespaces in libcni's cache)",
  },
  grace: {
    name: "--grace",
    value: "DURATION",
    summary: "for gc: the minimum age of a reservation, and time between two runs (default: 10m)",
  },
  gcInterval: {
    name: "--gc-interval",
    value: "DURATION",
    summary: "the time from one gc to the next (default: 15m)",
  },
  keepInstalled: {
    name: "--keep-installed",
    value: "DIR",
    summary: "install this executable in DIR again when another program has replaced it",
  },
  as: {
    name: "--as",
    value: "NAME",
    summary: "for --keep-installed: the name it was installed by (default: host-local)",
  },
  nodeFeature: {
    name: "--node-feature",
    value: "DIR",
    summary: "write the number of pods as a feature for node-feature-discovery",
  },
  resource: {
    name: "--resource",
    value: "NAME",
    summary: "for --node-feature: its name (default: example.com/pod-ips)",
  },
  output: {
    name: "--output",
    value: "FILE",
    summary: "write the metrics for the textfile collector of node_exporter",
  },
  interval: {
    name: "--interval",
    value: "DURATION",
    summary: "the time from one run to the next of everything but gc (default: 1m)",
  },
} as const satisfies Readonly<Record<string, Option>>;

/** The option that opens a port. */
export const listenOption: Option = {
  name: "--listen",
  value: "ADDRESS:PORT[/PATH]",
  summary:
    "serve the metrics at PATH (default: /metrics), and /healthz (default: no port is opened)",
};

/** Where metrics are served. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly path: string;
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
  const [, address = "", digits = "", path = "/metrics"] =
    /^\[?([0-9A-Fa-f:.]+)\]?:([0-9]{1,5})(\/[\w./-]+)?$/.exec(text) ?? [];
  const port = Number(digits);
  if (parseAddress(address) !== undefined && port > 0 && port < 65_536 && path !== HEALTH) {
    return { address, port, path };
  }
  throw new UsageError(
    `${listenOption.name}: expected an IP address, a port and perhaps a path, such as 127.0.0.1:9464/metrics; found ${text}`,
  );
}

/** The path of the agent's own state. */
export const HEALTH = "/healthz";
