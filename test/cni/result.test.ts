import { test } from "tap";
import { formatResult, type Result } from "../../src/cni/result.ts";
import { SUPPORTED_VERSIONS } from "../../src/cni/version.ts";

const single: Result = {
  addresses: [{ family: 4, address: "10.1.2.2/24", gateway: "10.1.2.1" }],
  routes: [],
  dns: { nameservers: [], domain: "", search: [], options: [] },
};

const full: Result = {
  addresses: [
    { family: 4, address: "10.1.2.2/24", gateway: "10.1.2.1" },
    { family: 6, address: "2001:db8:1::2/64", gateway: "2001:db8:1::1" },
  ],
  routes: [
    { family: 4, dst: "0.0.0.0/0" },
    { family: 6, dst: "::/0" },
    { family: 4, dst: "192.168.0.0/16", gw: "1.1.1.1" },
    { family: 6, dst: "2001:db8:2::/64", gw: "2001:db8:3::1" },
    {
      family: 4,
      dst: "10.9.0.0/16",
      gw: "10.1.2.1",
      mtu: 1400,
      advmss: 1340,
      priority: 100,
      table: 50,
      scope: 253,
    },
  ],
  dns: {
    nameservers: ["192.0.2.3", "192.0.2.4"],
    domain: "example.com",
    search: ["a.example", "b.example"],
    options: ["ndots:2", "timeout:1"],
  },
};

/** The compact text with four spaces of indentation; the order of keys stays. */
function indented(compact: string): string {
  return JSON.stringify(JSON.parse(compact), null, 4);
}

/** The compact text of a result, its version after `cniVersion` aside. */
function members(result: Result, version: (typeof SUPPORTED_VERSIONS)[number]): string {
  const { cniVersion, ...rest } = JSON.parse(formatResult(result, version));
  return JSON.stringify(rest);
}

test("two families, routes and DNS are printed in each version's form", async (t) => {
  const dns =
    '"dns":{"nameservers":["192.0.2.3","192.0.2.4"],"domain":"example.com","search":["a.example","b.example"],"options":["ndots:2","timeout:1"]}';
  const inOld = `"ip4":{"ip":"10.1.2.2/24","gateway":"10.1.2.1","routes":[{"dst":"0.0.0.0/0"},{"dst":"192.168.0.0/16","gw":"1.1.1.1"},{"dst":"10.9.0.0/16","gw":"10.1.2.1"}]},"ip6":{"ip":"2001:db8:1::2/64","gateway":"2001:db8:1::1","routes":[{"dst":"::/0"},{"dst":"2001:db8:2::/64","gw":"2001:db8:3::1"}]},${dns}`;
  const routes =
    '{"dst":"0.0.0.0/0"},{"dst":"::/0"},{"dst":"192.168.0.0/16","gw":"1.1.1.1"},{"dst":"2001:db8:2::/64","gw":"2001:db8:3::1"}';
  const inMiddle = `"ips":[{"version":"4","address":"10.1.2.2/24","gateway":"10.1.2.1"},{"version":"6","address":"2001:db8:1::2/64","gateway":"2001:db8:1::1"}],"routes":[${routes},{"dst":"10.9.0.0/16","gw":"10.1.2.1","mtu":1400,"advmss":1340,"priority":100,"table":50,"scope":253}],${dns}`;
  const inNew = `"dns":{"domain":"example.com","nameservers":["192.0.2.3","192.0.2.4"],"options":["ndots:2","timeout:1"],"search":["a.example","b.example"]},"ips":[{"address":"10.1.2.2/24","gateway":"10.1.2.1"},{"address":"2001:db8:1::2/64","gateway":"2001:db8:1::1"}],"routes":[${routes},{"advmss":1340,"dst":"10.9.0.0/16","gw":"10.1.2.1","mtu":1400,"priority":100,"scope":253,"table":50}]`;
  const expected = [inOld, inOld, inMiddle, inMiddle, inMiddle, inNew, inNew];
  for (const [index, version] of SUPPORTED_VERSIONS.entries()) {
    t.equal(
      formatResult(full, version),
      indented(`{"cniVersion":"${version}",${expected[index]}}`),
      version,
    );
  }
});

test("before 0.3.0 only the first address of each family is printed", async (t) => {
  const two: Result = {
    ...single,
    addresses: [
      { family: 6, address: "fd00::2/64", gateway: "fd00::1" },
      { family: 4, address: "10.1.2.2/24", gateway: "10.1.2.1" },
      { family: 4, address: "10.1.3.2/24", gateway: "10.1.3.1" },
    ],
  };
  for (const version of ["0.1.0", "0.2.0"] as const) {
    t.equal(
      members(two, version),
      '{"ip4":{"ip":"10.1.2.2/24","gateway":"10.1.2.1"},"ip6":{"ip":"fd00::2/64","gateway":"fd00::1"},"dns":{}}',
    );
  }
});

test("zeros of a route are omitted except table and scope; negative numbers are printed", async (t) => {
  const result: Result = {
    ...single,
    routes: [
      { family: 4, dst: "0.0.0.0/0", mtu: 0, advmss: 0, priority: 0, table: 0, scope: 0 },
      { family: 4, dst: "10.0.0.5/8", mtu: -1, priority: -5, table: -2, scope: -3 },
    ],
  };
  t.match(
    members(result, "0.4.0"),
    '"routes":[{"dst":"0.0.0.0/0","table":0,"scope":0},{"dst":"10.0.0.5/8","mtu":-1,"priority":-5,"table":-2,"scope":-3}]',
  );
  t.match(
    members(result, "1.1.0"),
    '"routes":[{"dst":"0.0.0.0/0","scope":0,"table":0},{"dst":"10.0.0.5/8","mtu":-1,"priority":-5,"scope":-3,"table":-2}]',
  );
});
