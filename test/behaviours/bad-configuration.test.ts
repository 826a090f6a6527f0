// test: each executable, one if short
/**
 * ADD and CHECK with a bad network configuration: one error object that names the place, and nothing changed. Configurations
 * that the Go plugin refuses in the same words are in its recordings; test/configuration/keys.test.ts has a number for each
 * key.
 */

import type { CallOptions } from "../harness/network.ts";
import { behaviour, changesNothing, fails } from "./behaviour.ts";

const subnet = { subnet: "198.51.100.0/24" };
const noAddress = "cannot understand ip: IP <nil> not v4 nor v6";

/** A configuration by its members, in `ipam` or beside it. */
type Members = Pick<CallOptions, "ipam" | "top">;

/** The expected message, or a test that it must pass. */
type Message = string | ((found: string | undefined) => boolean);

function refused(
  what: string,
  rows: readonly (readonly [members: Members, message: Message, place?: string | RegExp])[],
): void {
  const files = { "198.51.100.2": "c9\r\neth0", "last_reserved_ip.0": "198.51.100.2" };
  behaviour(`ADD and CHECK refuse ${what}`, { ipam: subnet, files }, (t, network) => {
    changesNothing(t, network, () => {
      for (const [members, message, place = /./] of rows) {
        for (const answer of [network.add("c1", members), network.check("c1", members)]) {
          fails(t, answer, 999);
          const { error } = answer;
          const shown = `${JSON.stringify(members)}: ${error?.msg}`;
          t.ok(typeof message === "string" ? error?.msg === message : message(error?.msg), shown);
          t.match(`${error?.msg} ${error?.details}`, place, shown);
          t.equal(answer.stderr, "");
        }
      }
    });
  });
}

refused("ranges and routes that are none", [
  [{ ipam: { subnet: "198.51.100.0" } }, "invalid CIDR address: 198.51.100.0", "ipam.subnet"],
  [{ ipam: { subnet: "198.51.100.0/24\0" } }, "invalid CIDR address: 198.51.100.0/24\0"],
  [{ ipam: { subnet: "１０.0.0.0/24" } }, "invalid CIDR address: １０.0.0.0/24"],
  // Lone surrogates are replaced, not passed on.
  [{ ipam: { subnet: "\ud800" } }, "invalid CIDR address: \ufffd"],
  [
    { ipam: { subnet: "198.51.100.7/24" } },
    "invalid range set 0: Network has host bits set. For a subnet mask of length 24 the network address is 198.51.100.0",
    "ipam.subnet",
  ],
  [{ ipam: { subnet: undefined, gateway: "bad" } }, "invalid IP address: bad", "ipam.gateway"],
  [
    { ipam: { rangeStart: "198.51.100.255" } },
    "invalid range set 0: RangeStart 198.51.100.255 not in network 198.51.100.0/24",
    "ipam.rangeStart",
  ],
  [
    { ipam: { rangeEnd: "198.51.100.0" } },
    "invalid range set 0: RangeEnd 198.51.100.0 not in network 198.51.100.0/24",
    "ipam.rangeEnd",
  ],
  [{ ipam: { ranges: [null] } }, "invalid range set 1: empty range set", "ipam.ranges[0]"],
  [
    { ipam: { ranges: [[{ rangeStart: "203.0.113.1" }]] } },
    "invalid range set 1: IP <nil> not v4 nor v6",
    "ipam.ranges[0][0].subnet",
  ],
  [
    { ipam: { ranges: [[{ subnet: "203.0.113.0/24" }], [{ subnet: "x" }]] } },
    "invalid CIDR address: x",
    "ipam.ranges[1][0].subnet",
  ],
  [
    { top: { runtimeConfig: { ipRanges: [[]] } } },
    "invalid range set 0: empty range set",
    "runtimeConfig.ipRanges[0]",
  ],
  [{ top: { runtimeConfig: { ipRanges: [[subnet]] } } }, "range set 0 overlaps with 1", "(ipam)"],
  [{ ipam: { routes: [null] } }, "invalid CIDR address: ", "ipam.routes[0].dst"],
  [
    { ipam: { routes: [{ dst: "::/0" }, { dst: "198.51.100.1" }] } },
    "invalid CIDR address: 198.51.100.1",
    "ipam.routes[1].dst",
  ],
  [
    { ipam: { routes: [{ dst: "0.0.0.0/0", gw: "x" }] } },
    "invalid IP address: x",
    "ipam.routes[0].gw",
  ],
]);

refused("requested addresses that are none", [
  [{ top: { args: { cni: { ips: [null] } } } }, noAddress, "args.cni.ips[0]"],
  [{ top: { args: { cni: { ips: ["bad"] } } } }, "invalid IP address bad", "args.cni.ips[0]"],
  [{ top: { runtimeConfig: { ips: ["198.51.100.9", null] } } }, noAddress, "runtimeConfig.ips[1]"],
  [
    { top: { runtimeConfig: { ips: ["fe80::1%eth0"] } } },
    "invalid IP address fe80::1%eth0",
    "runtimeConfig.ips[0]",
  ],
]);

