// test: each executable, one if short
/** Requirements on ADD that no recording of the Go plugin shows. */

import { behaviour, dualStack, fails } from "./behaviour.ts";

behaviour(
  "ADD in an exhausted range counts its addresses and says what to do",
  {},
  (t, network) => {
    for (const id of ["c1", "c2", "c3", "c4", "c5"]) t.equal(network.add(id).exitCode, 0);

    const refused = network.add("c6");

    fails(
      t,
      refused,
      999,
      /^failed to allocate for range 0: no IP addresses available in range set: 198\.51\.100\.1-198\.51\.100\.6$/,
    );
    t.match(refused.error?.details, /\b5 of 5\b.* `host-local check net/);
  },
);

behaviour(
  "ADD that cannot write a cursor keeps no reservation, in no set",
  { ipam: dualStack, files: { "last_reserved_ip.1/": "" } },
  (t, network) => {
    fails(
      t,
      network.add("c1"),
      999,
      /^failed to allocate for range 1: .*last_reserved_ip\.1: is a/,
    );
    t.equal(network.add("c1").error?.details, undefined, "the failure is told once");
    t.same(network.reserved(), []);
  },
);

behaviour(
  "ADD of several requested addresses in a set reserves the first and names the rest in order",
  {},
  (t, network) => {
    const refused = network.add("c1", {
      cniArgs: "IP=198.51.100.5",
      top: {
        args: { cni: { ips: ["198.51.100.4", "203.0.113.9"] } },
        runtimeConfig: { ips: ["198.51.100.3", "203.0.113.8"] },
      },
    });

    fails(
      t,
      refused,
      999,
      "failed to allocate all requested IPs: 198.51.100.4 203.0.113.9 198.51.100.3 203.0.113.8",
    );
    t.same(network.reserved(), []);
    t.equal(network.cursor(), "198.51.100.5", "the first one had been reserved");
  },
);

behaviour(
  "ADD ignores white space around the cursor",
  { files: { "last_reserved_ip.0": " 198.51.100.3\r\n" } },
  (t, network) => {
    t.same(network.add("c1").addresses, ["198.51.100.4"]);
  },
);

behaviour("ADD keeps family and order of addresses below ::/96", {}, (t, network) => {
  for (const [subnet, first, second] of [
    ["::100:0/120", "::100:2", "::100:3"],
    ["::/120", "::2", "::3"],
    ["64:ff9b::/96", "64:ff9b::2", "64:ff9b::3"],
  ] as const) {
    for (const [id, address] of [
      ["c1", first],
      ["c2", second],
    ] as const) {
      t.same(network.add(id, { ipam: { subnet } }).addresses, [address]);
    }
  }
});

behaviour(
  "ADD reads the last of a repeated key, with nothing left of the earlier one",
  {
    ipam: {
      ranges: [[{ subnet: "203.0.113.0/24", gateway: "203.0.113.9" }]],
      Ranges: [[{ subnet: "198.51.100.0/24" }]],
    },
  },
  (t, network) => {
    const { ips } = JSON.parse(network.add("c1").stdout);

    t.strictSame(ips, [{ address: "198.51.100.2/24", gateway: "198.51.100.1" }]);
  },
);

behaviour(
  "ADD hands out what an administrator has freed",
  { ipam: { subnet: "198.51.100.0/30" } },
  (t, network) => {
    network.add("c1");
    network.machine.remove("net/198.51.100.2");

    t.same(network.add("c2").addresses, ["198.51.100.2"]);
  },
);

behaviour(
  "ADD reads keys with a long s or a Kelvin sign as Go's decoder does",
  { ipam: { "\u017fubnet": "198.51.100.0/29", "loc\u212aTimeout\u017feconds": "10" } },
  (t, network) => {
    fails(t, network.add("c1"), 999, /into ipam\.lockTimeoutSeconds: expected/);
    const seconds = { "LOC\u212aTIMEOUT\u017fECONDS": 10 };
    t.same(network.add("c1", { ipam: seconds }).error?.msg ?? "", "");
  },
);
