/** Valid and invalid calls: every part is valid most of the time. */

import fc from "fast-check";
import { SUPPORTED_VERSIONS } from "../../../src/cni/version.ts";
import { placeholder, randomConfiguration } from "../../differential/random-configuration.ts";
import type { Call } from "../../harness/executable.ts";
import { randomFrom } from "../../harness/random.ts";
import type { Case } from "./scenario.ts";

/** What a generated call is to look like. */
export interface Grammar {
  /** The data directory, as it is written. */
  readonly dataDir: string;
  /** Whether members that the Go plugin does not know appear. */
  readonly withOwnMembers: boolean;
}

/** A call that is made when it is tried; its words repeat it. */
export interface GeneratedCase extends Case {
  readonly call: () => Call;
}

/** A call whose text is not bytes yet. */
export interface GeneratedCall {
  readonly environment: Readonly<Record<string, string>>;
  readonly text: string;
}

type Value = fc.Arbitrary<unknown>;

const junk: Value = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 53 + 2, 1e308, "", "garbage", [], {}, [null], [[]]),
  fc.constantFrom("\ud800", "\u0000", "a\nb", "../x", "é", "<&>", "x".repeat(300)),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Names that would lead out of the data directory, or to another network in it. */
const leadingElsewhere = [
  ...["..", ".", "../net", "../../sentinel", "net/../../elsewhere/net", "/tmp", ".host-local"],
  ...["..%2fnet", "net\\..\\..", "net\n", "ＮＥＴ", "\u202etxt"],
];

/** Mostly right. */
function mostly(right: Value, wrong: Value = junk): Value {
  return fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: wrong });
}

/** Rarely present: undefined members are not written. */
function seldom(there: Value): Value {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: there },
  );
}

const someSubnets = [
  ...["10.0.0.0/24", "10.0.0.0/29", "10.0.1.0/30", "10.1.0.0/16", "0.0.0.0/0", "2001:db8::/64"],
  ...["2001:db8::/125", "fd00:1::/8", "2001:db8:1::/126"],
];
const badSubnets = [
  ...["10.0.0.0/31", "10.0.0.0/33", "10.0.0.1/24", "::ffff:10.0.0.0/104", "10.0.0.0", "10.0.0.0/"],
  ...["10.0.0.0/024", "010.0.0.0/8", "2001:db8::/127", "1:2:3:4:5:6:7:8:9/64", "10.0.0.0/-1", ""],
];
const someAddresses = [
  ...["10.0.0.2", "10.0.0.4", "10.0.0.6", "10.0.0.254", "10.0.1.1", "10.1.3.4", "::ffff:10.0.0.9"],
  ...["2001:db8::2", "2001:DB8:0::5", "2001:db8::3", "fd00:1::1", "192.0.2.1"],
];
const badAddresses = ["10.0.0", "10.0.0.256", "1.2.3.4.5", "fe80::1%eth0", "::g", " 10.0.0.2"];

const subnet = mostly(
  fc.constantFrom(...someSubnets),
  fc.oneof(junk, fc.constantFrom(...badSubnets)),
);
const address = mostly(
  fc.constantFrom(...someAddresses),
  fc.oneof(junk, fc.constantFrom(...badAddresses)),
);
const range = mostly(
  fc.record({
    subnet,
    rangeStart: seldom(address),
    rangeEnd: seldom(address),
    gateway: seldom(address),
  }),
);
const plainRange = fc.record({ subnet: fc.constantFrom(...someSubnets) });
const ranges = mostly(
  fc.array(mostly(fc.array(fc.oneof(plainRange, range), { minLength: 1, maxLength: 3 })), {
    minLength: 1,
    maxLength: 3,
  }),
);
const number = mostly(fc.constantFrom(0, 1, 1400, 255, 2 ** 31));
const route = mostly(
  fc.record({
    dst: mostly(
      fc.constantFrom("0.0.0.0/0", "::/0", "10.0.0.5/8", "2001:0DB8::/32"),
      fc.oneof(junk, fc.constantFrom(...badSubnets)),
    ),
    gw: seldom(address),
    mtu: seldom(number),
    advmss: seldom(number),
    priority: seldom(number),
    table: seldom(number),
    scope: seldom(number),
  }),
);
const requested = mostly(
  fc.array(mostly(fc.constantFrom("10.0.0.4", "10.0.0.6/24")), { maxLength: 2 }),
);
const attachments = mostly(
  fc.array(
    mostly(
      fc.record({
        containerID: mostly(fc.constantFrom("c1", "c2", "c3", "nobody")),
        ifname: mostly(fc.constantFrom("eth0", "eth1")),
      }),
    ),
    { maxLength: 4 },
  ),
);
const previousResult = mostly(
  fc.record({
    cniVersion: fc.constantFrom("1.0.0", "1.1.0", "garbage"),
    ips: fc.array(fc.record({ address: fc.constantFrom("10.0.0.2/24", "garbage") }), {
      maxLength: 2,
    }),
  }),
);

