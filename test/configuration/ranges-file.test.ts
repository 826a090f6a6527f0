import { test } from "tap";
import { rangeSetsInFile } from "../../src/configuration/ranges-file.ts";
import { formatRangeSet, makeRangeSets } from "../../src/ipam/range-set.ts";
import { refusalOf } from "../cni/refusal.ts";

const path = "/etc/cni/ranges.json";

function rangesIn(text: string, network = "net"): readonly string[] {
  const specs = rangeSetsInFile({ readFile: () => text }, path, network);
  return makeRangeSets(specs, undefined).map(formatRangeSet);
}

test("the range sets of the network, as in the configuration, whatever is wrong with another", async (t) => {
  const file = JSON.stringify({
    other: 5,
    net: [
      [{ subnet: "10.1.0.0/30" }, { SUBNET: "10.2.0.0/24", rangeStart: "10.2.0.9" }],
      [{ subnet: "fd00::/126" }],
    ],
    Net: [[{ subnet: "10.8.0.0/24" }]],
  });
  t.strictSame(rangesIn(file), ["10.1.0.1-10.1.0.2,10.2.0.9-10.2.0.254", "fd00::1-fd00::3"]);
});

test("flannel's subnets are a range set each, whatever the network", async (t) => {
  const file = "FLANNEL_SUBNET=10.244.1.1/24\nFLANNEL_IPV6_SUBNET=fd00:0:0:1::1/126\n";
  t.strictSame(rangesIn(file), ["10.244.1.1-10.244.1.254", "fd00:0:0:1::1-fd00:0:0:1::3"]);
});

test("an error names the file and the place in it", async (t) => {
  const cases: readonly (readonly [text: string, message: string, details: string | RegExp])[] = [
    ["", "line 1, column 1: unexpected end of JSON input", "or flannel's subnet.env"],
    [
      '{\n  "net": [[{ "subnet": "10.0.0.0/24", }]]\n}',
      "line 2, column 39: invalid character '}' looking for beginning of object key string",
      "expected a JSON object",
    ],
    ["[]", "expected an object, found array", "range sets by network name"],
    ["{}", "no ranges for network net", "the networks in it are: none"],
    ['{"a": 1, "Net": 2}', "no ranges for network net", /the networks in it are: a, Net$/],
    [
      JSON.stringify(Object.fromEntries("klmnopqrstu".split("").map((name) => [name, []]))),
      "no ranges for network net",
      /the networks in it are: k, l, m, n, o, p, q, r, s, t and others$/,
    ],
    ['{"net": []}', "no ranges for network net", "expected a list of range sets as its member net"],
    ['{"net": null}', "no ranges for network net", "net"],
    ['{"net": [[]]}', "invalid range set 0: empty range set", "net[0]"],
    ['{"net": {}}', "json: cannot unmarshal object into net: expected a list", ""],
    [
      '{"net": [{"subnet": "10.0.0.0/24"}]}',
      "json: cannot unmarshal object into net[0]: expected a list",
      "",
    ],
    [
      '{"net": [[{"subnet": "10.0.0.0/33"}]]}',
      "invalid CIDR address: 10.0.0.0/33",
      "at net[0][0].subnet",
    ],
    [
      '{"net": [[{"subnet": "10.0.0.1/24"}]]}',
      "invalid range set 0: Network has host bits set. For a subnet mask of length 24 the network address is 10.0.0.0",
      "found 10.0.0.1/24 at net[0][0].subnet",
    ],
    [
      '{"net": [[{"subnet": "10.0.0.0/24"}], [{"subnet": "10.0.0.0/24"}]]}',
      "range set 0 overlaps with 1",
      "(net[0]) and 10.0.0.1-10.0.0.254 (net[1])",
    ],
    ["FLANNEL_MTU=1450", "neither FLANNEL_SUBNET nor FLANNEL_IPV6_SUBNET is set", "subnet.env"],
    ["\nFLANNEL_SUBNET=x\n", "invalid CIDR address: x", "at FLANNEL_SUBNET, line 2"],
  ];
  for (const [text, message, details] of cases) {
    const refusal = refusalOf(() => rangesIn(text));
    t.equal(refusal.message, `invalid rangesFile ${path}: ${message}`, text);
    t.match(refusal.details, details, text);
    t.equal(refusal.code, 999, text);
  }
});

test("names of networks that every object has as members are not found in it", async (t) => {
  for (const network of ["constructor", "toString"]) {
    t.match(refusalOf(() => rangesIn("{}", network)).message, `no ranges for network ${network}`);
  }
});

test("a file that cannot be read is an error with its path and the cause", async (t) => {
  const files = {
    readFile(): string {
      throw new Error(`open ${path}: no such file or directory`);
    },
  };
  const refusal = refusalOf(() => rangeSetsInFile(files, path, "net"));
  t.equal(refusal.message, `cannot read rangesFile: open ${path}: no such file or directory`);
  t.match(refusal.details, "ipam.rangesFile");
  t.equal(refusal.code, 999);
});
