/** Network configurations made to do harm. */

import type { Extent } from "../../harness/extent.ts";
import type { Json, JsonObject } from "../../harness/runtime-call.ts";

/** An oversized text for standard input. */
export interface HostileText {
  readonly what: string;
  readonly text: () => string;
}

const MEBIBYTE = 1024 * 1024;

/** The configuration `ipam` on a relative data directory, as text. */
export function written(ipam: JsonObject, top: JsonObject = {}): string {
  return JSON.stringify({
    cniVersion: "1.0.0",
    name: "net",
    ...top,
    ipam: { type: "host-local", dataDir: "data", subnet: "10.0.0.0/24", ...ipam },
  });
}

/** Brackets in brackets. */
export const deepJson: readonly HostileText[] = [
  {
    what: "100000 nested lists",
    text: () => withMember(`"x":${"[".repeat(100_000)}${"]".repeat(100_000)}`),
  },
  {
    what: "100000 nested objects",
    text: () => withMember(`"ipam":${'{"ipam":'.repeat(100_000)}1${"}".repeat(100_000)}`),
  },
  {
    what: "100000 nested lists that nobody closes",
    text: () => withMember(`"x":${"[".repeat(100_000)}`),
  },
  {
    what: "a prevResult nested 9000 deep for the chain",
    text: () => withMember(`"gcOnly":true,"prevResult":${"[".repeat(9000)}${"]".repeat(9000)}`),
  },
];

/** Deep, wide and long JSON; in full length or a part of it. */
export function bombs(extent: Extent): readonly HostileText[] {
  const many = extent === "exhaustive" ? 1_000_000 : 20_000;
  const long = extent === "exhaustive" ? 10 * MEBIBYTE : MEBIBYTE;
  return [
    ...deepJson,
    { what: `${many} ranges in a set`, text: () => withRanges([times(many, rangeAt)]) },
    {
      what: `${many} equal ranges in a set`,
      text: () => withRanges([times(many, () => ({ subnet: "10.0.0.0/24" }))]),
    },
    {
      what: `${many} range sets of which the last two overlap`,
      text: () => withRanges([...times(many, (at) => [rangeAt(at)]), [rangeAt(many - 1)]]),
    },
    {
      what: `${many} excluded addresses`,
      text: () => written({ subnet: "10.0.0.0/8", exclude: times(many, addressAt) }),
    },
    {
      what: `${many} requested addresses`,
      text: () => written({}, { args: { cni: { ips: times(many, addressAt) } } }),
    },
    {
      what: `${many} routes`,
      text: () => written({ routes: times(many, () => ({ dst: "0.0.0.0/0" })) }),
    },
    {
      what: `${many} members`,
      text: () => withMember(times(many, (at) => `"k${at}":1`).join()),
    },
    ...longStrings(long),
  ];
}

/** Every member that is a text, with megabytes of it. */
function longStrings(length: number): readonly HostileText[] {
  const mebibytes = `${length / MEBIBYTE} MiB`;
  const letters = "a".repeat(length);
  const digits = "1".repeat(length);
  return [
    { what: `${mebibytes} as name`, text: () => written({}, { name: letters }) },
    { what: `${mebibytes} as wrong name`, text: () => written({}, { name: "/".repeat(length) }) },
    { what: `${mebibytes} as cniVersion`, text: () => written({}, { cniVersion: letters }) },
    {
      what: `${mebibytes} of digits as cniVersion`,
      text: () => written({}, { cniVersion: digits }),
    },
    { what: `${mebibytes} as subnet`, text: () => written({ subnet: ":".repeat(length) }) },
    { what: `${mebibytes} as length`, text: () => written({ subnet: `10.0.0.0/${digits}` }) },
    { what: `${mebibytes} as gateway`, text: () => written({ gateway: digits }) },
    { what: `${mebibytes} as dataDir`, text: () => written({ dataDir: `data/${letters}` }) },
    { what: `${mebibytes} as resolvConf`, text: () => written({ resolvConf: letters }) },
    { what: `${mebibytes} of escapes`, text: () => written({}, { note: "\n".repeat(length / 2) }) },
    { what: `${mebibytes} as number`, text: () => withMember(`"x":${digits}`) },
  ];
}

/** Texts that JSON parsers read differently. */
export const ambiguous: readonly HostileText[] = [
  {
    what: "__proto__ with settings of its own",
    text: () => withMember('"__proto__":{"gcOnly":true,"ipam":{"dataDir":"elsewhere"}}'),
  },
  {
    what: "__proto__ instead of ipam",
    text: () => '{"name":"net","__proto__":{"ipam":{"dataDir":"data","subnet":"10.0.0.0/24"}}}',
  },
  {
    what: "constructor and toString",
    text: () => withMember('"constructor":1,"toString":null,"hasOwnProperty":[]'),
  },
  {
    what: "repeated members",
    text: () =>
      withMember('"cniVersion":"0.4.0","CNIVERSION":"1.0.0","prevResult":1,"prevResult":2'),
  },
  { what: "lone surrogates", text: () => withMember('"\\ud800":"\\udfff","type":"\\ud83d"') },
  { what: "a lone surrogate as name", text: () => written({}, { name: "a\ud800" }) },
  {
    what: "numbers beyond 2^53",
    text: () =>
      `${written({}).slice(0, -2)},"lockTimeoutSeconds":1e308,"routes":[{"dst":"::/0","mtu":9007199254740993}]}}`,
  },
  { what: "a number beyond all", text: () => withMember('"x":1e999,"y":-1e999') },
  { what: "0.0.0.0/0", text: () => written({ subnet: "0.0.0.0/0" }) },
  { what: "::/0, which has 2^128 addresses", text: () => written({ subnet: "::/0" }) },
  {
    what: "all of ::/0 excluded",
    text: () => written({ subnet: "::/0", exclude: ["::/1", "8000::/1"] }),
  },
];

function withMember(member: string): string {
  return `${written({}).slice(0, -1)},${member}}`;
}

function withRanges(ranges: Json): string {
  return JSON.stringify({ name: "net", ipam: { dataDir: "data", ranges } });
}

function times<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

function rangeAt(at: number): JsonObject {
  return { subnet: `${addressAt(4 * at)}/30` };
}

function addressAt(at: number): string {
  return `${10 + (at >> 24)}.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`;
}
