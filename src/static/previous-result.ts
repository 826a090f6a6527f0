/** The result of ADD, which the runtime passes to CHECK as `prevResult`. */

import type { NetworkConfiguration } from "../cni/call.ts";
import { CniError, internalError } from "../cni/error.ts";
import { goQuote } from "../cni/go-quote.ts";
import {
  elements,
  isObject,
  type Located,
  memberInAnyCase,
  memberOrNullInAnyCase,
  text,
  typeMismatch,
} from "../cni/json.ts";
import type { SpecVersion } from "../cni/version.ts";
import type { Address } from "../ipam/address.ts";
import { parseIPField, parsePrefixField } from "../ipam/fields.ts";

/** An address of the result, without its prefix length. */
interface PreviousAddress {
  readonly address: Address;
  readonly gateway: Address | undefined;
}

/** The versions whose results have the same form, of those that have CHECK. */
const forms: readonly (readonly SpecVersion[])[] = [
  ["0.3.0", "0.3.1", "0.4.0"],
  ["1.0.0", "1.1.0"],
];

/**
 * The addresses of `prevResult`, of which nothing but the version and the addresses is read.
 *
 * @throws CniError 999 where it is missing or invalid, or its version has another form than that of the configuration
 */
export function previousAddresses({
  document,
  version,
}: NetworkConfiguration): readonly PreviousAddress[] {
  const previous = memberInAnyCase(document, "prevResult");
  if (previous === undefined) {
    throw internalError(
      "Required prevResult missing",
      "CHECK needs the result of ADD, which the runtime keeps",
    );
  }
  if (!isObject(previous.value)) {
    throw internalError(`failed to load netconf: ${typeMismatch(previous, "an object").message}`);
  }
  try {
    const addresses = elements(memberInAnyCase(previous, "ips")).flatMap(addressIn);
    const written = memberInAnyCase(previous, "cniVersion");
    requireForm(written === undefined ? version : text(written), version);
    return addresses;
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    throw internalError(`could not parse prevResult: ${error.message}`, error.details);
  }
}

function addressIn(at: Located): readonly PreviousAddress[] {
  const address = at.value === null ? undefined : memberOrNullInAnyCase(at, "address");
  if (address === undefined) return [];
  const gateway = parseIPField(memberInAnyCase(at, "gateway"));
  return [{ address: parsePrefixField(address).address, gateway }];
}

function requireForm(found: string, version: SpecVersion): void {
  const allowed: readonly string[] = forms.find((form) => form.includes(version)) ?? [];
  if (allowed.includes(found)) return;
  throw internalError(
    `result type supports [${allowed.join(" ")}] but unmarshalled CNIVersion is ${goQuote(found)}`,
    `the configuration has ${version}`,
  );
}