const reservedFor = mostly(fc.constantFrom(null, "n/p", "default/db-0"));

function ipam({ dataDir, withOwnMembers }: Grammar): Value {
  const own = {
    gateway: seldom(fc.oneof(address, fc.constant("none"))),
    exclude: seldom(mostly(fc.array(fc.oneof(subnet, address), { maxLength: 3 }))),
    reserved: seldom(
      mostly(fc.dictionary(fc.constantFrom(...someAddresses, ...someSubnets), seldom(reservedFor))),
    ),
    exhaustedStatus: seldom(mostly(fc.constantFrom("ready", "unavailable"))),
    lockTimeoutSeconds: seldom(mostly(fc.constantFrom(0, 0.5, 1))),
    reclaim: seldom(mostly(fc.constantFrom("whenFull", "never"))),
    reuseDelaySeconds: seldom(mostly(fc.constantFrom(0, 0.5, 30, 1e300, "conntrack"))),
    sticky: seldom(mostly(fc.constantFrom("none", "pod", { by: ["K8S_POD_NAME"] }))),
    requested: seldom(mostly(fc.constantFrom({ by: ["example.com/ip"] }, { by: ["IP", "ips"] }))),
    stickySeconds: seldom(mostly(fc.constantFrom(0, 60, 1e300))),
    repeatedAdd: seldom(mostly(fc.constantFrom("error", "same"))),
    history: seldom(mostly(fc.constantFrom(true, false, {}, { maxBytes: 4096 }, { maxBytes: 64 }))),
    partition: seldom(
      mostly(
        fc.constantFrom(
          { subnetFile: "/no/subnet.env", ranges: [[{ subnet: "10.0.0.0/24" }]] },
          { network: "net", clusterCidr: "10.0.0.0/8", confDir: "/no" },
        ),
      ),
    ),
    rangesFile: seldom(mostly(fc.constantFrom("", "/no/ranges.json", "/dev/zero", "ranges.json"))),
  };
  const settings = fc.record({
    dataDir: fc.constant(dataDir),
    type: mostly(fc.constant("host-local")),
    subnet: fc.option(subnet, { nil: undefined }),
    ranges: fc.option(ranges, { nil: undefined }),
    rangeStart: seldom(address),
    gateway: seldom(address),
    routes: seldom(mostly(fc.array(route, { maxLength: 3 }))),
    resolvConf: seldom(mostly(fc.constantFrom("resolv.conf", "", "none", "."))),
    ...(withOwnMembers ? own : {}),
  });
  const sound = fc.record({
    dataDir: fc.constant(dataDir),
    subnet: fc.constantFrom(...someSubnets),
  });
  return fc.oneof(sound, settings);
}

const versions = [
  ...["1.1.0", "1.1.0", "1.1.0", "1.1.0", "1.1.0", "1.0.0", "1.0.0", "0.4.0", "0.4.0"],
  ...["0.1.0", "0.2.0", "0.3.0", "0.3.1"],
];

