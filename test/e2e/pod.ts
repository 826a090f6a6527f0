/** A pod as the network sees it: a network namespace, nothing running in it. */

import { execFileSync, spawnSync } from "node:child_process";
import type { Attachment } from "../blackbox/runtime-call.ts";

/** How long a pod tries to reach an address: IPv6 waits for duplicate address detection. */
const patience = "10";

/** A network namespace of the name of its container id. */
export class Pod implements Attachment {
  readonly containerId: string;
  readonly interfaceName = "eth0";
  readonly netns: string;

  constructor(containerId: string) {
    execFileSync("ip", ["netns", "add", containerId]);
    this.containerId = containerId;
    this.netns = `/run/netns/${containerId}`;
  }

  /** Whether an address answers a ping from inside the pod. */
  reaches(address: string): boolean {
    const ping = ["ping", "-n", "-c", "1", "-i", "0.2", "-w", patience, address];
    return spawnSync("ip", ["netns", "exec", this.containerId, ...ping]).status === 0;
  }

  /** The addresses on the pod's interface, without link-local ones; none if it has no interface. */
  addresses(): string[] {
    const show = ["-json", "-netns", this.containerId, "address", "show"];
    const links: readonly Link[] = JSON.parse(execFileSync("ip", show, { encoding: "utf8" }));
    return links
      .filter(({ ifname }) => ifname === this.interfaceName)
      .flatMap(({ addr_info }) => addr_info)
      .filter(({ scope }) => scope === "global")
      .map(({ local, prefixlen }) => `${local}/${prefixlen}`);
  }

  /** Takes the namespace away. */
  remove(): void {
    execFileSync("ip", ["netns", "delete", this.containerId]);
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
