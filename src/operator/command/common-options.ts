/** The options that every command has. */

import type { Context, Option } from "./command.ts";

export const commonOptions: readonly Option[] = [
  {
    name: "--conf-dir",
    value: "DIR",
    summary: "where network configurations are (default: $NETCONFPATH, /etc/cni/net.d)",
  },
  {
    name: "--data-dir",
    value: "DIR",
    summary: "where reservations are, whatever the configurations say",
  },
  { name: "--json", summary: "print JSON for programs" },
  { name: "--help", summary: "say what the command does" },
];

const DEFAULT_CONF_DIR = "/etc/cni/net.d";

/** Where network configurations are. */
export function confDirOf({ system, option }: Context): string {
  return option("--conf-dir") ?? (system.environment("NETCONFPATH") || DEFAULT_CONF_DIR);
}
