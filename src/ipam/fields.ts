/** Addresses and networks as members of the configuration. */

import { internalError } from "../cni/error.ts";
import { type Located, text } from "../cni/json.ts";
import { type Address, parseAddress } from "./address.ts";
import { type Prefix, parsePrefix } from "./prefix.ts";

/**
 * A member that is an address; absent, `null` and `""` mean none.
 *
 * @throws CniError 999 `invalid IP address: …`
 */
export function parseIPField(at: Located | undefined): Address | undefined {
  const written = text(at, 'an IP address such as "10.1.2.3"');
  if (at === undefined || written === "") return undefined;
  const address = parseAddress(written);
  if (address === undefined) {
    throw internalError(
      `invalid IP address: ${written}`,
      `expected an IP address such as "10.1.2.3" at ${at.path}`,
    );
  }
  return address;
}

/**
 * A member that is a network; `null` and `""` are errors, as in the Go plugin.
 *
 * @throws CniError 999 `invalid CIDR address: …`
 */
export function parsePrefixField(at: Located): Prefix {
  const written = at.value === null ? "" : text(at, 'a network such as "10.1.2.0/24"');
  const prefix = parsePrefix(written);
  if (prefix === undefined) {
    throw internalError(
      `invalid CIDR address: ${written}`,
      `expected a network such as "10.1.2.0/24" at ${at.path}`,
    );
  }
  return prefix;
}

/**
 * An address that may carry a prefix length, which is checked and then dropped.
 *
 * @param written such as `10.1.2.3` or `10.1.2.3/24`
 * @throws CniError 999 `invalid IP address …`
 */
export function parseIPWithOptionalPrefix(written: string, path: string): Address {
  const address = written.includes("/") ? parsePrefix(written)?.address : parseAddress(written);
  if (address === undefined) {
    throw internalError(
      `invalid IP address ${written}`,
      `expected an address such as "10.1.2.3" or "10.1.2.3/24" at ${path}`,
    );
  }
  return address;
}

/**
 * A member that is the path of a file or directory, empty where it is absent: relative to the working directory of a runtime
 * it would be another one for each of them.
 *
 * @throws CniError 999 `invalid …`
 */
export function absolutePath(at: Located | undefined): string {
  const path = text(at, "the path of a file");
  if (path !== "" && !path.startsWith("/")) {
    throw internalError(
      `invalid ${nameOf(at)}: ${path}`,
      `expected an absolute path at ${at?.path}`,
    );
  }
  return path;
}

/** The key of a member of `ipam`. */
export function nameOf(at: Located | undefined): string | undefined {
  return at?.path.replace("ipam.", "");
}
