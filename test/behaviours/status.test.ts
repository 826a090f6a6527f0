// test: each executable, one if short
/** STATUS says whether an ADD could be served (CNI SPEC 1.1.0, section 2, STATUS). */

import { behaviour, changesNothing, fails, five, succeeds } from "./behaviour.ts";

const strict = { exhaustedStatus: "unavailable" };
const other = { subnet: "10.0.1.0/24" };

function taken(...addresses: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(addresses.map((address) => [address, "c\r\neth0"]));
}

const four = ["10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"];
const all = taken("10.0.0.2", ...four);

for (const [what, ipam, files] of [
  ["a range with one address left", { ...five, ...strict }, taken(...four)],
  [
    "an exhausted range beside a free one in the same set",
    { ...strict, ranges: [[five, other]] },
    all,
  ],
  ["no ranges at all, for a runtime sends no runtimeConfig with STATUS", strict, all],
  ["an empty list of ranges", { ...strict, ranges: [] }, all],
  [
    "addresses outside the range",
    { ...five, ...strict },
    taken("10.0.0.1", "10.0.0.7", "10.0.0.8", "10.9.9.9"),
  ],
  ["an exhausted range", five, all],
  [
    "an exhausted range, where that is configured as ready",
    { ...five, exhaustedStatus: "ready" },
    all,
  ],
  [
    "an IPv6 range that nobody could count",
    { ...strict, subnet: "2001:db8::/64" },
    taken("2001:db8::2"),
  ],
] as const) {
  behaviour(`STATUS is ready with ${what}`, { ipam, files }, (t, network) => {
    changesNothing(t, network, () => succeeds(t, network.status()));
  });
}

for (const [what, ipam, files, count] of [
  ["a range without a free address", five, all, "5 of 5"],
  ["one of two range sets without a free address", { ranges: [[other], [five]] }, all, "5 of 5"],
  [
    "a set of several ranges without a free address",
    { ranges: [[{ subnet: "10.0.0.0/30" }, { subnet: "10.0.1.0/30" }]] },
    taken("10.0.0.2", "10.0.1.2"),
    "1 of 1",
  ],
  [
    "a part of a subnet without a free address",
    { ...five, rangeStart: "10.0.0.3", rangeEnd: "10.0.0.4" },
    taken("10.0.0.3", "10.0.0.4"),
    "2 of 2",
  ],
  [
    "an IPv6 range without a free address",
    { subnet: "2001:db8::/126" },
    taken("2001:db8::2", "2001:db8::3"),
    "2 of 2",
  ],
  ["files without an interface everywhere", { subnet: "10.0.0.0/30" }, { "10.0.0.2": "c" }, "1 of"],
  ["an empty file where none is handed out", five, { ...all, "10.0.0.1": "" }, "5 of 5"],
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
  "STATUS is error 50 with a range of which every address is excluded",
  { ipam: { ...five, exclude: ["10.0.0.0/29"] } },
  (t, network) => {
    const refused = network.status();

    fails(t, refused, 50);
    t.match(refused.error?.details, "0 of 0");
  },
);

behaviour(
  "STATUS counts an old empty file as free, which the next ADD takes over",
  { ipam: { ...five, ...strict }, files: { ...taken(...four), "10.0.0.2": "" } },
  (t, network) => {
    fails(t, network.status(), 50);

    network.machine.makeOld("net/10.0.0.2");

    succeeds(t, network.status());
    t.equal(network.add("c2").exitCode, 0);
  },
);

behaviour(
  "STATUS reports exhaustion while ADD and DEL work, and is ready again after a DEL",
  { ipam: { ...strict, ranges: [[{ subnet: "10.0.0.0/30" }, { subnet: "10.0.1.0/30" }]] } },
  (t, network) => {
    network.add("c1");
    network.add("c2");
    fails(t, network.status(), 50);

    t.equal(network.del("c2").exitCode, 0);
    succeeds(t, network.status());
    t.equal(network.add("c3").exitCode, 0);
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

for (const [what, ipam, words] of [
  ["that is missing", null, "IPAM config missing 'ipam' key"],
  ["that is a number", 5, "json: cannot unmarshal number into ipam"],
  ["with a data directory that is a number", { dataDir: 5 }, "into ipam.dataDir"],
  ["with an invalid range", { subnet: "10.0.0.1/31" }, "Network has host bits set"],
  ["with overlapping ranges", { ranges: [[five], [five]] }, "range set 0 overlaps with 1"],
] as const) {
  behaviour(
    `STATUS is error 50 with an ipam section ${what}, in the words of ADD`,
    {},
    (t, network) => {
      fails(t, network.status({ top: { ipam } }), 50, words);
    },
  );
}
