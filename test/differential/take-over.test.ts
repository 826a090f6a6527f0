// test: each executable, one if short, portable in short, Go plugin, each architecture, slow
/** Either plugin takes over from the other at any moment of an attachment's life. */

import { test } from "tap";
import { executable } from "../harness/executable.ts";
import { type ExecutableNetwork, networkFor } from "../harness/executable-network.ts";
import { extent } from "../harness/extent.ts";
import { byGoPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { grantedAddresses } from "../harness/network.ts";
import { readError } from "../harness/printed-error.ts";
import type { JsonObject } from "../harness/runtime-call.ts";

const skip = skipWithoutGoPlugin;

const go = byGoPlugin;
const here = { ...byGoPlugin, program: executable };

const networks: readonly [string, JsonObject][] = [
  ["one range", { subnet: "198.51.100.0/29" }],
  ["two families", { ranges: [[{ subnet: "198.51.100.0/29" }], [{ subnet: "2001:db8::/125" }]] }],
  [
    "two ranges in a set",
    {
      ranges: [
        [{ subnet: "198.51.100.0/30" }, { subnet: "203.0.113.0/29", gateway: "203.0.113.3" }],
      ],
    },
  ],
];

/** The names and contents of the files: their modes differ in older Go plugins. */
function files(network: ExecutableNetwork) {
  return network.tree().map(({ path, content }) => [path, content]);
}

for (const [what, ipam] of extent === "short" ? networks.slice(1, 2) : networks) {
  test(`handing over at every step leaves the same files as one plugin alone: ${what}`, {
    skip,
  }, async (t) => {
    const mixed = networkFor(t, ipam);
    const alone = networkFor(t, ipam);
    const isAnsweredAlike = (verb: "add" | "check" | "del", id: string, by: object): void => {
      const answer = mixed[verb](id, by);
      const expected = alone[verb](id, go);
      t.equal(answer.exitCode, expected.exitCode, `${verb} ${id}`);
      t.same(grantedAddresses(answer), grantedAddresses(expected));
      t.equal(readError(answer.stdout)?.msg, readError(expected.stdout)?.msg);
    };

    for (let round = 0; round < (extent === "short" ? 9 : 24); round++) {
      const [first, second] = round % 2 === 0 ? [here, go] : [go, here];
      isAnsweredAlike("add", `c${round}`, first);
      isAnsweredAlike("check", `c${round}`, second);
      // The attachment already has an address, or the range is full.
      isAnsweredAlike("add", `c${round}`, second);
      // The attachments in the middle of their lives were added by one plugin or the other.
      if (round % 3 === 2) isAnsweredAlike("del", `c${round - 2}`, second);
      t.same(files(mixed), files(alone));
    }
  });
}
