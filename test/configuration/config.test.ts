/** How a configuration is read. What is refused in one: test/behaviours/bad-configuration.test.ts. */

import { test } from "tap";
import { loadConfig } from "../../src/configuration/load-config.ts";
import { formatAddressRange } from "../../src/ipam/address.ts";
import {
  DEFAULT_DATA_DIR,
  hasRanges,
  type IpamConfig,
  loadStoreConfig,
} from "../../src/ipam/config.ts";
import { formatReservedFor } from "../../src/ipam/exclusions.ts";
import { formatRangeSet } from "../../src/ipam/range-set.ts";
import { refusalOf } from "../cni/refusal.ts";
import { noFiles, received } from "./network-configuration.ts";

const subnet = "10.1.2.0/24";

/** The configuration with these members beside a subnet, which they may take away. */
function load(members: object): IpamConfig {
  return loadConfig(received({ ipam: { subnet }, ...members }), "", noFiles);
}

function addressRanges(members: object): readonly string[] {
  return load(members).rangeSets.map(formatRangeSet);
}

/** The message with which these members are refused; the code is always 999. */
function refused(members: object, args = ""): string {
  const configuration = received({ ipam: { subnet }, ...members });
  const { code, message } = refusalOf(() => loadConfig(configuration, args, noFiles));
  if (code !== 999) throw new Error(`code ${code}: ${message}`);
  return message;
}

test("a subnet alone is a configuration; what is absent, null or an empty path has its default", async (t) => {
  for (const none of [undefined, null, ""]) {
    const ipam = { subnet, dataDir: none, resolvConf: none, lockTimeoutSeconds: none || undefined };
    const { exclusions, requested, routes, ...config } = load({ ipam });
    t.match(config, {
      network: "net",
      dataDir: "/var/lib/cni/networks",
      lockTimeoutSeconds: 30,
      resolvConf: /^$/,
    });
    t.strictSame([exclusions, requested, routes], [[], [], []]);
  }
  t.strictSame(addressRanges({}), ["10.1.2.1-10.1.2.254"]);
  const ipam = { subnet, dataDir: "/d", resolvConf: "/r", lockTimeoutSeconds: 0.5 };
  t.match(load({ ipam }), { dataDir: /^\/d$/, resolvConf: /^\/r$/, lockTimeoutSeconds: 0.5 });
});

test("sets come from runtimeConfig first, then from the subnet, then from ranges", async (t) => {
  t.strictSame(
    addressRanges({
      runtimeConfig: { ipRanges: [[{ subnet: "12.1.3.0/24" }], [{ subnet: "fd00::/126" }]] },
      ipam: {
        subnet,
        rangeStart: "10.1.2.9",
        rangeEnd: "10.1.2.20",
        ranges: [[{ subnet: "11.1.2.0/24", rangeStart: "11.1.2.9", rangeEnd: "11.1.2.20" }]],
      },
    }),
    ["12.1.3.1-12.1.3.254", "fd00::1-fd00::3", "10.1.2.9-10.1.2.20", "11.1.2.9-11.1.2.20"],
  );
});

test("addresses and networks can be reserved, for a pod or nobody, and are excluded for others", async (t) => {
  const reserved = { "fd00::/64": "a/b", "10.1.2.10": null, "10.1.2.64/28": "default/db-0" };
  const config = load({ ipam: { subnet, exclude: ["10.1.2.9"], reserved } });
  t.strictSame(
    config.reserved.map((entry) => `${formatAddressRange(entry)} ${formatReservedFor(entry)}`),
    [
      "10.1.2.10-10.1.2.10 nobody",
      "10.1.2.64-10.1.2.79 default/db-0",
      "fd00::-fd00::ffff:ffff:ffff:ffff a/b",
    ],
  );
  t.strictSame(config.exclusions.map(formatAddressRange), [
    "10.1.2.9-10.1.2.10",
    "10.1.2.64-10.1.2.79",
    "fd00::-fd00::ffff:ffff:ffff:ffff",
  ]);
  const none = load({ ipam: { subnet, exclude: null, reserved: null } });
  t.strictSame([none.exclusions, none.reserved], [[], []]);
});

