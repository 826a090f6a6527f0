/** The addresses that a caller requests: by the configuration, by the runtime, by `CNI_ARGS`. */

import { readArguments } from "../cni/arguments.ts";
import { internalError } from "../cni/error.ts";
import { elements, type Located, text } from "../cni/json.ts";
import type { Address } from "./address.ts";
import { parseIPWithOptionalPrefix } from "./fields.ts";

/** An entry of a list; `""` and `null` are no address, which is an error only after all lists were read. */
interface RequestedAddress {
  readonly path: string;
  readonly address: Address | undefined;
}

/**
 * The entries of a list of requested addresses, parsed before anything else is checked.
 *
 * @throws CniError 999 where an entry is neither an address nor empty
 */
export function requestedIn(at: Located | undefined): readonly RequestedAddress[] {
  return elements(at).map((element) => {
    const written = element.value === null ? "" : text(element, "an IP address");
    return {
      path: element.path,
      address: written === "" ? undefined : parseIPWithOptionalPrefix(written, element.path),
    };
  });
}

/**
 * The addresses in the value of an argument, with commas between them.
 *
 * @param value empty for none
 * @param name of the argument
 * @throws CniError 999 where one is no address
 */
export function requestedInText(value: string, name: string): readonly RequestedAddress[] {
  const path = `the argument or annotation ${name}`;
  if (value === "") return [];
  return value
    .split(",")
    .map((address) => ({ path, address: parseIPWithOptionalPrefix(address.trim(), path) }));
}

/**
 * The addresses of `CNI_ARGS` and then those of the lists, each once.
 *
 * @param args the value of `CNI_ARGS`
 * @throws CniError 999 for an empty entry of a list, or a malformed value of `CNI_ARGS`
 */
export function requestedAddresses(
  args: string,
  listed: readonly RequestedAddress[],
): readonly Address[] {
  let requested: readonly Address[] = [];
  readArguments(args, {
    IP: (value) => {
      requested = value === "" ? [] : [parseIPWithOptionalPrefix(value, "CNI_ARGS IP")];
    },
  });
  return distinct([...requested, ...listed.map(requireAddress)]);
}

function requireAddress({ address, path }: RequestedAddress): Address {
  if (address !== undefined) return address;
  throw internalError(
    "cannot understand ip: IP <nil> not v4 nor v6",
    `expected an IP address at ${path}`,
  );
}

function distinct(addresses: readonly Address[]): readonly Address[] {
  if (addresses.length < 2) return addresses;
  // Compared by number, since formatting them would cost much more.
  const byNumber = addresses.map(
    (address) => [`${address.family} ${address.value}`, address] as const,
  );
  return [...new Map(byNumber).values()];
}
