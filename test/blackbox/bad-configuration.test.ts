// test: each executable
/** Bad input in the network configuration: one error object on standard output, nothing changed. */

import { join } from "node:path";
import { test } from "tap";
import { populate, scratchDirectory } from "../harness/data-directory.ts";
import { attachmentCall, configuration, type JsonObject } from "../harness/runtime-call.ts";
import {
  exactly,
  here,
  quote,
  refuses,
  subnet,
  validCall,
  withInput,
  withIpam,
} from "./refusal.ts";
import { shortSample } from "./short-sample.ts";

const verbs = ["ADD", "CHECK"] as const;

const typeError = /^json: cannot unmarshal /;

const badDocuments: readonly [string, JsonObject, string | RegExp][] = [
  ["no ipam section", { ipam: null }, exactly("IPAM config missing 'ipam' key")],
  ["a string for ipam", { ipam: "x" }, typeError],
  ["a list for ipam", { ipam: [] }, typeError],
  ["a number for ipam", { ipam: 5 }, typeError],
  ["false for ipam", { ipam: false }, typeError],
  ["a string for args", { args: "x" }, typeError],
  ["a list for args.cni", { args: { cni: [] } }, typeError],
  ["a string for args.cni.ips", { args: { cni: { ips: "10.0.0.9" } } }, typeError],
  ["a number in args.cni.ips", { args: { cni: { ips: [5] } } }, typeError],
  [
    "null in args.cni.ips",
    { args: { cni: { ips: [null] } } },
    exactly("cannot understand ip: IP <nil> not v4 nor v6"),
  ],
  [
    "an empty text in args.cni.ips",
    { args: { cni: { ips: [""] } } },
    exactly("cannot understand ip: IP <nil> not v4 nor v6"),
  ],
  [
    "garbage in args.cni.ips",
    { args: { cni: { ips: ["bad"] } } },
    exactly("invalid IP address bad"),
  ],
  ["a string for runtimeConfig", { runtimeConfig: "x" }, typeError],
  ["an object for runtimeConfig.ips", { runtimeConfig: { ips: {} } }, typeError],
  [
    "null in runtimeConfig.ips",
    { runtimeConfig: { ips: ["10.0.0.9", null] } },
    exactly("cannot understand ip: IP <nil> not v4 nor v6"),
  ],
  [
    "a zone in runtimeConfig.ips",
    { runtimeConfig: { ips: ["fe80::1%eth0"] } },
    exactly("invalid IP address fe80::1%eth0"),
  ],
  [
    "a prefix that is too long in runtimeConfig.ips",
    { runtimeConfig: { ips: ["10.0.0.9/33"] } },
    exactly("invalid IP address 10.0.0.9/33"),
  ],
  ["a string for runtimeConfig.ipRanges", { runtimeConfig: { ipRanges: "x" } }, typeError],
  [
    "ranges without sets in runtimeConfig.ipRanges",
    { runtimeConfig: { ipRanges: [subnet] } },
    typeError,
  ],
  [
    "an empty set in runtimeConfig.ipRanges",
    { runtimeConfig: { ipRanges: [[]] } },
    exactly("invalid range set 0: empty range set"),
  ],
  [
    "the same range in runtimeConfig and ipam",
    { runtimeConfig: { ipRanges: [[subnet]] } },
    exactly("range set 0 overlaps with 1"),
  ],
  ["a string for gcOnly", { gcOnly: "yes" }, typeError],
];