test("an address is reserved once at most, and not where it is excluded", async (t) => {
  for (const [ipam, first, places] of [
    [
      { reserved: { "10.1.2.64/28": null, "10.1.2.70": "a/b" } },
      "10.1.2.64-10.1.2.79",
      'ipam.reserved["10.1.2.64/28"] and ipam.reserved["10.1.2.70"]',
    ],
    [
      { reserved: { "::ffff:10.1.2.7": "a/b", "10.1.2.7": "a/b" } },
      "10.1.2.7",
      'ipam.reserved["::ffff:10.1.2.7"] and ipam.reserved["10.1.2.7"]',
    ],
    [
      { reserved: { "10.1.2.8": null, "10.1.2.7": "a/b" }, exclude: ["10.1.2.1", "10.1.2.0/29"] },
      "10.1.2.7",
      'ipam.reserved["10.1.2.7"] and ipam.exclude',
    ],
  ] as const) {
    const configuration = received({ ipam: { subnet, ...ipam } });
    t.match(
      refusalOf(() => loadConfig(configuration, "", noFiles)),
      {
        code: 999,
        message: `invalid reserved: ${first} is in two entries`,
        details: `expected each address at most once; ${places} share addresses`,
      },
    );
  }
  const exclude = ["10.1.2.0/30", "10.1.2.0/29"];
  t.ok(load({ ipam: { subnet, exclude, reserved: { "10.1.2.8": null, "10.1.2.9": null } } }));
});

test("a history is kept if the configuration says so, of 4 MiB or another length", async (t) => {
  for (const [history, bytes] of [
    [undefined, undefined],
    [false, undefined],
    [true, 4 * 1024 * 1024],
    [{}, 4 * 1024 * 1024],
    [{ maxBytes: null, other: 1 }, 4 * 1024 * 1024],
    [{ maxBytes: 4096 }, 4096],
    [{ MaxBytes: 64 * 1024 * 1024 }, 64 * 1024 * 1024],
  ] as const) {
    t.equal(load({ ipam: { subnet, history } }).historyBytes, bytes);
    t.equal(loadStoreConfig(received({ ipam: { history } })).historyBytes, bytes);
  }
  for (const history of [1, [], { maxBytes: 4095 }, { maxBytes: 4096.5 }]) {
    t.equal(loadStoreConfig(received({ ipam: { history } })).historyBytes, undefined);
  }
});

test("of several errors the first in the Go plugin's order is reported", async (t) => {
  const overlapping = {
    ipam: { ranges: [[{ subnet: "10.0.0.0/24" }], [{ subnet: "10.0.0.0/24" }]] },
  };
  const old = { cniVersion: "0.2.0" };
  const cases: readonly (readonly [members: object, args: string, message: RegExp])[] = [
    // Decoding, before the missing section is noticed.
    [{ ipam: null, runtimeConfig: { ips: ["bad"] } }, "IP", /^invalid IP address bad$/],
    [{ ipam: null, args: { cni: { ips: [""] } } }, "", /^IPAM config missing/],
    // CNI_ARGS, before the lists of addresses and everything about ranges.
    [{ args: { cni: { ips: [""] } }, ipam: {} }, "IP", /^ARGS: /],
    // Addresses, before ranges.
    [{ runtimeConfig: { ips: [""] }, ipam: { ranges: [[]] } }, "", /^cannot understand ip/],
    // Ranges, set by set; then the version; then overlap across sets.
    [{ ipam: { ranges: [[], [{}]] } }, "", /^invalid range set 0: empty/],
    [{ ...overlapping, ...old }, "", /^CNI version 0\.2\.0 does not support/],
    [overlapping, "", /^range set 0 overlaps with 1$/],
  ];
  for (const [members, args, message] of cases) {
    t.match(refused(members, args), message, JSON.stringify(members));
  }
});

test("a release needs only the data directory, whatever else is invalid", async (t) => {
  for (const members of [
    { ipam: {} },
    { ipam: { ranges: "x", routes: [{}], gateway: "bad", exclude: 5, sticky: "yes" } },
    { ipam: { ranges: [[{ subnet: "10.0.0.1/31" }]] }, runtimeConfig: 5, args: [] },
  ]) {
    t.strictSame(
      loadStoreConfig(received(members)),
      {
        network: "net",
        dataDir: DEFAULT_DATA_DIR,
        lockTimeoutSeconds: 30,
        historyBytes: undefined,
        reclaims: true,
        reuse: { delay: 0, sticky: undefined },
      },
      JSON.stringify(members),
    );
  }
  const ipam = { dataDir: "/d", lockTimeoutSeconds: 5, reuseDelaySeconds: 30, sticky: "pod" };
  t.match(loadStoreConfig(received({ ipam: { ...ipam, stickySeconds: 60 } })), {
    dataDir: /^\/d$/,
    lockTimeoutSeconds: 5,
    reuse: { delay: 30, sticky: { by: ["K8S_POD_NAMESPACE", "K8S_POD_NAME"], seconds: 60 } },
  });
});

