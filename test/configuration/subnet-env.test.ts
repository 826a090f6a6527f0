import { test } from "tap";
import { flannelSubnets, isSubnetEnv } from "../../src/configuration/subnet-env.ts";
import { formatPrefix } from "../../src/ipam/prefix.ts";
import { refusalOf } from "../cni/refusal.ts";

function subnetsIn(text: string): readonly string[] {
  return flannelSubnets(text).map(({ variable, subnet }) => `${variable} ${formatPrefix(subnet)}`);
}

const ipv4 = `FLANNEL_NETWORK=10.244.0.0/16
FLANNEL_SUBNET=10.244.1.1/24
FLANNEL_MTU=1450
FLANNEL_IPMASQ=true
`;

const ipv6 = "FLANNEL_IPV6_NETWORK=fd00::/48\nFLANNEL_IPV6_SUBNET=fd00:0:0:1::1/64\n";
const repeated = "FLANNEL_SUBNET=10.0.0.1/24\r\n FLANNEL_SUBNET=10.0.1.1/24 \r\n";
const v4 = "FLANNEL_SUBNET 10.244.1.0/24";
const v6 = "FLANNEL_IPV6_SUBNET fd00:0:0:1::/64";

for (const [what, text, subnets] of [
  ["one family, without the host bits of the gateway", ipv4, [v4]],
  ["the other family", ipv6, [v6]],
  ["both, IPv4 first", `${ipv6}${ipv4}`, [v4, v6]],
  ["a repeated variable: the last counts", repeated, ["FLANNEL_SUBNET 10.0.1.0/24"]],
  ["an empty variable: it is absent", "FLANNEL_SUBNET=\nFLANNEL_MTU=1450\n", []],
  ["a last line without its end: the file may be cut off", "FLANNEL_SUBNET=10.244.1.1/2", []],
  ["such a line after others", `${ipv4}FLANNEL_IPV6_SUBNET=fd00:0:0:1::1/6`, [v4]],
] as const) {
  test(`the subnets of a file with ${what}`, async (t) => {
    t.strictSame(subnetsIn(text), subnets);
  });
}

test("flannelSubnets refuses a subnet outside of flannel's networks", async (t) => {
  for (const [network, subnet] of [
    ["10.244.0.0/16", "10.244.1.1/2"],
    ["10.244.0.0/16", "10.245.1.1/24"],
    ["10.244.0.0/16,192.168.0.0/16", "192.169.1.1/24"],
    ["fd00::/48", "10.244.1.1/24"],
  ] as const) {
    const { message, details } = refusalOf(() =>
      flannelSubnets(`FLANNEL_NETWORK=${network}\nFLANNEL_SUBNET=${subnet}\n`),
    );
    t.equal(message, `FLANNEL_SUBNET ${subnet} is not in FLANNEL_NETWORK ${network}`);
    t.match(details, "line 2");
  }
  const several = "FLANNEL_NETWORK=10.244.0.0/16,192.168.0.0/16\nFLANNEL_SUBNET=192.168.1.1/24\n";
  t.strictSame(subnetsIn(several), ["FLANNEL_SUBNET 192.168.1.0/24"]);
});

test("a subnet.env has a variable of flannel", async (t) => {
  t.equal(isSubnetEnv(ipv4), true);
  t.equal(isSubnetEnv("# by flanneld\nFLANNEL_MTU=1450"), true);
  for (const text of ["", "{}", '{"FLANNEL_SUBNET": 1}', '{"a": "\\nFLANNEL_SUBNET=1"}']) {
    t.equal(isSubnetEnv(text), false, text);
  }
});

test("a network without the subnet of its family is a file that is cut off", async (t) => {
  for (const [text, words] of [
    [
      `${ipv4}FLANNEL_IPV6_NETWORK=fd00::/48\n`,
      "FLANNEL_IPV6_NETWORK fd00::/48 without FLANNEL_IPV6_SUBNET",
    ],
    ["FLANNEL_NETWORK=10.244.0.0/16\n", "FLANNEL_NETWORK 10.244.0.0/16 without FLANNEL_SUBNET"],
  ] as const) {
    t.equal(refusalOf(() => flannelSubnets(text)).message, words);
  }
  t.strictSame(subnetsIn(`FLANNEL_IPV6_NETWORK=\n${ipv4}`), ["FLANNEL_SUBNET 10.244.1.0/24"]);
});
