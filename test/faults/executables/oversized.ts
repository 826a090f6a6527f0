/** Calls whose configuration or environment is larger, deeper or wider than any that is meant. */

import type { Call } from "../../harness/executable.ts";
import type { Extent } from "../../harness/extent.ts";
import { attachmentCall, type JsonObject } from "../../harness/runtime-call.ts";
import type { GeneratedCase } from "./generated-call.ts";

const MEBIBYTE = 1024 * 1024;

/** As much as the kernel takes in one variable. */
const LONG_VARIABLE = 100 * 1024;

/** All of them; how many elements, and how long, depends on the extent. */
export function oversized(extent: Extent): readonly GeneratedCase[] {
  const many = extent === "exhaustive" ? 1_000_000 : 20_000;
  const length = extent === "exhaustive" ? 10 * MEBIBYTE : MEBIBYTE;
  const letters = "a".repeat(length);
  const digits = "1".repeat(length);
  const members: Readonly<Record<string, () => string>> = {
    "100000 nested lists": () => `"x":${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    "100000 nested objects": () => `"ipam":${'{"ipam":'.repeat(100_000)}1${"}".repeat(100_000)}`,
    "100000 nested lists that nobody closes": () => `"x":${"[".repeat(100_000)}`,
    "a prevResult nested 9000 deep for the chain": () =>
      `"gcOnly":true,"prevResult":${"[".repeat(9000)}${"]".repeat(9000)}`,
    members: () => times(many, (at) => `"k${at}":1`).join(),
    "digits of a number": () => `"x":${digits}`,
  };
  const settings: Readonly<Record<string, () => JsonObject>> = {
    "ranges in a set": () => ({ ranges: [times(many, rangeAt)] }),
    "equal ranges in a set": () => ({ ranges: [times(many, () => rangeAt(0))] }),
    "range sets of which the last two overlap": () => ({
      ranges: [...times(many, (at) => [rangeAt(at)]), [rangeAt(many - 1)]],
    }),
    "excluded addresses": () => ({ subnet: "10.0.0.0/8", exclude: times(many, addressAt) }),
    routes: () => ({ routes: times(many, () => ({ dst: "0.0.0.0/0" })) }),
    "all of ::/0 excluded": () => ({ subnet: "::/0", exclude: ["::/1", "8000::/1"] }),
    "colons as subnet": () => ({ subnet: ":".repeat(length) }),
    "digits as prefix length": () => ({ subnet: `10.0.0.0/${digits}` }),
    "digits as gateway": () => ({ gateway: digits }),
    "letters as dataDir": () => ({ dataDir: `data/${letters}` }),
    "letters as resolvConf": () => ({ resolvConf: letters }),
  };
  const documents: Readonly<Record<string, () => JsonObject>> = {
    "requested addresses": () => ({ args: { cni: { ips: times(many, addressAt) } } }),
    "letters as name": () => ({ name: letters }),
    "slashes as name": () => ({ name: "/".repeat(length) }),
    "letters as cniVersion": () => ({ cniVersion: letters }),
    "digits as cniVersion": () => ({ cniVersion: digits }),
    escapes: () => ({ note: "\n".repeat(length / 2) }),
  };
  const variables: readonly (readonly [variable: string, value: string])[] = [
    ["CNI_CONTAINERID", "a".repeat(LONG_VARIABLE)],
    ["CNI_CONTAINERID", "a".repeat(300)],
    ["CNI_IFNAME", "a".repeat(LONG_VARIABLE)],
    ["CNI_ARGS", "a".repeat(LONG_VARIABLE)],
    ["CNI_ARGS", "a=b;".repeat(LONG_VARIABLE / 4)],
    ["CNI_ARGS", `IgnoreUnknown=1;${"a=b;".repeat(LONG_VARIABLE / 4 - 10)}a=b`],
    ["CNI_ARGS", `IP=${":".repeat(LONG_VARIABLE)}`],
    ["CNI_NETNS", "/n".repeat(LONG_VARIABLE / 2)],
  ];
  return [
    ...Object.entries(members).map(([what, member]) => ({
      what: `many ${what}`,
      call: () => add(`${written().slice(0, -1)},${member()}}`),
    })),
    ...Object.entries(settings).map(([what, ipam]) => ({
      what: `many ${what}`,
      call: () => add(written(ipam())),
    })),
    ...Object.entries(documents).map(([what, document]) => ({
      what: `many ${what}`,
      call: () => add(written({}, document())),
    })),
    ...variables.map(([variable, value]) => ({
      what: `${variable} of ${value.length} bytes: ${value.slice(0, 10)}`,
      call: () => add(written(), { [variable]: value }),
    })),
  ];
}

function add(stdin: string, environment: Readonly<Record<string, string>> = {}): Call {
  const call = attachmentCall("ADD", { containerId: "c9" }, {});
  return { ...call, environment: { ...call.environment, ...environment }, stdin };
}

/** The configuration `ipam` on a relative data directory, as text. */
function written(ipam: JsonObject = {}, top: JsonObject = {}): string {
  const subnet = "ranges" in ipam ? {} : { subnet: "10.0.0.0/24" };
  return JSON.stringify({
    cniVersion: "1.0.0",
    name: "net",
    ...top,
    ipam: { type: "host-local", dataDir: "data", ...subnet, ...ipam },
  });
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