function document(grammar: Grammar): Value {
  const own = {
    gcOnly: seldom(mostly(fc.boolean())),
    ["__proto__"]: seldom(fc.constant({ gcOnly: true, ipam: { dataDir: "elsewhere" } })),
    constructor: seldom(fc.constant(1)),
  };
  return fc.record({
    cniVersion: mostly(
      fc.constantFrom(...versions),
      fc.oneof(junk, fc.constantFrom("2.0.0", "1.0", "01.0.0", "+1.1.0", "1.1.0.0", "1..0")),
    ),
    name: mostly(
      fc.constantFrom("net", "other.net_2"),
      fc.oneof(junk, fc.constantFrom(...leadingElsewhere, "a/b", "net ")),
    ),
    ipam: ipam(grammar),
    args: seldom(mostly(fc.record({ cni: mostly(fc.record({ ips: requested })) }))),
    runtimeConfig: seldom(mostly(fc.record({ ips: seldom(requested), ipRanges: seldom(ranges) }))),
    prevResult: seldom(previousResult),
    "cni.dev/valid-attachments": fc.option(attachments, { nil: undefined }),
    "cni.dev/attachments": seldom(attachments),
    ...(grammar.withOwnMembers ? own : {}),
  });
}

/** A sound document, of the generator that the differential tests use. */
function soundDocument({ dataDir }: Grammar): Value {
  const everything = { path: "", versions: SUPPORTED_VERSIONS, cniVersion: "1.1.0", current: true };
  return fc.nat().map((seed) => {
    const { document: made } = randomConfiguration(randomFrom(seed), everything, "net");
    return JSON.parse(JSON.stringify(made).replaceAll(placeholder, dataDir));
  });
}

const args = fc
  .array(
    fc.constantFrom(
      ...["IgnoreUnknown=1", "IgnoreUnknown=true", "IgnoreUnknown=perhaps", "K8S_POD_NAME=p"],
      ...["K8S_POD_NAMESPACE=n", "K8S_POD_NAME=a b\nc"],
      ...["IP=10.0.0.4", "IP=10.0.0.6/24", "IP=2001:db8::3", "IP=garbage", "IP=", "IP", "=", "é=ü"],
      ...["a=b=c", "CommonArgs=1", "ip=10.0.0.4", ""],
    ),
    { maxLength: 3 },
  )
  .map((pairs) => pairs.join(";"));

function variable(usual: readonly string[], others: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
}

const environment = fc.record({
  CNI_COMMAND: variable(
    ["ADD", "ADD", "ADD", "DEL", "CHECK", "GC", "STATUS"],
    ["VERSION", "add", "NOPE", "", "ADD\n", "__proto__"],
  ),
  CNI_CONTAINERID: variable(
    ["c1", "c2", "c3", "c4", "c5"],
    [...leadingElsewhere, "", "a/b", "c1\n", "é", "a".repeat(300), "constructor"],
  ),
  CNI_IFNAME: variable(
    ["eth0", "eth0", "eth1"],
    [...leadingElsewhere, "", "a/b", "a:b", "a b", "0123456789abcdef", "étéétéé", "é\u0085"],
  ),
  CNI_NETNS: variable(["/no/such/netns"], ["", "/", "relative", "/proc/self/ns/mnt"]),
  CNI_ARGS: fc.oneof(fc.constant(""), fc.constant(""), args),
  CNI_PATH: variable(["/opt/cni/bin"], [""]),
});

/** Environment and standard input; the text is JSON, with blanks here and there. */
export function calls(grammar: Grammar): fc.Arbitrary<GeneratedCall> {
  const text = fc
    .tuple(
      fc.oneof(document(grammar), soundDocument(grammar)),
      fc.constantFrom(undefined, undefined, 1, "\t"),
      fc.boolean(),
    )
    .map(([value, indent, capital]) => {
      const written = JSON.stringify(value, null, indent);
      // Keys match in any letter case.
      return capital ? written : written.replace(/"(subnet|ranges|routes)":/g, upperCased);
    });
  return fc.record({ environment, text });
}

function upperCased(_: string, key: string): string {
  return `"${key.toUpperCase()}":`;
}
