/** Random changes that somebody makes by hand in a data directory. */

import type { RandomConfiguration } from "./random-configuration.ts";
import { containers, interfaces, type Situation, type TamperStep } from "./step.ts";

/**
 * Chooses a change.
 *
 * @param situation the facts on which the choice depends
 * @param configuration a configuration of the network to tamper with
 */
export function randomTampering(
  { random, tree }: Situation,
  { document, sets }: RandomConfiguration,
): TamperStep {
  const network = String(document.name);
  const range = random.pick(random.pick(sets));
  const inRange = `${network}/${range.addressAt(range.first + random.integer(6))}`;
  const owner = `${random.pick(containers)}\r\n${random.pick(interfaces)}`;
  const files = tree.filter(({ path }) => path.startsWith(`${network}/`) && !path.endsWith("/"));
  const write = (path: string, content: string): TamperStep => ({ kind: "write", path, content });
  switch (random.integer(8)) {
    case 0:
      // White space after the address is left out: see "White space around the address in a cursor file does not matter" in
      // blackbox/differences.ts.
      return write(
        `${network}/last_reserved_ip.${random.integer(sets.length)}`,
        random.pick([
          range.addressAt(range.first + random.integer(6)),
          range.addressAt(range.last),
          range.addressAt(0),
          "",
          "garbage \xb0\xff",
          `${range.addressAt(range.first)}\xb0`,
          "198.18.0.3/29",
          "::ffff:198.18.0.3",
          "2001:db8::1",
          "203.0.113.9",
        ]),
      );
    case 1:
      return write(inRange, random.pick(containers));
    case 2:
      return write(inRange, random.pick([owner, `  ${owner}\n`, `${owner}\t`]));
    case 3:
      // Garbage lies outside every range: inside one it would be taken over some time. See
      // "Reservations are created atomically" in blackbox/differences.ts.
      return write(
        `${network}/${random.pick(["203.0.113.9", "2001:db8:eeee::1"])}`,
        random.pick([
          owner,
          random.pick(containers),
          "",
          "c1\neth0",
          "c1\xb0\r\neth0",
          "garbage \xe9",
        ]),
      );
    case 4:
      // The text is no owner: see "Only files named as an address, directly in the network's directory, are reservations" in
      // blackbox/differences.ts.
      return write(`${network}/${random.pick(["notes", "198.18.0", "::x"])}`, "not an owner");
    case 5:
      return { kind: "directory", path: inRange, content: "" };
    case 6:
      return { kind: "link", path: inRange, content: "nowhere" };
    default:
      return files.length === 0
        ? write(inRange, owner)
        : { kind: "remove", path: random.pick(files).path, content: "" };
  }
}
