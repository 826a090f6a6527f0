/** The options that every command has. */

import type { Context, Option } from "./command.ts";

export const commonOptions: readonly Option[] = [
  {
    name: "--conf-dir",
    value: "DIR",
    summary: "directory of network configurations (default: $NETCONFPATH, or /etc/cni/net.d)",
  },
  {
    name: "--data-dir",
    value: "DIR",
    summary: "data directory; overrides ipam.dataDir of the configurations",
  },
  { name: "--json", summary: "print JSON" },
  { name: "--help", summary: "print help for the command" },
];

const DEFAULT_CONF_DIR = "/etc/cni/net.d";

/** The directory of the network configurations. */
export function confDirOf({ system, option }: Context): string {
  return option("--conf-dir") ?? (system.environment("NETCONFPATH") || DEFAULT_CONF_DIR);
}
