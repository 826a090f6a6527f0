/** The network interfaces and their addresses, by `getifaddrs(3)`; os.networkInterfaces() leaves out those without a carrier. */

import type { DynamicLibrary } from "node:ffi";

type Ffi = typeof import("node:ffi");

/** Where the members of `struct ifaddrs` are on a 64-bit machine, in bytes; the first one is the next entry. */
const NAME = 8;
const ADDRESS = 24;
const NETMASK = 32;

/** The families of `struct sockaddr`, and where the bytes of their addresses are. */
const IPV4 = { family: 2, at: 4, size: 4 };
const IPV6 = { family: 10, at: 8, size: 16 };

/** Lists interfaces as `OperatorSystem.listInterfaces` does; `undefined` where that fails. */
export function interfacesOf(ffi: Ffi, library: DynamicLibrary): readonly string[] | undefined {
  const first = new BigUint64Array(1);
  const takesPointer = { arguments: ["pointer"], return: "int32" } as const;
  if (library.getFunction("getifaddrs", takesPointer)(first) !== 0) return undefined;
  const lines: string[] = [];
  for (let one = first[0] ?? 0n; one !== 0n; one = ffi.getUint64(one)) lines.push(lineOf(ffi, one));
  library.getFunction("freeifaddrs", takesPointer)(first[0] ?? 0n);
  return lines;
}

function lineOf(ffi: Ffi, entry: bigint): string {
  // Behind the colon is the label of an IPv4 address.
  const [name = ""] = (ffi.toString(ffi.getUint64(entry, NAME)) ?? "").split(":", 1);
  const address = bytesAt(ffi, ffi.getUint64(entry, ADDRESS));
  const netmask = bytesAt(ffi, ffi.getUint64(entry, NETMASK));
  if (address === undefined || netmask === undefined) return name;
  const ones = netmask.map((byte) => byte.toString(2).replaceAll("0", "").length);
  const length = ones.reduce((sum, one) => sum + one, 0);
  return `${name} ${textOf(address)}/${length}`;
}

/** `undefined` where there is none, or one of another family. */
function bytesAt(ffi: Ffi, address: bigint): readonly number[] | undefined {
  if (address === 0n) return undefined;
  const family = ffi.getUint16(address);
  const known = [IPV4, IPV6].find((one) => one.family === family);
  return known && [...ffi.toBuffer(address + BigInt(known.at), known.size)];
}

function textOf(bytes: readonly number[]): string {
  if (bytes.length === IPV4.size) return bytes.join(".");
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return (hex.match(/.{4}/g) ?? []).join(":");
}
