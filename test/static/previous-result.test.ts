import { test } from "tap";
import { formatAddress } from "../../src/ipam/address.ts";
import { previousAddresses } from "../../src/static/previous-result.ts";
import { refusalOf } from "../cni/refusal.ts";
import { received } from "../configuration/network-configuration.ts";

const ips = [{ address: "10.1.2.3/24", gateway: "10.1.2.1" }, { address: "fd00::5/64" }];

function read(prevResult: unknown, cniVersion = "1.1.0"): readonly (string | undefined)[][] {
  return previousAddresses(received({ cniVersion, prevResult })).map(({ address, gateway }) => [
    formatAddress(address),
    gateway && formatAddress(gateway),
  ]);
}

const read1 = [
  ["10.1.2.3", "10.1.2.1"],
  ["fd00::5", undefined],
];

test("a result of a version with the same form is read, by default of the configuration's", async (t) => {
  t.same(read({ cniVersion: "1.0.0", ips }), read1);
  t.same(read({ cniVersion: "0.3.1", ips }, "0.4.0"), read1);
  t.same(read({ ips }), read1);
  t.same(read({ cniVersion: null, ips }), read1);
});

test("what has no address is left out, and what CHECK does not compare is not read", async (t) => {
  t.same(read({}), []);
  t.same(read({ ips: [null, {}], routes: 5, dns: "x", interfaces: [null] }), []);
});

for (const [what, prevResult, message] of [
  ["null", null, "Required prevResult missing"],
  [
    "a string",
    "x",
    "failed to load netconf: json: cannot unmarshal string into prevResult: expected an object",
  ],
  [
    "an empty version",
    { cniVersion: "" },
    'could not parse prevResult: result type supports [1.0.0 1.1.0] but unmarshalled CNIVersion is ""',
  ],
  [
    "an address without prefix length",
    { ips: [{ address: "10.1.2.3" }] },
    "could not parse prevResult: invalid CIDR address: 10.1.2.3",
  ],
  [
    "a gateway that is not an address",
    { ips: [{ address: "10.1.2.3/24", gateway: "x" }] },
    "could not parse prevResult: invalid IP address: x",
  ],
] as const) {
  test(`${what} is an error`, async (t) => {
    t.match(
      refusalOf(() => read(prevResult)),
      { code: 999, message },
    );
  });
}
