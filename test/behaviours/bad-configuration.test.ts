// test: each executable, one if short
/** ADD and CHECK with a bad network configuration: one error object that names the place, and nothing changed. */

import type { Machine } from "../harness/machine.ts";
import type { CallOptions } from "../harness/network.ts";
import { behaviour, changesNothing, fails } from "./behaviour.ts";

const subnet = { subnet: "10.0.0.0/24" };
const noAddress = "cannot understand ip: IP <nil> not v4 nor v6";

function refused(
  what: unknown,
  options: CallOptions<Machine>,
  isRight: (message: string) => boolean,
  place: string | RegExp = /./,
): void {
  const files = { "10.0.0.2": "c9\r\neth0", "last_reserved_ip.0": "10.0.0.2" };
  const shown = JSON.stringify(what).replaceAll(/[^ -~]/g, "?");
  behaviour(`ADD and CHECK refuse ${shown}`, { ipam: subnet, files }, (t, network) => {
    changesNothing(t, network, () => {
      for (const answer of [network.add("c1", options), network.check("c1", options)]) {
        fails(t, answer, 999);
        const message = answer.error?.msg ?? "";
        t.ok(isRight(message), message);
        t.match(`${message} ${answer.error?.details}`, place);
        t.equal(answer.stderr, "");
      }
    });
  });
}

/** Members of `ipam` beside a subnet, the message, which is the Go plugin's for its own keys, and the place of the value. */
const badIpam: readonly (readonly [members: object, message: string, place?: string])[] = [
  [{ subnet: null }, "invalid CIDR address: ", "ipam.subnet"],
  [{ subnet: "" }, "invalid CIDR address: ", "ipam.subnet"],
  [{ subnet: "10.0.0.0" }, "invalid CIDR address: 10.0.0.0", "ipam.subnet"],
  [{ subnet: "10.0.0.0/24\0" }, "invalid CIDR address: 10.0.0.0/24\0"],
  [{ subnet: "１０.0.0.0/24" }, "invalid CIDR address: １０.0.0.0/24"],
  [{ subnet: "2001:db8::%eth0/64" }, "invalid CIDR address: 2001:db8::%eth0/64"],
  // Lone surrogates are replaced, not passed on.
  [{ subnet: "\ud800" }, "invalid CIDR address: \ufffd"],
  [
    { subnet: "10.0.0.7/24" },
    "invalid range set 0: Network has host bits set. For a subnet mask of length 24 the network address is 10.0.0.0",
    "ipam.subnet",
  ],
  [
    { subnet: "::ffff:10.0.0.0/120" },
    "invalid range set 0: IPNet IP and Mask version mismatch",
    "ipam.subnet",
  ],
  [{ gateway: "x" }, "invalid IP address: x", "ipam.gateway"],
  [{ subnet: undefined, gateway: "bad" }, "invalid IP address: bad", "ipam.gateway"],
  [{ rangeStart: "10.0.0.5/24" }, "invalid IP address: 10.0.0.5/24", "ipam.rangeStart"],
  [{ rangeEnd: "10.0.0.09" }, "invalid IP address: 10.0.0.09", "ipam.rangeEnd"],
  ...["10.0.1.5", "10.0.0.255", "2001:db8::1"].map(
    (rangeStart) =>
      [
        { rangeStart },
        `invalid range set 0: RangeStart ${rangeStart} not in network 10.0.0.0/24`,
        "ipam.rangeStart",
      ] as const,
  ),
  [
    { rangeStart: "10.0.0.9", rangeEnd: "10.0.0.5" },
    "invalid range set 0: RangeStart 10.0.0.9 not in network 10.0.0.0/24",
  ],
  ...["10.0.1.5", "10.0.0.0"].map(
    (rangeEnd) =>
      [
        { rangeEnd },
        `invalid range set 0: RangeEnd ${rangeEnd} not in network 10.0.0.0/24`,
        "ipam.rangeEnd",
      ] as const,
  ),
  [{ ranges: [[]] }, "invalid range set 1: empty range set", "ipam.ranges[0]"],
  [{ ranges: [null] }, "invalid range set 1: empty range set", "ipam.ranges[0]"],
  [{ ranges: [[null]] }, "invalid range set 1: IP <nil> not v4 nor v6", "ipam.ranges[0][0].subnet"],
  [
    { ranges: [[{ rangeStart: "10.9.0.1" }]] },
    "invalid range set 1: IP <nil> not v4 nor v6",
    "ipam.ranges[0][0].subnet",
  ],
  [
    { ranges: [[{ subnet: "10.9.0.0/24" }], [{ subnet: "x" }]] },
    "invalid CIDR address: x",
    "ipam.ranges[1][0].subnet",
  ],
  [
    { ranges: [[{ subnet: "10.9.0.0/24" }, { subnet: "2001:db8::/64" }]] },
    "invalid range set 1: mixed address families",
    "ipam.ranges[0]",
  ],
  [
    { ranges: [[{ subnet: "10.9.0.0/23" }, { subnet: "10.9.1.0/24" }]] },
    "invalid range set 1: subnets 10.9.0.1-10.9.1.254 and 10.9.1.1-10.9.1.254 overlap",
    "ipam.ranges[0]",
  ],
  [{ ranges: [[{ subnet: "10.0.0.0/25" }]] }, "range set 0 overlaps with 1", "ipam.ranges[0]"],
  ...[null, { gw: "10.0.0.1" }, { dst: null }].map(
    (route) => [{ routes: [route] }, "invalid CIDR address: ", "ipam.routes[0].dst"] as const,
  ),
  [
    { routes: [{ dst: "::/0" }, { dst: "10.0.0.1" }] },
    "invalid CIDR address: 10.0.0.1",
    "ipam.routes[1].dst",
  ],
  [{ routes: [{ dst: "0.0.0.0/0", gw: "x" }] }, "invalid IP address: x", "ipam.routes[0].gw"],
  ...["", "router", "10.0.0.0/33", "10.0.0.3-10.0.0.4"].map(
    (entry) =>
      [
        { exclude: ["10.0.0.9", entry] },
        `invalid IP address: ${entry}`,
        "ipam.exclude[1]",
      ] as const,
  ),
  ...["", "router", "10.0.0.0/33", "10.0.0.3-10.0.0.4"].map(
    (entry) =>
      [
        { reserved: { "10.0.0.9": null, [entry]: null } },
        `invalid IP address: ${entry}`,
        `ipam.reserved["${entry}"]`,
      ] as const,
  ),
  ...["", "db-0", "default/", "/db-0", "default/db-0/", "default/db 0"].map(
    (pod) =>
      [
        { reserved: { "10.0.0.9": pod } },
        `invalid reserved: ${pod}`,
        'ipam.reserved["10.0.0.9"]',
      ] as const,
  ),
  [
    { reserved: { "10.0.0.9": null }, exclude: ["10.0.0.8/30"] },
    "invalid reserved: 10.0.0.9 is in two entries",
    'ipam.reserved["10.0.0.9"] and ipam.exclude',
  ],
  [{ exhaustedStatus: "Ready" }, "invalid exhaustedStatus: Ready", "ipam.exhaustedStatus"],
  [{ repeatedAdd: "Same" }, "invalid repeatedAdd: Same", "ipam.repeatedAdd"],
  [{ repeatedAdd: "" }, "invalid repeatedAdd: ", "ipam.repeatedAdd"],
  [{ sticky: "node" }, "invalid sticky: node", "ipam.sticky"],
  [{ sticky: "" }, "invalid sticky: ", "ipam.sticky"],
  [{ sticky: {} }, "invalid sticky: no argument", "ipam.sticky.by"],
  [{ sticky: { by: [] } }, "invalid sticky: no argument", "ipam.sticky.by"],
  [{ sticky: { by: ["K8S_POD_NAME", ""] } }, "invalid sticky: no argument", "ipam.sticky.by"],
];