test("reuseDelaySeconds, sticky and stickySeconds say how addresses are used again", async (t) => {
  const reuse = (ipam: object): object => load({ ipam: { subnet, ...ipam } }).reuse;
  t.strictSame(reuse({}), { delay: 0, sticky: undefined });
  t.strictSame(reuse({ sticky: "none", stickySeconds: 5 }), reuse({}));
  t.strictSame(reuse({ reuseDelaySeconds: 1.5, sticky: "pod" }), {
    delay: 1.5,
    sticky: { by: ["K8S_POD_NAMESPACE", "K8S_POD_NAME"], seconds: 86_400 },
  });
  t.match(reuse({ sticky: "pod", stickySeconds: 0 }), { sticky: { seconds: 0 } });
  const by = ["K8S_POD_NAMESPACE", "vm"];
  t.strictSame(reuse({ sticky: { by } }), { delay: 0, sticky: { by, seconds: 86_400 } });
  t.match(reuse({ reuseDelaySeconds: "conntrack" }), { delay: "conntrack" });
  const refusal = refusalOf(() => reuse({ sticky: "x" }));
  t.equal(refusal.message, "invalid sticky: x");
  t.equal(
    refusal.details,
    'expected "none" (the default), "pod" or {"by": [names]} at ipam.sticky',
  );
});

const divided = { subnetFile: "/run/flannel/subnet.env", ranges: [[{ subnet: "10.9.0.0/16" }]] };

test("an overlap of rangesFile with a partition names both places", async (t) => {
  const files = { ...noFiles, readFile: () => '{ "net": [[{ "subnet": "10.9.0.0/24" }]] }' };
  const ipam = { partition: divided, rangesFile: "/etc/ranges.json" };
  const refusal = refusalOf(() => loadConfig(received({ ipam }), "", files));
  t.equal(refusal.message, "range set 0 overlaps with 1");
  t.equal(
    refusal.details,
    "10.9.0.1-10.9.255.254 (ipam.partition.ranges[0]) and 10.9.0.1-10.9.0.254 (net[0] in /etc/ranges.json) share addresses",
  );
});

test("with rangesFile or a partition there are no ranges where the Go plugin finds them", async (t) => {
  for (const [key, value, where] of [
    ["rangesFile", "/etc/ranges.json", "in ipam.rangesFile"],
    ["partition", divided, "at ipam.partition.ranges or in ipam.rangesFile"],
  ] as const) {
    for (const [members, path] of [
      [{ ipam: { [key]: value, subnet } }, "ipam"],
      [{ ipam: { [key]: value, ranges: [[{ subnet }]] } }, "ipam.ranges[0]"],
      [
        { ipam: { [key]: value }, runtimeConfig: { ipRanges: [[{ subnet }]] } },
        "runtimeConfig.ipRanges[0]",
      ],
    ] as const) {
      const refusal = refusalOf(() => loadConfig(received(members), "", noFiles));
      t.equal(refusal.message, `invalid ${key}: ranges outside of it`);
      t.equal(
        refusal.details,
        `expected all ranges ${where}, where the Go plugin does not find them; found some at ${path}`,
      );
    }
  }
});

test("whether a configuration has ranges is known without loading it", async (t) => {
  const cases: readonly (readonly [members: object, hasRanges: boolean])[] = [
    [{ ipam: null }, false],
    [{ ipam: {} }, false],
    [{ ipam: { subnet: null, ranges: null } }, false],
    [{ ipam: { ranges: [] } }, false],
    [{ ipam: { subnet } }, true],
    [{ ipam: { ranges: [[{ subnet }]] } }, true],
    [{ ipam: { ranges: [[]] } }, true],
    [{ ipam: { rangesFile: "/etc/ranges.json" } }, true],
    [{ ipam: { rangesFile: "" } }, false],
    [{ ipam: { partition: { ranges: [[{ subnet }]] } } }, true],
    [{ ipam: { partition: { subnetFile: "/run/flannel/subnet.env" } } }, false],
  ];
  for (const [members, expected] of cases) {
    t.equal(hasRanges(received(members)), expected, JSON.stringify(members));
  }
});

test("a value of a wrong type is refused with what was expected", async (t) => {
  for (const [ipam, expected] of [
    [{ dataDir: 1 }, "a directory"],
    [{ resolvConf: 1 }, "the path of a file"],
    [{ exclude: [1] }, 'an address or a network such as "10.1.2.0/28"'],
    [{ subnet: 1 }, 'a network such as "10.1.2.0/24"'],
    [{ lockTimeoutSeconds: "1" }, "a number of seconds, 0 or more"],
    [{ reuseDelaySeconds: "1" }, 'a number of seconds, 0 or more, or "conntrack"'],
    [{ sticky: { by: [1] } }, "the name of an argument"],
    [{ history: 1 }, 'true, false or {"maxBytes": number}'],
    [{ history: { maxBytes: 1 } }, "a whole number from 4096 to 67108864"],
  ] as const) {
    t.match(`${refused({ ipam: { subnet, ...ipam } })}\n`, `: expected ${expected}\n`);
  }
});
