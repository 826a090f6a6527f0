/** Calls whose configuration or environment is larger, deeper or wider than anyone needs. */

import type { Call } from "../../harness/executable.ts";
import type { Extent } from "../../harness/extent.ts";
import { attachmentCall, configuration, type JsonObject } from "../../harness/runtime-call.ts";
import type { GeneratedCase } from "./generated-call.ts";

const MEBIBYTE = 1024 * 1024;

/** The largest variable that the kernel takes, in bytes. */
const LONG_VARIABLE = 100 * 1024;

/** Calls with something too large; the extent decides how many elements it has, and how long they are. */
export function oversized(extent: Extent): readonly GeneratedCase[] {
  const many = extent === "exhaustive" ? 1_000_000 : 20_000;
  const length = extent === "exhaustive" ? 10 * MEBIBYTE : MEBIBYTE;
  const letters = "a".repeat(length);
  const digits = "1".repeat(length);
  const calls: Readonly<Record<string, () => Call>> = {
    "100000 nested lists": () => withText(`"x":${"[".repeat(1e5)}${"]".repeat(1e5)}`),
    "100000 nested objects": () => withText(`"ipam":${'{"ipam":'.repeat(1e5)}1${"}".repeat(1e5)}`),
    "100000 nested lists that nobody closes": () => withText(`"x":${"[".repeat(1e5)}`),
    "a prevResult nested 9000 deep for the chain": () =>
      withText(`"gcOnly":true,"prevResult":${"[".repeat(9000)}${"]".repeat(9000)}`),
    "many members": () => withText(times(many, (at) => `"k${at}":1`).join()),
    "a number of many digits": () => withText(`"x":${digits}`),
    "many ranges in a set": () => add({ ranges: [times(many, rangeAt)] }),
    "many equal ranges in a set": () => add({ ranges: [times(many, () => rangeAt(0))] }),
    "many range sets of which the last two overlap": () =>
      add({ ranges: [...times(many, (at) => [rangeAt(at)]), [rangeAt(many - 1)]] }),
    "many excluded addresses": () =>
      add({ subnet: "198.0.0.0/8", rangeStart: addressAt(0), exclude: times(many, addressAt) }),
    "many routes": () => add({ routes: times(many, () => ({ dst: "0.0.0.0/0" })) }),
    "all of ::/0 excluded": () => add({ subnet: "::/0", exclude: ["::/1", "8000::/1"] }),
    "many colons as subnet": () => add({ subnet: ":".repeat(length) }),
    "many digits as prefix length": () => add({ subnet: `198.18.0.0/${digits}` }),
    "many letters as dataDir": () => add({ dataDir: `data/${letters}` }),
    "many requested addresses": () => add({}, { args: { cni: { ips: times(many, addressAt) } } }),
    "many letters as name": () => add({}, { name: letters }),
    "many digits as cniVersion": () => add({}, { cniVersion: digits }),
    "many escapes": () => add({}, { note: "\n".repeat(length / 2) }),
    "many letters as container id": () => inVariable("CNI_CONTAINERID", "a"),
    "many letters as arguments": () => inVariable("CNI_ARGS", "a"),
    "many arguments": () => inVariable("CNI_ARGS", "a=b;"),
    "many names in the path of the network namespace": () => inVariable("CNI_NETNS", "/n"),
  };
  return Object.entries(calls).map(([what, call]) => ({ what, call }));
}

/** An ADD with further members in `ipam`, and beside it. */
function add(ipam: JsonObject, top: JsonObject = {}): Call {
  const subnet = "ranges" in ipam ? {} : { subnet: "198.18.0.0/24" };
  const document = configuration("data", { ...subnet, ...ipam }, top);
  return attachmentCall("ADD", { containerId: "c9" }, document);
}

/** An ADD with further members at the end of the configuration, as text. */
function withText(members: string): Call {
  const call = add({});
  return { ...call, stdin: `${String(call.stdin).slice(0, -1)},${members}}` };
}

function inVariable(name: string, repeated: string): Call {
  const call = add({});
  const value = repeated.repeat(LONG_VARIABLE / repeated.length);
  return { ...call, environment: { ...call.environment, [name]: value } };
}

function times<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

function rangeAt(at: number): JsonObject {
  return { subnet: `${addressAt(4 * at)}/30` };
}

/** An address of 198.18.0.0/15 or, if there are very many, beyond it: an ADD does not ask who has an address. */
function addressAt(at: number): string {
  return `198.${18 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`;
}