for (const [members, message, place] of badIpam) {
  refused(members, { ipam: members }, (found) => found === message, place);
}

/** Top-level members, the message, and the place of the value. */
const badMembers: readonly (readonly [members: object, message: string, place?: string])[] = [
  [{ ipam: null }, "IPAM config missing 'ipam' key", "ipam"],
  [{ args: { cni: { ips: [null] } } }, noAddress, "args.cni.ips[0]"],
  [{ args: { cni: { ips: [""] } } }, noAddress, "args.cni.ips[0]"],
  [{ args: { cni: { ips: ["bad"] } } }, "invalid IP address bad", "args.cni.ips[0]"],
  [{ runtimeConfig: { ips: ["10.0.0.9", null] } }, noAddress, "runtimeConfig.ips[1]"],
  [
    { runtimeConfig: { ips: ["fe80::1%eth0"] } },
    "invalid IP address fe80::1%eth0",
    "runtimeConfig.ips[0]",
  ],
  [{ runtimeConfig: { ips: ["10.0.0.9/33"] } }, "invalid IP address 10.0.0.9/33"],
  [
    { runtimeConfig: { ipRanges: [[]] } },
    "invalid range set 0: empty range set",
    "runtimeConfig.ipRanges[0]",
  ],
  [
    { runtimeConfig: { ipRanges: [[{ subnet: "10.9.0.1/31" }]] } },
    "invalid range set 0: Network has host bits set. For a subnet mask of length 31 the network address is 10.9.0.0",
    "runtimeConfig.ipRanges[0][0].subnet",
  ],
  [{ runtimeConfig: { ipRanges: [[subnet]] } }, "range set 0 overlaps with 1", "(ipam)"],
];

for (const [members, message, place] of badMembers) {
  refused(members, { top: members }, (found) => found === message, place);
}

