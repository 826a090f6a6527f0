import { test } from "tap";
import { formatAddress } from "../../src/ipam/address.ts";
import { formatPrefix } from "../../src/ipam/prefix.ts";
import { loadStaticConfig } from "../../src/static/config.ts";
import { refusalOf } from "../cni/refusal.ts";
import { received } from "../configuration/network-configuration.ts";

/** The addresses of a configuration, each with its gateway if it has one. */
function addressesOf(members: object, args = ""): readonly string[] {
  return loadStaticConfig(received(members), args).addresses.map(({ prefix, gateway }) => {
    const via = gateway === undefined ? "" : ` via ${formatAddress(gateway)}`;
    return `${formatPrefix(prefix)}${via}`;
  });
}

const ipam = {
  addresses: [{ address: "10.1.2.3/24", gateway: "10.1.2.1" }, { address: "fd00::5/64" }],
};
const byArgs = { args: { cni: { ips: ["10.2.0.7/16"] } } };
const byRuntime = { runtimeConfig: { ips: ["10.3.0.7/16", "fd00:3::7/64"] } };

test("addresses come from the configuration, in its order", async (t) => {
  t.same(addressesOf({ ipam }), ["10.1.2.3/24 via 10.1.2.1", "fd00::5/64"]);
  t.same(addressesOf({ ipam: {} }), []);
});

test("those of CNI_ARGS follow, each with the last gateway that is in its subnet", async (t) => {
  const args = "IP=10.1.2.9/24, 10.4.0.9/16;GATEWAY=10.4.0.1,10.1.2.2,10.4.0.2";
  t.same(addressesOf({ ipam }, args), [
    "10.1.2.3/24 via 10.1.2.1",
    "fd00::5/64",
    "10.1.2.9/24 via 10.1.2.2",
    "10.4.0.9/16 via 10.4.0.2",
  ]);
});

test("those of args.cni.ips replace them, and those of runtimeConfig.ips replace all", async (t) => {
  t.same(addressesOf({ ipam, ...byArgs }, "IP=10.1.2.9/24"), ["10.2.0.7/16"]);
  t.same(addressesOf({ ipam, ...byArgs, ...byRuntime }), ["10.3.0.7/16", "fd00:3::7/64"]);
  t.same(addressesOf({ ipam, runtimeConfig: { ips: [] } }).length, 2, "but not an empty list");
});

test("only addresses that count are checked, but all those of the runtime", async (t) => {
  const wrong = { addresses: [{ address: "zz" }] };
  t.same(addressesOf({ ipam: wrong, ...byArgs }), ["10.2.0.7/16"]);
  t.throws(() => addressesOf({ ipam, args: { cni: { ips: ["zz"] } }, ...byRuntime }));
});

test("keys match in any letter case, so that Address is no other key than address", async (t) => {
  t.same(addressesOf({ IPAM: { Addresses: [{ Address: "10.1.2.3/24" }] } }), ["10.1.2.3/24"]);
});

test("routes and DNS settings are copied", async (t) => {
  const route = { dst: "0.0.0.0/0", gw: "10.1.2.1" };
  const lists = { domain: "a.example", search: ["b"], options: ["c"] };
  const settings = { routes: [route], dns: { nameservers: ["10.0.0.53", null], ...lists } };

  const { routes, dns } = loadStaticConfig(received({ ipam: settings }), "");

  t.same(routes, [{ family: 4, ...route }]);
  t.same(dns, { nameservers: ["10.0.0.53", ""], ...lists });
});

/** What an address without a prefix length is called, by where it is. */
const noPrefix = {
  address: "the 'address' field is expected to be in CIDR notation, got: ",
  ips: "an entry in the 'ips' field is NOT in CIDR notation, got: ",
  ip: "the 'ip' field is expected to be in CIDR notation, got: ",
};

for (const [place, members, args, message] of [
  ["at ipam", {}, "", "IPAM config missing 'ipam' key"],
  [
    "at ipam.addresses[0].address",
    { ipam: { addresses: [{ address: "10.1.2.3" }] } },
    "",
    `${noPrefix.address}'10.1.2.3'`,
  ],
  ["at ipam.addresses[0].address", { ipam: { addresses: [null] } }, "", `${noPrefix.address}''`],
  [
    "at args.cni.ips[1]",
    { ipam, args: { cni: { ips: ["10.2.0.7/16", "10.2.0.8"] } } },
    "",
    `${noPrefix.ips}'10.2.0.8'`,
  ],
  ["at runtimeConfig.ips[0]", { ipam, runtimeConfig: { ips: [null] } }, "", `${noPrefix.ips}''`],
  ["at CNI_ARGS IP", { ipam }, "IP=10.1.2.9/24,", `${noPrefix.ip}''`],
  ["in CNI_ARGS GATEWAY", { ipam }, "GATEWAY= zz", "invalid gateway address:  zz"],
  [
    "found 2 IPv4 and 0 IPv6 addresses",
    { cniVersion: "0.2.0", ipam: { addresses: [ipam.addresses[0], ipam.addresses[0]] } },
    "",
    "CNI version 0.2.0 does not support more than 1 address per family",
  ],
] as const) {
  test(`${message}: ${place}`, async (t) => {
    const refusal = refusalOf(() => loadStaticConfig(received(members), args));
    t.match(refusal, { code: 999, message, details: place });
  });
}