const badIpam: readonly [string, JsonObject, string | RegExp][] = [
  ["a number for type", { type: 5 }, typeError],
  ["a number for name", { name: 5 }, typeError],
  ["a number for dataDir", { dataDir: 5 }, typeError],
  ["a list for resolvConf", { resolvConf: [] }, typeError],
  ["a number for subnet", { subnet: 5 }, typeError],
  ["a string for ranges", { ranges: "x" }, typeError],
  ["ranges without sets", { ranges: [{ subnet: "10.9.0.0/24" }] }, typeError],
  ["a string for a range", { ranges: [["10.9.0.0/24"]] }, typeError],
  ["a number for a range's subnet", { ranges: [[{ subnet: 5 }]] }, typeError],
  [
    "a list for a range's gateway",
    { ranges: [[{ subnet: "10.9.0.0/24", gateway: [] }]] },
    typeError,
  ],
  ["an object for routes", { routes: {} }, typeError],
  ["a string for a route", { routes: ["0.0.0.0/0"] }, typeError],
  ["a number for a route's dst", { routes: [{ dst: 5 }] }, typeError],
  ["a number for a route's gw", { routes: [{ dst: "0.0.0.0/0", gw: 5 }] }, typeError],
  ["a string for a route's mtu", { routes: [{ dst: "0.0.0.0/0", mtu: "1500" }] }, typeError],
  ["a fraction for a route's mtu", { routes: [{ dst: "0.0.0.0/0", mtu: 1.5 }] }, typeError],
  [
    "a huge number for a route's table",
    { routes: [{ dst: "0.0.0.0/0", table: 1e300 }] },
    typeError,
  ],
  ["true for a route's scope", { routes: [{ dst: "0.0.0.0/0", scope: true }] }, typeError],
  ["null for a route", { routes: [null] }, exactly("invalid CIDR address: ")],
  ["a route without dst", { routes: [{ gw: "10.0.0.1" }] }, exactly("invalid CIDR address: ")],
  ["null for a route's dst", { routes: [{ dst: null }] }, exactly("invalid CIDR address: ")],
  [
    "an address for a route's dst",
    { routes: [{ dst: "10.0.0.1" }] },
    exactly("invalid CIDR address: 10.0.0.1"),
  ],
  [
    "garbage for a route's gw",
    { routes: [{ dst: "0.0.0.0/0", gw: "x" }] },
    exactly("invalid IP address: x"),
  ],
  ["no subnet", { subnet: null }, exactly("invalid CIDR address: ")],
  ["an empty subnet", { subnet: "" }, exactly("invalid CIDR address: ")],
  ...[
    "10.0.0.0",
    "10.0.0.0/",
    "/24",
    "10.0.0/24",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/+24",
    "10.0.0.0/24 ",
    " 10.0.0.0/24",
    "10.0.0.0/0x18",
    "010.0.0.0/24",
    "10.0.0.256/24",
    "10.0.0.0.0/24",
    "0x0a.0.0.0/24",
    "2001:db8::/129",
    "2001:db8::%eth0/64",
    "[2001:db8::]/64",
    "2001:db8:::/64",
    "2001:00db8::/64",
    "1:2:3:4:5:6:7:8:9/64",
    "10.0.0.0/24/24",
    "１０.0.0.0/24",
    "10.0.0.0/24\0",
  ].map((text): [string, JsonObject, RegExp] => [
    `the subnet ${quote(text)}`,
    { subnet: text },
    exactly(`invalid CIDR address: ${text}`),
  ]),
  [
    "a subnet with host bits",
    { subnet: "10.0.0.7/24" },
    exactly(
      "invalid range set 0: Network has host bits set. For a subnet mask of length 24 the network address is 10.0.0.0",
    ),
  ],
  [
    "a mapped subnet",
    { subnet: "::ffff:10.0.0.0/120" },
    exactly("invalid range set 0: IPNet IP and Mask version mismatch"),
  ],
  ["an empty range set", { ranges: [[]] }, exactly("invalid range set 1: empty range set")],
  ["null for a range set", { ranges: [null] }, exactly("invalid range set 1: empty range set")],
  [
    "null for a range",
    { ranges: [[null]] },
    exactly("invalid range set 1: IP <nil> not v4 nor v6"),
  ],
  [
    "a range without a subnet",
    { ranges: [[{ rangeStart: "10.9.0.1" }]] },
    exactly("invalid range set 1: IP <nil> not v4 nor v6"),
  ],
  [
    "two families in one set",
    { ranges: [[{ subnet: "10.9.0.0/24" }, { subnet: "2001:db8::/64" }]] },
    exactly("invalid range set 1: mixed address families"),
  ],
  [
    "overlapping ranges in a set",
    { ranges: [[{ subnet: "10.9.0.0/23" }, { subnet: "10.9.1.0/24" }]] },
    exactly("invalid range set 1: subnets 10.9.0.1-10.9.1.254 and 10.9.1.1-10.9.1.254 overlap"),
  ],
  [
    "overlapping range sets",
    { ranges: [[{ subnet: "10.0.0.0/25" }]] },
    exactly("range set 0 overlaps with 1"),
  ],
  ["garbage for the gateway", { gateway: "x" }, exactly("invalid IP address: x")],
  [
    "a CIDR for rangeStart",
    { rangeStart: "10.0.0.5/24" },
    exactly("invalid IP address: 10.0.0.5/24"),
  ],
  [
    "a leading zero in rangeEnd",
    { rangeEnd: "10.0.0.09" },
    exactly("invalid IP address: 10.0.0.09"),
  ],
  [
    "rangeStart outside",
    { rangeStart: "10.0.1.5" },
    exactly("invalid range set 0: RangeStart 10.0.1.5 not in network 10.0.0.0/24"),
  ],
  [
    "rangeStart above rangeEnd",
    { rangeStart: "10.0.0.9", rangeEnd: "10.0.0.5" },
    exactly("invalid range set 0: RangeStart 10.0.0.9 not in network 10.0.0.0/24"),
  ],
  [
    "rangeStart above the default end",
    { rangeStart: "10.0.0.255" },
    exactly("invalid range set 0: RangeStart 10.0.0.255 not in network 10.0.0.0/24"),
  ],
  [
    "rangeStart of the other family",
    { rangeStart: "2001:db8::1" },
    exactly("invalid range set 0: RangeStart 2001:db8::1 not in network 10.0.0.0/24"),
  ],
  [
    "rangeEnd outside",
    { rangeEnd: "10.0.1.5" },
    exactly("invalid range set 0: RangeEnd 10.0.1.5 not in network 10.0.0.0/24"),
  ],
  [
    "rangeEnd below the default start",
    { rangeEnd: "10.0.0.0" },
    exactly("invalid range set 0: RangeEnd 10.0.0.0 not in network 10.0.0.0/24"),
  ],
  ["a negative lockTimeoutSeconds", { lockTimeoutSeconds: -1 }, typeError],
  ["a string for lockTimeoutSeconds", { lockTimeoutSeconds: "30" }, typeError],
  ["an unknown exhaustedStatus", { exhaustedStatus: "maybe" }, "exhaustedStatus"],
  ["a number for exhaustedStatus", { exhaustedStatus: 5 }, typeError],
];

