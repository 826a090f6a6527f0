/** Calls as runtimes make them, some with a fault: in a variable, in a value of the configuration, in a few bytes. */

import {
  ownValues,
  placeholder,
  randomConfiguration,
} from "../../differential/random-configuration.ts";
import type { Call } from "../../harness/executable.ts";
import type { Random } from "../../harness/random.ts";
import { type Json, type JsonObject, runtimeEnvironment } from "../../harness/runtime-call.ts";
import type { Case } from "./scenario.ts";

/** Names that would lead out of the data directory, or to another network in it. */
const leadingElsewhere = [
  ...["..", ".", "../net", "../../sentinel", "net/../../elsewhere/net", "/tmp", ".host-local"],
  ...["..%2fnet", "net\\..\\..", "net\n", "ＮＥＴ", "\u202etxt"],
];

/** Values that are wrong in nearly every place. */
const hostile: readonly Json[] = [
  ...[null, true, 0, -1, 1.5, 2 ** 53 + 2, 1e308, "", "garbage", [], {}, [null], [[]]],
  ...["\ud800", "\u0000", "a\nb", "../x", "é", "<&>", "x".repeat(300)],
];

const addresses = [
  ...[
    "198.18.0",
    "198.18.0.256",
    "1.2.3.4.5",
    "fe80::1%eth0",
    "::g",
    " 198.18.0.2",
    "198.18.0.254",
  ],
  ...["::ffff:198.18.0.9", "203.0.113.1", "198.18.0.2/24", "2001:DB8:1:0::2"],
];

/** For each member, by its key, values that are nearly or just about right. */
const nearlyRight = new Map<string, readonly Json[]>(
  Object.entries({
    subnet: [
      ...["198.18.0.0/31", "198.18.0.0/33", "198.18.0.1/24", "::ffff:198.0.0.0/104", "198.18.0.0"],
      ...[
        "198.18.0.0/024",
        "0198.18.0.0/15",
        "2001:db8::/127",
        "1:2:3:4:5:6:7:8:9/64",
        "198.18.0.0/-1",
      ],
      ...["198.18.0.0/", "0.0.0.0/0", "::/0", "2001:db8:1::/32"],
    ],
    rangeStart: addresses,
    rangeEnd: addresses,
    gateway: addresses,
    gw: addresses,
    mtu: [2 ** 31, 2 ** 63, -1],
    cniVersion: ["2.0.0", "1.0", "01.0.0", "+1.1.0", "1.1.0.0", "1..0"],
    name: [...leadingElsewhere, "a/b", "net "],
  }),
);

/** For each variable, the values that runtimes set, and other values. */
const variables: Readonly<
  Record<string, readonly [usual: readonly string[], other: readonly string[]]>
> = {
  CNI_COMMAND: [
    ["ADD", "ADD", "ADD", "DEL", "CHECK", "GC", "STATUS"],
    ["VERSION", "add", "NOPE", "", "ADD\n", "__proto__"],
  ],
  CNI_CONTAINERID: [
    ["c1", "c2", "c3", "c4", "c5"],
    [...leadingElsewhere, "", "a/b", "c1\n", "é", "a".repeat(300), "constructor"],
  ],
  CNI_IFNAME: [
    ["eth0", "eth0", "eth1"],
    [...leadingElsewhere, "", "a/b", "a:b", "a b", "0123456789abcdef", "étéétéé", "é\u0085"],
  ],
  CNI_NETNS: [["/no/such/netns"], ["", "/", "relative", "/proc/self/ns/mnt"]],
  CNI_PATH: [["/opt/cni/bin"], [""]],
};

const pairs = [
  ...["IgnoreUnknown=1", "IgnoreUnknown=true", "IgnoreUnknown=perhaps", "K8S_POD_NAME=p"],
  ...["K8S_POD_NAMESPACE=n", "K8S_POD_NAME=a b\nc", "IP=198.18.0.4", "IP=198.18.0.6/24"],
  ...["IP=2001:db8::3", "IP=garbage", "IP=", "IP", "=", "é=ü", "a=b=c", "CommonArgs=1"],
  ...["ip=198.18.0.4", ""],
];

/** The bytes that damage inserts, as Latin-1; without slash and dot, so that none leads a path elsewhere. */
const dictionary = [
  ...["{", "}", "[", "]", '"', ",", ":", "\\", "'", " "],
  ...["null", "true", "-", "1", "0", "e9", "1e999", "9007199254740993", "\\u0000", "\\ud800"],
  ...["\0", "\n", "\x7f", "\xff", "\xc3", "\xed\xa0\x80", "\xef\xbb\xbf", "\xf4\x90\x80\x80"],
  ...['"ipam":null,', '"name":"net",', '"":0,', "[[[[[[[[", "}}"],
];

/** A call that is generated when it is tried; its words allow it to be repeated. */
export interface GeneratedCase extends Case {
  readonly call: () => Call;
}

/** The form of a generated call. */
export interface Grammar {
  /** The data directory, as it is written. */
  readonly dataDir: string;
  /** Whether members that the Go plugin does not know appear. */
  readonly withOwnMembers: boolean;
}

