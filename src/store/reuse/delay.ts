/** How long an address cools down, `reuseDelaySeconds`. */

import type { ReuseDelay } from "../../ipam/config.ts";
import { attempt, type System } from "../../system/system.ts";

/** How long conntrack remembers a connection that was not answered, in seconds; that of this network namespace. */
const SYN_SENT = "/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_syn_sent";

/** The kernel's default. */
const DEFAULT_SYN_SENT = 120;

/** The time from the last packet to the release of the address, in seconds. */
const MARGIN = 10;

/** How long conntrack remembers a connection that was not answered, in seconds; `undefined` where that cannot be read. */
function synSentSeconds(system: System): number | undefined {
  const text = attempt(() => system.readFile(SYN_SENT, 64), "").trim();
  return /^[0-9]{1,10}$/.test(text) ? Number(text) : undefined;
}

/** The delay of a configuration, in seconds. */
export function delaySecondsOf(system: System, delay: ReuseDelay): number {
  return delay === "conntrack" ? (synSentSeconds(system) ?? DEFAULT_SYN_SENT) + MARGIN : delay;
}
