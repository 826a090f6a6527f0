/** A network namespace, seen from inside. */

import { execFileSync, spawnSync } from "node:child_process";

/** How long to try an address, in seconds: IPv6 waits for duplicate address detection. */
const PATIENCE = 10;

/** A network namespace with the interface of an attachment in it. */
export class NetworkNamespace {
  readonly netns: string;
  readonly interfaceName: string;

  /**
   * @param netns the namespace's path
   * @param interfaceName the interface's name
   */
  constructor(netns: string, interfaceName = "eth0") {
    this.netns = netns;
    this.interfaceName = interfaceName;
  }

  /**
   * Whether an address answers a ping from inside.
   *
   * @param seconds how long it is tried; less for an address that must not answer
   */
  reaches(address: string, seconds = PATIENCE): boolean {
    const ping = ["ping", "-n", "-c", "1", "-i", "0.2", "-w", `${seconds}`, address];
    return spawnSync("nsenter", [`--net=${this.netns}`, ...ping]).status === 0;
  }

  /** The addresses on the interface, without link-local ones; none if there is no interface. */
  addresses(): string[] {
    const links: readonly Link[] = this.#show("address", "show");
    return links
      .filter(({ ifname }) => ifname === this.interfaceName)
      .flatMap(({ addr_info }) => addr_info)
      .filter(({ scope }) => scope === "global")
      .map(({ local, prefixlen }) => `${local}/${prefixlen}`);
  }

  /** The gateways of the IPv4 default routes. */
  defaultGateways(): string[] {
    const routes: readonly Route[] = this.#show("-4", "route", "show", "default");
    return routes.map(({ gateway = "" }) => gateway);
  }

  #show(...command: readonly string[]) {
    const ip = [`--net=${this.netns}`, "ip", "-json", ...command];
    return JSON.parse(execFileSync("nsenter", ip, { encoding: "utf8" }) || "[]");
  }
}

/** The part of `ip -json address show` that matters here. */
interface Link {
  readonly ifname: string;
  readonly addr_info: readonly {
    readonly local: string;
    readonly prefixlen: number;
    readonly scope: string;
  }[];
}

/** The part of `ip -json route show` that matters here. */
interface Route {
  readonly gateway?: string;
}
