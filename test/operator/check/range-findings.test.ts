/** Ranges that are full, or nearly so, with what helps, and ranges that hand out the broadcast address. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { configure, configureNet, findingsOn, memoryNode } from "../memory-node.ts";

/** What is found where so many addresses are reserved, from 10.1.2.2 on. */
function foundWith(count: number, ipam: JsonObject): readonly string[] {
  const names = Array.from({ length: count }, (_, at) => `10.1.2.${at + 2}`);
  const machine = memoryNode(Object.fromEntries(names.map((name) => [name, `${name}\r\neth0`])));
  const plugins = [
    { type: "ptp", ipam: { type: "host-local", ...ipam } },
    { type: "host-local", gcOnly: true, ipam: { type: "host-local", ...ipam } },
  ];
  configure(machine, "net.conflist", { cniVersion: "1.1.0", name: "net", plugins });
  return findingsOn(machine).map(
    ({ code, severity, message, commands: [command = ""] }) =>
      `${severity} ${code}: ${message}; ${command.slice(0, "host-local gc net".length)}`,
  );
}

const nearly =
  "warning range-nearly-full: 12 of 13 addresses of 10.1.2.1-10.1.2.14 are in use: 1 left; host-local gc net";

for (const [what, ipam, count, expected] of [
  ["a /28 with one left, which is one of thirteen", { subnet: "10.1.2.0/28" }, 12, [nearly]],
  [
    "one that is reserved for pods alone",
    { subnet: "10.1.2.0/29", reserved: { "10.1.2.0/29": "default/db-0" } },
    0,
    [],
  ],
] as const) {
  test(`${what}: ${expected.length === 0 ? "nothing" : "found"}`, async (t) => {
    t.same(foundWith(count, ipam), expected);
  });
}

const taken = "5 of 5 addresses of 10.1.2.1-10.1.2.6 are in use: the next pod gets none";
const idle =
  'holders run no process: as a rule, their DEL fails, see "failed (delete)" in the runtime\'s log';

for (const [what, running, expected, remedy, count] of [
  ["of which two fill a range", 3, `${taken}; 2 of 5 ${idle}`, /^see what fails the DELs/, 1],
  ["of which there is none", 5, `${taken}; all 5 are of living containers`, /is too small for/, 0],
] as const) {
  test(`sandboxes without a process, ${what}, in a full range`, async (t) => {
    const addresses = [2, 3, 4, 5, 6].map((last) => `10.1.2.${last}`);
    const machine = memoryNode(Object.fromEntries(addresses.map((one) => [one, `${one}\r\neth0`])));
    configureNet(machine, "10.1.2.0/29");
    machine.wait(11 * 60_000);
    const namespaces = addresses.map((one, at) => ({ namespace: 50 + at, addresses: [one] }));
    const findings = findingsOn(machine, {
      kernel: {
        processes: Object.fromEntries(namespaces.slice(0, running).map((one, at) => [at + 7, one])),
        mounted: Object.fromEntries(
          namespaces.map(({ namespace }) => [`/run/netns/${namespace}`, namespace]),
        ),
        addresses: Object.fromEntries(
          namespaces.map(({ namespace, addresses }) => [namespace, addresses]),
        ),
      },
    }).filter(({ code }) => code === "range-full");
    t.same(
      findings.map(({ message }) => message),
      [expected],
    );
    t.match(findings[0]?.remedy, remedy);
    t.equal(findings[0]?.commands.length, count, "a command where something may be released");
  });
}

const broadcast =
  "10.1.2.15, which the range 10.1.2.2-10.1.2.15 hands out, is the broadcast address of its subnet: nobody there reaches the pod that gets it";

for (const [what, ipam, expected] of [
  ["that of the subnet", { rangeEnd: "10.1.2.15" }, [broadcast]],
  ["the gateway", { rangeEnd: "10.1.2.15", gateway: "10.1.2.15" }, []],
  ["none in a subnet of two addresses", { subnet: "10.1.2.0/31", rangeStart: "10.1.2.0" }, []],
] as const) {
  test(`the broadcast address is ${what}: ${expected.length === 0 ? "nothing" : "found"}`, async (t) => {
    const machine = memoryNode({});
    configure(machine, "net.conf", {
      ...{ cniVersion: "1.0.0", name: "net", type: "ptp" },
      ipam: { type: "host-local", subnet: "10.1.2.0/28", rangeStart: "10.1.2.2", ...ipam },
    });
    const findings = findingsOn(machine);
    t.same(
      findings.map(({ message }) => message),
      expected,
    );
    for (const one of findings) {
      t.match(one, {
        code: "broadcast-address",
        severity: "warning",
        remedy: "leave rangeEnd out, or exclude the address (ipam.exclude)",
      });
    }
  });
}
