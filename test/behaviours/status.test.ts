// test: each executable, one if short
/** STATUS says whether an ADD could be served (CNI SPEC 1.1.0, section 2, STATUS). */

import { behaviour, changesNothing, fails, five, succeeds } from "./behaviour.ts";

const strict = { exhaustedStatus: "unavailable" };
const further = { subnet: "203.0.113.0/24" };

function taken(...addresses: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(addresses.map((address) => [address, "c\r\neth0"]));
}

const four = ["198.51.100.3", "198.51.100.4", "198.51.100.5", "198.51.100.6"];
const all = taken("198.51.100.2", ...four);

behaviour(
  "STATUS is ready while an address is left, or nobody could tell",
  { ipam: {}, files: all },
  (t, network) => {
    changesNothing(t, network, () => {
      for (const ipam of [
        { ...strict, ranges: [[five, further]] },
        // A runtime sends no runtimeConfig with STATUS.
        strict,
        { ...strict, ranges: [] },
        { ...strict, subnet: "198.51.100.0/28", rangeStart: "198.51.100.8" },
        { ...strict, subnet: "2001:db8::/64" },
        five,
        { ...five, exhaustedStatus: "ready" },
      ]) {
        succeeds(t, network.status({ ipam }));
      }
    });
  },
);

for (const [what, ipam, files, count] of [
  [
    "one of two range sets without a free address, and an empty file where none is handed out",
    { ranges: [[further], [five]] },
    { ...all, "198.51.100.1": "" },
    "5 of 5",
  ],
  [
    "a set of several ranges without a free address",
    { ranges: [[{ subnet: "198.51.100.0/30" }, { subnet: "203.0.113.0/30" }]] },
    taken("198.51.100.2", "203.0.113.2"),
    "1 of 1",
  ],
  [
    "an IPv6 range without a free address",
    { subnet: "2001:db8::/126" },
    taken("2001:db8::2", "2001:db8::3"),
    "2 of 2",
  ],
] as const) {
  behaviour(
    `STATUS is error 50 with ${what}, where that is configured, and counts`,
    { ipam: { ...ipam, ...strict }, files },
    (t, network) => {
      changesNothing(t, network, () => {
        const refused = network.status();

        fails(t, refused, 50, "no IP addresses available in range set: ");
        t.match(refused.error?.details, count);
      });
    },
  );
}

behaviour(
  "STATUS counts an old empty file as free, which the next ADD takes over",
  { ipam: { ...five, ...strict }, files: { ...taken(...four), "198.51.100.2": "" } },
  (t, network) => {
    fails(t, network.status(), 50);

    network.machine.makeOld("net/198.51.100.2");

    succeeds(t, network.status());
    t.equal(network.add("c2").exitCode, 0);
  },
);

behaviour("STATUS is error 50 where the data directory is a file", {}, (t, network) => {
  network.machine.put("file", "");
  const dataDir = `${network.machine.dataDirectory}/file`;
  fails(t, network.status({ ipam: { dataDir } }), 50);
});

behaviour("STATUS is ready where the data directory is yet to be created", {}, (t, network) => {
  const dataDir = `${network.machine.dataDirectory}/some/where`;
  changesNothing(t, network, () => succeeds(t, network.status({ ipam: { dataDir } })));
});

behaviour("STATUS is error 50 with a wrong ipam section, in the words of ADD", {}, (t, network) => {
  for (const [ipam, words] of [
    [null, "IPAM config missing 'ipam' key"],
    [{ dataDir: 5 }, "into ipam.dataDir"],
    [{ subnet: "198.51.100.1/31" }, "Network has host bits set"],
    [{ ranges: [[five], [five]] }, "range set 0 overlaps with 1"],
  ] as const) {
    fails(t, network.status({ top: { ipam } }), 50, words);
  }
});
