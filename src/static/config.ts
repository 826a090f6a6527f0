/** The configuration of `static`, checked once. */

import { readArguments } from "../cni/arguments.ts";
import type { NetworkConfiguration } from "../cni/call.ts";
import { internalError } from "../cni/error.ts";
import { elements, type Located, memberInAnyCase, text } from "../cni/json.ts";
import type { ResultDns, ResultRoute } from "../cni/result.ts";
import { trimSpace } from "../cni/unicode.ts";
import { allowsOneAddressPerFamily } from "../cni/version.ts";
import { type Address, isWithin, parseAddress } from "../ipam/address.ts";
import { parseIPField } from "../ipam/fields.ts";
import { addressRangeOf, type Prefix, parsePrefix } from "../ipam/prefix.ts";
import { requireOnePerFamily } from "../ipam/range-set.ts";
import { NO_DNS } from "../ipam/resolv-conf.ts";
import { parseRoute } from "../ipam/route.ts";

/** An address of the result. */
interface StaticAddress {
  readonly prefix: Prefix;
  readonly gateway: Address | undefined;
}

/** What the result consists of. */
interface StaticConfig {
  readonly addresses: readonly StaticAddress[];
  readonly routes: readonly ResultRoute[];
  readonly dns: ResultDns;
}

/** An address as configured: it is parsed only if it counts. */
type ParseAddress = () => StaticAddress;

/**
 * Reads and checks the configuration; errors have the Go plugin's words and order. Addresses of `runtimeConfig.ips`
 * replace those of `args.cni.ips`, and these replace all others.
 *
 * @throws CniError 999 with the path in its details
 */
export function loadStaticConfig(network: NetworkConfiguration, args: string): StaticConfig {
  const { document } = network;
  const ipam = memberInAnyCase(document, "ipam");
  const settings = ipam && readIpam(ipam);
  const runtimeConfig = memberInAnyCase(document, "runtimeConfig");
  const runtimeIPs = requestedIn(runtimeConfig && memberInAnyCase(runtimeConfig, "ips"));
  const conventional = memberInAnyCase(document, "args");
  const cniArgs = conventional && memberInAnyCase(conventional, "cni");
  const argumentIPs = requestedIn(cniArgs && memberInAnyCase(cniArgs, "ips"));
  if (settings === undefined) {
    throw internalError(
      "IPAM config missing 'ipam' key",
      'expected an object such as {"type": "static", "addresses": [{"address": "10.1.2.3/24"}]} at ipam',
    );
  }
  const inArguments = addressesInArguments(args);
  const requested = argumentIPs.map((parse) => parse());
  const last = runtimeIPs.map((parse) => parse());
  const addresses = [last, requested].find(({ length }) => length > 0) ?? [
    ...settings.addresses.map((parse) => parse()),
    ...inArguments,
  ];
  if (allowsOneAddressPerFamily(network.version)) {
    const families = addresses.map(({ prefix }) => prefix.address.family);
    requireOnePerFamily(families, "addresses", network.versionText);
  }
  return { ...settings, addresses };
}

function readIpam(
  ipam: Located,
): Omit<StaticConfig, "addresses"> & { readonly addresses: readonly ParseAddress[] } {
  text(memberInAnyCase(ipam, "type"));
  text(memberInAnyCase(ipam, "name"));
  return {
    addresses: elements(memberInAnyCase(ipam, "addresses")).map((at) => {
      const written = at.value === null ? "" : text(memberInAnyCase(at, "address"));
      const gateway = at.value === null ? undefined : parseIPField(memberInAnyCase(at, "gateway"));
      const message = `the 'address' field is expected to be in CIDR notation, got: '${written}'`;
      return () => ({ prefix: requirePrefix(written, message, `${at.path}.address`), gateway });
    }),
    routes: elements(memberInAnyCase(ipam, "routes")).map(parseRoute),
    dns: dnsIn(memberInAnyCase(ipam, "dns")),
  };
}

function dnsIn(at: Located | undefined): ResultDns {
  if (at === undefined) return NO_DNS;
  const list = (name: string): readonly string[] =>
    elements(memberInAnyCase(at, name)).map(textOrEmpty);
  return {
    nameservers: list("nameservers"),
    domain: text(memberInAnyCase(at, "domain")),
    search: list("search"),
    options: list("options"),
  };
}

/** A string of a list; `null` is the empty one. */
function textOrEmpty(element: Located): string {
  return element.value === null ? "" : text(element);
}

/** The addresses that a runtime asks for. */
function requestedIn(at: Located | undefined): readonly ParseAddress[] {
  return elements(at).map((element) => {
    const written = textOrEmpty(element);
    const message = `an entry in the 'ips' field is NOT in CIDR notation, got: '${written}'`;
    return () => ({ prefix: requirePrefix(written, message, element.path), gateway: undefined });
  });
}

/** `IP` and `GATEWAY` of `CNI_ARGS`: lists with commas; a gateway is that of every address whose subnet it is in. */
function addressesInArguments(args: string): readonly StaticAddress[] {
  let ips = "";
  let gateways = "";
  readArguments(args, {
    IP: (value) => {
      ips = value;
    },
    GATEWAY: (value) => {
      gateways = value;
    },
  });
  const prefixes = itemsOf(ips).map((item) => {
    const written = trimSpace(item);
    return requirePrefix(
      written,
      `the 'ip' field is expected to be in CIDR notation, got: '${written}'`,
      "CNI_ARGS IP",
    );
  });
  const parsed = itemsOf(gateways).map((item) => {
    const gateway = parseAddress(trimSpace(item));
    if (gateway !== undefined) return gateway;
    throw internalError(
      `invalid gateway address: ${item}`,
      'expected IP addresses such as "10.1.2.1" in CNI_ARGS GATEWAY',
    );
  });
  return prefixes.map((prefix) => ({
    prefix,
    gateway: parsed.findLast((gateway) => isWithin(gateway, addressRangeOf(prefix))),
  }));
}

function itemsOf(list: string): readonly string[] {
  return list === "" ? [] : list.split(",");
}

function requirePrefix(written: string, message: string, path: string): Prefix {
  const prefix = parsePrefix(written);
  if (prefix !== undefined) return prefix;
  throw internalError(message, `expected an address such as "10.1.2.3/24" at ${path}`);
}