/** Generates a call: a third are as runtimes make them, a third have a wrong value, a third have damaged bytes. */
export function generatedCall(random: Random, grammar: Grammar): Call & { readonly stdin: Buffer } {
  const environment = Object.fromEntries(
    Object.entries(variables).map(([name, [usual, unusual]]) => [
      name,
      random.pick(random.chance(97) ? usual : unusual),
    ]),
  );
  const args = several(random, 3, pairs).join(";");
  const way = random.pick(["sound", "spoiled", "damaged"]);
  const sound = document(random, grammar);
  const value = way === "spoiled" ? spoiled(random, sound) : sound;
  const written = JSON.stringify(value, null, random.pick(["", "", " ", "\t"]));
  const text = random.chance(70) ? written : inCapitals(written);
  return {
    environment: {
      ...runtimeEnvironment,
      ...environment,
      CNI_ARGS: random.chance(60) ? "" : args,
    },
    stdin: way === "damaged" ? damaged(random, text) : Buffer.from(text),
  };
}

function several<T>(random: Random, most: number, list: readonly T[]): T[] {
  return Array.from({ length: random.integer(most + 1) }, () => random.pick(list));
}

function document(random: Random, { dataDir, withOwnMembers }: Grammar): JsonObject {
  const name = random.pick(random.chance(90) ? ["net", "net", "other.net_2"] : leadingElsewhere);
  const made = randomConfiguration(random, name).document;
  const { ipam = {}, ...rest }: { ipam?: JsonObject } = JSON.parse(
    JSON.stringify(made).replaceAll(placeholder, dataDir),
  );
  const attachments = several(random, 4, ["c1", "c2", "c3", "nobody"]).map((containerID) => ({
    containerID,
    ifname: random.pick(["eth0", "eth1"]),
  }));
  const ips = several(random, 2, ["198.18.0.4", "198.18.0.6/24", "2001:db8:1::4"]);
  return {
    ...rest,
    ...(random.chance(50) ? { cniVersion: "1.1.0" } : {}),
    ipam: { ...ipam, ...(withOwnMembers ? ownMembers(random) : {}) },
    ...(random.chance(10) ? { args: { cni: { ips } } } : {}),
    ...(random.chance(10) ? { runtimeConfig: { ips } } : {}),
    ...(random.chance(50) ? { "cni.dev/valid-attachments": attachments } : {}),
    ...(random.chance(10) ? { "cni.dev/attachments": attachments } : {}),
    ...(withOwnMembers && random.chance(10) ? { gcOnly: random.chance(50) } : {}),
    ...(withOwnMembers && random.chance(10)
      ? { ["__proto__"]: { gcOnly: true, ipam: { dataDir: "elsewhere" } }, constructor: 1 }
      : {}),
  };
}

function ownMembers(random: Random): JsonObject {
  const some = Object.entries(ownValues).filter(() => random.chance(15));
  return Object.fromEntries(some.map(([key, values]) => [key, random.pick(values)]));
}

/** The document with one value changed, except where it could lead to the machine's own data directory. */
function spoiled(random: Random, sound: JsonObject): Json {
  const isOpen = (path: readonly string[]): boolean =>
    path.length > 0 && path.join() !== "ipam" && path.at(-1) !== "dataDir";
  const path = random.pick(pathsIn(sound).filter(isOpen));
  const nearly = nearlyRight.get(path.at(-1) ?? "") ?? hostile;
  return withValue(sound, path, random.pick(random.chance(60) ? nearly : hostile));
}

/** The paths of a value and of all values inside it. */
function pathsIn(value: Json): string[][] {
  if (typeof value !== "object" || value === null) return [[]];
  const below = Object.entries(value).flatMap(([key, member]) =>
    pathsIn(member).map((path) => [key, ...path]),
  );
  return [[], ...below];
}

function withValue(value: Json, [key, ...rest]: readonly string[], instead: Json): Json {
  if (key === undefined) return instead;
  const changed = ([name, member]: [string, Json]): [string, Json] => [
    name,
    name === key ? withValue(member, rest, instead) : member,
  ];
  const members = Object.entries<Json>(Object(value)).map(changed);
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

/** The text in another letter case, in which keys match, too. */
function inCapitals(text: string): string {
  return text.replace(/"(?:subnet|ranges|routes)":/g, (key) => key.toUpperCase());
}

/** The bytes of a text after a few changes, as a defective or malicious writer makes them. */
function damaged(random: Random, text: string): Buffer {
  let bytes = Buffer.from(text);
  for (let left = 1 + random.integer(3); left > 0; left--) {
    const start = random.integer(bytes.length + 1);
    const block = bytes.subarray(start, start + 1 + random.integer(12));
    const inserted = Buffer.from(random.pick(dictionary), "latin1");
    const flipped = block.map((byte) => byte ^ (1 << random.integer(8)));
    const instead = random.pick([[flipped], [], [block, block], [inserted, block]]);
    bytes = Buffer.concat([
      bytes.subarray(0, start),
      ...instead,
      bytes.subarray(start + block.length),
    ]);
  }
  return bytes;
}
