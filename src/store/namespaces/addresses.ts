/** The addresses of a network namespace, as its tables below `/proc/PID/net` show them. */

import { addressAt, formatAddress } from "../../ipam/address.ts";
import { attempt } from "../../system/system.ts";

/**
 * The addresses in a namespace, in their canonical form.
 *
 * @param read a table of it, by its name in `/proc/PID/net`
 * @returns `undefined` where its process has ended
 * @throws SystemError where they cannot be read
 */
export function addressesBy(read: (table: string) => string): ReadonlySet<string> | undefined {
  const table = (name: string): string | undefined =>
    attempt(() => read(name), undefined, "ENOENT", "ESRCH", "EINVAL");
  // A kernel without IPv6 has no such table: then the other one shows that the process has not ended.
  const ipv6 = table("if_inet6");
  const ipv4 = table("fib_trie");
  if (ipv4 === undefined) return undefined;
  return new Set([...localAddresses(ipv4), ...interfaceAddresses(ipv6 ?? "")]);
}

/**
 * The own addresses of a namespace in `fib_trie`: a line with an address, then one with `/32 host LOCAL`.
 *
 * @example localAddresses("|-- 10.88.0.7\n   /32 host LOCAL\n"); // ["10.88.0.7"]
 */
export function localAddresses(table: string): readonly string[] {
  return [...table.matchAll(/\|-- ([0-9.]+)\n +\/32 host LOCAL/g)].map(
    ([, address = ""]) => address,
  );
}

/**
 * The addresses in `if_inet6`: 32 hexadecimal digits at the beginning of each line.
 *
 * @example interfaceAddresses("fd000000000000000000000000000007 02 40 00 80 eth0\n"); // ["fd00::7"]
 */
export function interfaceAddresses(table: string): readonly string[] {
  return [...table.matchAll(/^([0-9a-f]{32}) /gm)].map(([, digits = ""]) =>
    formatAddress(addressAt(6, BigInt(`0x${digits}`))),
  );
}

/** Whether an address is one that every namespace has: of the loopback interface, or link-local. */
export function isLocal(address: string): boolean {
  return address.startsWith("127.") || address === "::1" || address.startsWith("fe80:");
}

/**
 * The interfaces in `dev`, below two lines of headings.
 *
 * @example interfacesIn("Inter-| Receive\n face |bytes\n    lo:  0  0\n"); // ["lo"]
 */
export function interfacesIn(table: string): readonly string[] {
  return [...table.matchAll(/^ *([^\s:|]+):/gm)].map(([, name = ""]) => name);
}
