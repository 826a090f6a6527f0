/** Routes of the configuration, which are copied to the result. */

import { internalError } from "../cni/error.ts";
import { integer, type Located, memberInAnyCase, memberOrNullInAnyCase } from "../cni/json.ts";
import type { ResultRoute } from "../cni/result.ts";
import { formatAddress } from "./address.ts";
import { parseIPField, parsePrefixField } from "./fields.ts";
import { formatPrefix } from "./prefix.ts";

const integers = ["mtu", "advmss", "priority", "table", "scope"] as const;

/** The keys of a route. */
export const routeKeys = ["dst", "gw", ...integers] as const;

/**
 * Reads one entry of `ipam.routes`.
 *
 * @throws CniError 999 where `dst` is missing or a member is invalid
 */
export function parseRoute(at: Located): ResultRoute {
  const written = at.value === null ? undefined : memberOrNullInAnyCase(at, "dst");
  if (written === undefined) {
    throw internalError(
      "invalid CIDR address: ",
      `expected a network such as "0.0.0.0/0" at ${at.path}.dst; it is missing`,
    );
  }
  const dst = parsePrefixField(written);
  const gw = parseIPField(memberInAnyCase(at, "gw"));
  return {
    family: dst.address.family,
    dst: formatPrefix(dst),
    ...(gw === undefined ? {} : { gw: formatAddress(gw) }),
    ...optionalIntegers(at),
  };
}

function optionalIntegers(at: Located): Partial<Record<(typeof integers)[number], number>> {
  const found: Partial<Record<(typeof integers)[number], number>> = {};
  for (const name of integers) {
    const value = memberInAnyCase(at, name);
    if (value !== undefined) found[name] = integer(value);
  }
  return found;
}
