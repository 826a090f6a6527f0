/** The routers of a node, as its tables of routes show them. */

import { test } from "tap";
import { formatAddress } from "../../../src/ipam/address.ts";
import {
  type NextHop,
  nextHopsOfIPv4,
  nextHopsOfIPv6,
} from "../../../src/operator/facts/next-hops.ts";

const heading =
  "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT   \n";

/** A table as the kernel writes it: each line is filled up with blanks. */
function tableOf(...routes: readonly (readonly [string, string, string])[]): string {
  const lines = routes.map(([destination, gateway, mask]) =>
    `eth0\t${destination}\t${gateway}\t0003\t0\t0\t100\t${mask}\t0\t0\t0`.padEnd(127),
  );
  return `${heading}${lines.join("\n")}\n`;
}

function textOf(hops: readonly NextHop[]): readonly string[] {
  return hops.map(({ address, interfaceName }) => `${formatAddress(address)} ${interfaceName}`);
}

test("the next hops of IPv4 on s390x", async (t) => {
  const table = tableOf(["00000000", "C0A80201", "00000000"], ["C0A80200", "00000000", "FFFFFF00"]);
  t.same(textOf(nextHopsOfIPv4(table)), ["192.168.2.1 eth0"]);
});

test("the next hops of IPv6", async (t) => {
  const none = "0".repeat(32);
  const line = (hop: string): string =>
    `${none} 00 ${none} 00 ${hop} 00000400 00000002 00000000 00000003     eth0\n`;
  const table = `${line(none)}${line(`fd00${"0".repeat(27)}1`)}`;
  t.same(textOf(nextHopsOfIPv6(table)), ["fd00::1 eth0"]);
});