for (const command of verbs) {
  for (const [what, top, message] of shortSample(badDocuments)) {
    test(`${command} with ${what}`, (t) => refuses(t, validCall(command, top), 999, message));
  }
  for (const [what, members, message] of shortSample(badIpam)) {
    test(`${command} with ${what} in ipam`, (t) =>
      refuses(t, withIpam(members, command), 999, message));
  }
}

const badPlaces: readonly [string, JsonObject, string | RegExp][] = [
  [
    "a dataDir below a file",
    { dataDir: `${here}/resolv.conf` },
    exactly(`mkdir ${here}/resolv.conf: not a directory`),
  ],
  ["a dataDir with NUL", { dataDir: `${here}/a\0b` }, /^mkdir .*: invalid argument$/],
  [
    "a dataDir whose name is too long",
    { dataDir: `${here}/${"d".repeat(300)}` },
    /^mkdir .*: file name too long$/,
  ],
  [
    "a dataDir in which the kernel lets nobody make anything",
    { dataDir: "/proc/none" },
    exactly("mkdir /proc/none: no such file or directory"),
  ],
  [
    "a resolvConf that does not exist",
    { resolvConf: `${here}/none` },
    exactly(`open ${here}/none: no such file or directory`),
  ],
  [
    "a resolvConf that is a directory",
    { resolvConf: here },
    exactly(`read ${here}: is a directory`),
  ],
  ["a resolvConf with NUL", { resolvConf: "/etc\0" }, /^open \/etc.*: invalid argument$/],
];

for (const [what, members, message] of shortSample(badPlaces)) {
  test(`ADD with ${what}`, (t) => refuses(t, withIpam(members), 999, message));
}

for (const command of ["CHECK", "DEL"] as const) {
  test(`${command} with a dataDir that is a file`, (t) =>
    refuses(
      t,
      attachmentCall(
        command,
        { containerId: "c1" },
        configuration(here, { ...subnet, dataDir: `${here}/resolv.conf` }),
      ),
      999,
      exactly(`mkdir ${here}/resolv.conf: not a directory`),
    ));
}

test("ADD with a network name that is too long for a directory", (t) =>
  refuses(t, validCall("ADD", { name: "n".repeat(300) }), 999, /^mkdir .*: file name too long$/));

test("ADD with a line of 64 KiB in resolvConf", (t) => {
  const elsewhere = scratchDirectory(t);
  populate(elsewhere, [{ path: "resolv.conf", content: `# ${"x".repeat(65_536)}` }]);
  const call = withIpam({ resolvConf: join(elsewhere, "resolv.conf") });

  refuses(t, call, 999, exactly("bufio.Scanner: token too long"));
});

test("lone surrogates in texts are replaced, not passed on", (t) =>
  refuses(
    t,
    withInput(
      `{"cniVersion":"1.0.0","name":"net","ipam":{"dataDir":"${here}","subnet":"\\ud800"}}`,
    ),
    999,
    exactly("invalid CIDR address: \ufffd"),
  ));
