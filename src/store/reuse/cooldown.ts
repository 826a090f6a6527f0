/**
 * The addresses that were released lately, for `reuseDelaySeconds`: when, by the clock that begins with the boot. Those
 * that were released before this boot have cooled down, since there is no other time to trust, and nothing that sent to
 * them has survived on this node.
 */

import { formatAddress, parseAddress } from "../../ipam/address.ts";
import type { ReuseDelay } from "../../ipam/config.ts";
import { attempt, type System } from "../../system/system.ts";
import type { NetworkFiles } from "../files/network-files.ts";

/** The name of the file, in the state directory. */
const FILE = "released";

/** What the first line begins with; the boot and the delay in seconds follow. */
const FORM = "host-local-released 1";

/** No more are kept. */
const MOST = 4096;

/** The file is not larger, in bytes. */
const LARGEST = MOST * 64;

/** How long conntrack remembers a connection that was not answered, in seconds; that of this network namespace. */
const SYN_SENT = "/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_syn_sent";

/** The kernel's default. */
const DEFAULT_SYN_SENT = 120;

/** For the time from the last packet to the release of the address. */
const MARGIN = 10;

/** What the file tells. */
export interface Cooldown {
  /** The addresses that cool down, each with the milliseconds since its release. */
  readonly ages: ReadonlyMap<string, number>;
  /** How long they do, in seconds; `undefined` where that is not known. */
  readonly seconds: number | undefined;
}

/**
 * Reads which addresses cool down; needs no lock.
 *
 * @param seconds by default as long as was configured when the last was released
 */
export function readCooldown(files: NetworkFiles, seconds?: number): Cooldown {
  const ages = new Map<string, number>();
  const [header = "", ...lines] = files.state?.lines(FILE, LARGEST) ?? [];
  const prefix = `${FORM} ${files.boot} `;
  if (!header.startsWith(prefix)) return { ages, seconds };
  const delay = seconds ?? Number(header.slice(prefix.length));
  const now = files.system.monotonic();
  for (const line of lines) {
    const [address = "", text] = line.split(" ");
    const age = now - Number(text);
    if (age >= 0 && age < delay * 1000) ages.set(address, age);
  }
  return { ages, seconds: delay };
}

/**
 * Notes that addresses are released now, beside those that cool down.
 *
 * @param names those of their files
 * @throws SystemError
 */
export function noteReleased(
  files: NetworkFiles,
  names: readonly string[],
  { ages: cooling, seconds }: Cooldown,
): void {
  const { boot, state, system } = files;
  if (boot === undefined || state === undefined || seconds === undefined) return;
  const ages = new Map(cooling);
  for (const name of names) {
    const address = parseAddress(name);
    if (address === undefined) continue;
    ages.delete(formatAddress(address));
    ages.set(formatAddress(address), 0);
  }
  const now = system.monotonic();
  const lines = [...ages].slice(-MOST).map(([address, age]) => `${address} ${now - age}`);
  state.replaceLines(FILE, [`${FORM} ${boot} ${seconds}`, ...lines]);
}

/** How long conntrack remembers a connection that was not answered, in seconds; `undefined` where that cannot be read. */
function synSentSeconds(system: System): number | undefined {
  const text = attempt(() => system.readFile(SYN_SENT, 64), "").trim();
  return /^[0-9]{1,10}$/.test(text) ? Number(text) : undefined;
}

/** The delay of a configuration, in seconds. */
export function delaySecondsOf(system: System, delay: ReuseDelay): number {
  return delay === "conntrack" ? (synSentSeconds(system) ?? DEFAULT_SYN_SENT) + MARGIN : delay;
}
