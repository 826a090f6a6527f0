// test: each executable, one if short, Go plugin, each architecture, slow
/** Either plugin takes over from the other at any moment of an attachment's life. */

import { join } from "node:path";
import { test } from "tap";
import { populate, treeOf } from "../harness/data-directory.ts";
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

const directions = [
  ["the Go plugin", go, "this one", here],
  ["this one", here, "the Go plugin", go],
] as const;

const networks: readonly [string, JsonObject][] = [
  ["one range", { subnet: "10.0.0.0/29" }],
  ["two families", { ranges: [[{ subnet: "10.0.0.0/29" }], [{ subnet: "2001:db8::/125" }]] }],
  [
    "two ranges in a set",
    { ranges: [[{ subnet: "10.0.0.0/30" }, { subnet: "10.0.1.0/29", gateway: "10.0.1.3" }]] },
  ],
];

/** File modes differ in older Go plugins, so names and contents are compared. */
function files(network: ExecutableNetwork) {
  return network.tree().map(({ path, content }) => [path, content]);
}

for (const [first, before, second, after] of directions) {
  for (const [what, ipam] of extent === "short" ? networks.slice(1, 2) : networks) {
    test(`${first} adds and ${second} deletes: ${what}`, { skip }, async (t) => {
      const network = networkFor(t, ipam);
      t.equal(network.add("c1", before).exitCode, 0);
      t.equal(network.add("c2", before).exitCode, 0);
      const both = network.reserved();

      for (const answer of [network.check("c1", after), network.del("c1", after)]) {
        t.match(answer, { exitCode: 0, stdout: /^$/, stderr: /^$/ });
      }

      t.equal(network.reserved().length, both.length / 2);
      t.equal(network.check("c2", before).exitCode, 0);
      t.equal(network.check("c1", before).exitCode, 1);
    });

    test(`${second} goes on where ${first} stopped: ${what}`, { skip }, async (t) => {
      const network = networkFor(t, ipam);
      const alone = networkFor(t, ipam);
      for (const id of ["c1", "c2", "c3"]) {
        network.add(id, before);
        alone.add(id, before);
      }
      network.del("c1", before);
      alone.del("c1", before);

      for (const id of ["c4", "c5", "c6", "c7"]) {
        const answer = network.add(id, after);
        const expected = alone.add(id, before);
        t.equal(answer.exitCode, expected.exitCode, id);
        t.same(grantedAddresses(answer), grantedAddresses(expected), id);
        t.equal(readError(answer.stdout)?.msg, readError(expected.stdout)?.msg, id);
      }
      t.same(files(network), files(alone));
    });

    test(`${second} sees what ${first} reserved for the same attachment: ${what}`, {
      skip,
    }, async (t) => {
      const network = networkFor(t, ipam);
      const [address] = grantedAddresses(network.add("c1", before));
      const reserved = files(network);

      const refused = network.add("c1", after);

      t.equal(
        readError(refused.stdout)?.msg,
        `failed to allocate for range 0: ${address} has been allocated to c1, duplicate allocation is not allowed`,
      );
      t.same(files(network), reserved);
    });
  }
}

test("handing over at every step leaves the same files as one plugin alone", {
  skip,
}, async (t) => {
  const ipam = { ranges: [[{ subnet: "10.0.0.0/28" }], [{ subnet: "2001:db8::/124" }]] };
  const mixed = networkFor(t, ipam);
  const alone = networkFor(t, ipam);

  for (let round = 0; round < (extent === "short" ? 9 : 24); round++) {
    const options = round % 2 === 0 ? here : go;
    t.same(
      grantedAddresses(mixed.add(`c${round}`, options)),
      grantedAddresses(alone.add(`c${round}`, go)),
      `ADD ${round}`,
    );
    if (round % 3 === 2) {
      // The attachments in the middle of their lives were added by one plugin or the other.
      mixed.del(`c${round - 2}`, options);
      alone.del(`c${round - 2}`, go);
    }
  }

  t.same(files(mixed), files(alone));
});

test("a directory from before interfaces were noted serves both", { skip }, async (t) => {
  const network = networkFor(t, { subnet: "10.0.0.0/29" });
  populate(network.machine.dataDirectory, [
    { path: "net/10.0.0.2", content: "old1" },
    { path: "net/10.0.0.3", content: "old2" },
  ]);

  t.equal(network.check("old1", here).exitCode, 0);
  t.equal(network.del("old1", here).exitCode, 0);
  t.equal(network.check("old2", go).exitCode, 0);
  t.equal(network.del("old2", go).exitCode, 0);
  t.same(network.reserved(), []);
});

test("what this plugin keeps for itself is invisible to the Go plugin", { skip }, async (t) => {
  const network = networkFor(t, { subnet: "10.0.0.0/29" });
  network.add("c1", here);
  network.del("c1", here);

  t.equal(network.check("c1", go).exitCode, 1);
  t.same(
    treeOf(join(network.machine.dataDirectory, "net")).map(({ path }) => path),
    ["last_reserved_ip.0", "lock"],
  );
});