/** A value of the wrong type in `ipam`, its kind, and its place there. */
const badTypes: readonly (readonly [members: object, kind: string, place: string])[] = [
  ...["type", "name", "dataDir", "resolvConf", "rangesFile", "subnet", "gateway"].map(
    (key) => [{ [key]: 5 }, "number", key] as const,
  ),
  ...["exhaustedStatus", "repeatedAdd", "reclaim", "sticky", "history"].map(
    (key) => [{ [key]: 1 }, "number", key] as const,
  ),
  [{ rangeStart: {} }, "object", "rangeStart"],
  [{ rangeEnd: [] }, "array", "rangeEnd"],
  [{ ranges: "x" }, "string", "ranges"],
  [{ ranges: [{ subnet: "10.9.0.0/24" }] }, "object", "ranges[0]"],
  [{ ranges: [[{ subnet: "10.9.0.0/24" }, "x"]] }, "string", "ranges[0][1]"],
  [{ ranges: [[{ subnet: "10.9.0.0/24" }], [{ subnet: 5 }]] }, "number", "ranges[1][0].subnet"],
  [{ ranges: [[{ subnet: "10.9.0.0/24", gateway: [] }]] }, "array", "ranges[0][0].gateway"],
  [{ routes: {} }, "object", "routes"],
  [{ routes: ["0.0.0.0/0"] }, "string", "routes[0]"],
  [{ routes: [{ dst: 5 }] }, "number", "routes[0].dst"],
  [{ routes: [{ dst: "0.0.0.0/0", gw: 5 }] }, "number", "routes[0].gw"],
  [{ routes: [{ dst: "0.0.0.0/0", mtu: "1500" }] }, "string", "routes[0].mtu"],
  [{ routes: [{ dst: "0.0.0.0/0", mtu: 1.5 }] }, "number 1.5", "routes[0].mtu"],
  [{ routes: [{ dst: "0.0.0.0/0", table: 1e300 }] }, "number 1", "routes[0].table"],
  [{ routes: [{ dst: "0.0.0.0/0", scope: true }] }, "bool", "routes[0].scope"],
  [{ exclude: "10.0.0.3" }, "string", "exclude"],
  [{ exclude: [5] }, "number", "exclude[0]"],
  [{ exclude: [null] }, "null", "exclude[0]"],
  [{ reserved: ["10.0.0.3"] }, "array", "reserved"],
  [{ reserved: { "10.0.0.3": 5 } }, "number", 'reserved["10.0.0.3"]'],
  [{ reserved: { "10.0.0.3": ["a/b"] } }, "array", 'reserved["10.0.0.3"]'],
  ...["lockTimeoutSeconds", "reuseDelaySeconds", "stickySeconds"].flatMap((key) => [
    [{ [key]: -1 }, "number", key] as const,
    [{ [key]: "30" }, "string", key] as const,
    [{ [key]: true }, "bool", key] as const,
  ]),
  [{ history: "yes" }, "string", "history"],
  [{ history: [true] }, "array", "history"],
  ...[4095, 1e9, 5000.5].map(
    (maxBytes) => [{ history: { maxBytes } }, "number", "history.maxBytes"] as const,
  ),
  [{ history: { maxBytes: "4096" } }, "string", "history.maxBytes"],
];

for (const [members, kind, place] of badTypes) {
  refused(members, { ipam: members }, (found) => isTypeError(found, kind, `ipam.${place}`));
}

/** The same of top-level members. */
const badTopTypes: readonly (readonly [members: object, kind: string, place: string])[] = [
  [{ ipam: "x" }, "string", "ipam"],
  [{ ipam: 5 }, "number", "ipam"],
  [{ ipam: [] }, "array", "ipam"],
  [{ ipam: false }, "bool", "ipam"],
  [{ args: "x" }, "string", "args"],
  [{ args: { cni: [] } }, "array", "args.cni"],
  [{ args: { cni: { ips: "10.0.0.9" } } }, "string", "args.cni.ips"],
  [{ args: { cni: { ips: ["10.0.0.9", 5] } } }, "number", "args.cni.ips[1]"],
  [{ runtimeConfig: "x" }, "string", "runtimeConfig"],
  [{ runtimeConfig: { ips: {} } }, "object", "runtimeConfig.ips"],
  [{ runtimeConfig: { ips: [5] } }, "number", "runtimeConfig.ips[0]"],
  [{ runtimeConfig: { ipRanges: "x" } }, "string", "runtimeConfig.ipRanges"],
  [{ runtimeConfig: { ipRanges: [subnet] } }, "object", "runtimeConfig.ipRanges[0]"],
  [{ gcOnly: "yes" }, "string", "gcOnly"],
];

for (const [members, kind, place] of badTopTypes) {
  refused(members, { top: members }, (found) => isTypeError(found, kind, place));
}

/** Only the beginning is the Go plugin's. */
function isTypeError(message: string, kind: string, place: string): boolean {
  return (
    message.startsWith(`json: cannot unmarshal ${kind}`) &&
    message.includes(` into ${place}: expected `)
  );
}