refused("values that a key of this plugin cannot have", [
  ...["", "router", "198.51.100.0/33", "198.51.100.3-198.51.100.4"].flatMap(
    (entry) =>
      [
        [
          { ipam: { exclude: ["198.51.100.9", entry] } },
          `invalid IP address: ${entry}`,
          "ipam.exclude[1]",
        ],
        [
          { ipam: { reserved: { "198.51.100.9": null, [entry]: null } } },
          `invalid IP address: ${entry}`,
          `ipam.reserved["${entry}"]`,
        ],
      ] as const,
  ),
  ...["", "db-0", "default/", "/db-0", "default/db-0/", "default/db 0"].map(
    (pod) =>
      [
        { ipam: { reserved: { "198.51.100.9": pod } } },
        `invalid reserved: ${pod}`,
        'ipam.reserved["198.51.100.9"]',
      ] as const,
  ),
  [
    { ipam: { exhaustedStatus: "Ready" } },
    "invalid exhaustedStatus: Ready",
    "ipam.exhaustedStatus",
  ],
  [{ ipam: { repeatedAdd: "Same" } }, "invalid repeatedAdd: Same", "ipam.repeatedAdd"],
  [{ ipam: { repeatedAdd: "" } }, "invalid repeatedAdd: ", "ipam.repeatedAdd"],
  [{ ipam: { sticky: "node" } }, "invalid sticky: node", "ipam.sticky"],
  [{ ipam: { sticky: {} } }, "invalid sticky: no argument", "ipam.sticky.by"],
  [
    { ipam: { sticky: { by: ["K8S_POD_NAME", ""] } } },
    "invalid sticky: no argument",
    "ipam.sticky.by",
  ],
  [{ ipam: { requested: { by: [] } } }, "invalid requested: no argument"],
]);

/** A value of the wrong type, its kind, and its place. */
const badTypes: readonly (readonly [members: Members, kind: string, place: string])[] = [
  [{ ipam: { rangeStart: {} } }, "object", "ipam.rangeStart"],
  [{ ipam: { rangeEnd: [] } }, "array", "ipam.rangeEnd"],
  [{ ipam: { ranges: [{ subnet: "203.0.113.0/24" }] } }, "object", "ipam.ranges[0]"],
  [{ ipam: { ranges: [[{ subnet: "203.0.113.0/24" }, "x"]] } }, "string", "ipam.ranges[0][1]"],
  [{ ipam: { ranges: [[], [{ subnet: 5 }]] } }, "number", "ipam.ranges[1][0].subnet"],
  [{ ipam: { routes: {} } }, "object", "ipam.routes"],
  [{ ipam: { routes: ["0.0.0.0/0"] } }, "string", "ipam.routes[0]"],
  [{ ipam: { routes: [{ dst: 5 }] } }, "number", "ipam.routes[0].dst"],
  [{ ipam: { routes: [{ dst: "0.0.0.0/0", gw: 5 }] } }, "number", "ipam.routes[0].gw"],
  [{ ipam: { routes: [{ dst: "0.0.0.0/0", mtu: 1.5 }] } }, "number 1.5", "ipam.routes[0].mtu"],
  [{ ipam: { routes: [{ dst: "::/0", table: 1e300 }] } }, "number 1", "ipam.routes[0].table"],
  [{ ipam: { routes: [{ dst: "0.0.0.0/0", scope: true }] } }, "bool", "ipam.routes[0].scope"],
  [{ ipam: { exclude: "198.51.100.3" } }, "string", "ipam.exclude"],
  [{ ipam: { exclude: [null] } }, "null", "ipam.exclude[0]"],
  [{ ipam: { reserved: ["198.51.100.3"] } }, "array", "ipam.reserved"],
  [{ ipam: { reserved: { "198.51.100.3": ["a/b"] } } }, "array", 'ipam.reserved["198.51.100.3"]'],
  ...["lockTimeoutSeconds", "reuseDelaySeconds", "stickySeconds"].flatMap((key) => [
    [{ ipam: { [key]: "30" } }, "string", `ipam.${key}`] as const,
    [{ ipam: { [key]: true } }, "bool", `ipam.${key}`] as const,
  ]),
  [{ ipam: { history: [true] } }, "array", "ipam.history"],
  ...[4095, 1e9, 5000.5].map(
    (maxBytes) => [{ ipam: { history: { maxBytes } } }, "number", "ipam.history.maxBytes"] as const,
  ),
  [{ top: { ipam: [] } }, "array", "ipam"],
  [{ top: { ipam: false } }, "bool", "ipam"],
  [{ top: { args: { cni: [] } } }, "array", "args.cni"],
  [{ top: { args: { cni: { ips: ["198.51.100.9", 5] } } } }, "number", "args.cni.ips[1]"],
  [{ top: { runtimeConfig: { ips: {} } } }, "object", "runtimeConfig.ips"],
  [{ top: { runtimeConfig: { ipRanges: "x" } } }, "string", "runtimeConfig.ipRanges"],
  [{ top: { runtimeConfig: { ipRanges: [subnet] } } }, "object", "runtimeConfig.ipRanges[0]"],
  [{ top: { gcOnly: "yes" } }, "string", "gcOnly"],
];

refused(
  "a value of the wrong type",
  badTypes.map(([members, kind, place]) => {
    // Only the beginning of the message is the Go plugin's.
    const isRight = (found = ""): boolean =>
      found.startsWith(`json: cannot unmarshal ${kind}`) &&
      found.includes(` into ${place}: expected `);
    return [members, isRight];
  }),
);
