/** `System.listAddresses` from a list of names. */

import type { Names } from "./system.ts";

const OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const QUAD = new RegExp(`^${OCTET}\\.${OCTET}\\.${OCTET}\\.${OCTET}$`);

export function namesOf(names: readonly string[]): Names {
  const quads: number[] = [];
  const others: string[] = [];
  for (const name of names) {
    const octets = QUAD.exec(name)?.slice(1);
    if (octets === undefined) others.push(name);
    else quads.push(octets.reduce((value, octet) => value * 256 + Number(octet), 0));
  }
  return { quads: quads.sort((a, b) => a - b), others };
}
