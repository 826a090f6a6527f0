/** The result of an ADD, and how each version of the specification prints it. */

import { internalError } from "./error.ts";
import { formatJson } from "./json.ts";
import type { SpecVersion } from "./version.ts";

interface ResultAddress {
  readonly family: 4 | 6;
  /** Address and prefix length, such as `10.1.2.3/24`. */
  readonly address: string;
  /** `undefined` where there is none; the member is then left out. */
  readonly gateway: string | undefined;
}

export interface ResultRoute {
  /** The family under which the route is listed in results before 0.3.0. */
  readonly family: 4 | 6;
  readonly dst: string;
  readonly gw?: string;
  readonly mtu?: number;
  readonly advmss?: number;
  readonly priority?: number;
  readonly table?: number;
  readonly scope?: number;
}

export interface ResultDns {
  readonly nameservers: readonly string[];
  readonly domain: string;
  readonly search: readonly string[];
  readonly options: readonly string[];
}

/** The result of an ADD, independent of the version in which it is printed. */
export interface Result {
  readonly addresses: readonly ResultAddress[];
  readonly routes: readonly ResultRoute[];
  readonly dns: ResultDns;
}

/**
 * The result as the Go plugin prints it: its key order, four spaces, no final newline.
 *
 * Before 0.3.0 there is one address a family, which carries its routes; from 1.0.0 on keys are in alphabetical
 * order and an empty `dns` is left out, earlier it is always present.
 *
 * @throws CniError 999 for a result without addresses before 0.3.0
 */
export function formatResult(result: Result, version: SpecVersion): string {
  switch (version) {
    case "0.1.0":
    case "0.2.0":
      if (result.addresses.length === 0) {
        throw internalError(
          "cannot convert: no valid IP addresses",
          `a result of CNI version ${version} has at least one address`,
        );
      }
      return formatJson({
        cniVersion: version,
        ip4: onlyAddress(result, 4),
        ip6: onlyAddress(result, 6),
        dns: dnsInOrder(result.dns),
      });
    case "0.3.0":
    case "0.3.1":
    case "0.4.0":
      return formatJson({
        cniVersion: version,
        ips: filled(
          result.addresses.map(({ family, address, gateway }) => ({
            version: String(family),
            address,
            gateway,
          })),
        ),
        routes: filled(result.routes.map(routeInOrder)),
        dns: dnsInOrder(result.dns),
      });
    case "1.0.0":
    case "1.1.0":
      return formatJson({
        cniVersion: version,
        dns: dnsByName(result.dns),
        ips: filled(result.addresses.map(({ address, gateway }) => ({ address, gateway }))),
        routes: filled(result.routes.map(routeByName)),
      });
  }
}

/** The first address of a family with the routes of that family, as before 0.3.0. */
function onlyAddress(result: Result, family: 4 | 6): object | undefined {
  const found = result.addresses.find((address) => address.family === family);
  if (found === undefined) return undefined;
  const routes = result.routes.filter((route) => route.family === family);
  return {
    ip: found.address,
    gateway: found.gateway,
    routes: filled(routes.map(({ dst, gw }) => ({ dst, gw }))),
  };
}

function routeInOrder({ dst, gw, mtu, advmss, priority, table, scope }: ResultRoute) {
  return {
    dst,
    gw,
    mtu: mtu || undefined,
    advmss: advmss || undefined,
    priority: priority || undefined,
    // An explicit 0 is printed for these two: 0 is a table and a scope.
    table,
    scope,
  };
}

function routeByName(route: ResultRoute): object {
  const { dst, gw, mtu, advmss, priority, scope, table } = routeInOrder(route);
  return { advmss, dst, gw, mtu, priority, scope, table };
}

function dnsInOrder({ nameservers, domain, search, options }: ResultDns) {
  return {
    nameservers: filled(nameservers),
    domain: domain || undefined,
    search: filled(search),
    options: filled(options),
  };
}

/** `undefined` where there is nothing to say. */
function dnsByName(dns: ResultDns): object | undefined {
  const { nameservers, domain, search, options } = dnsInOrder(dns);
  const byName = { domain, nameservers, options, search };
  return Object.values(byName).some(Boolean) ? byName : undefined;
}

function filled<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
