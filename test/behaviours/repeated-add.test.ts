// test: each executable, one if short
/** A repeated ADD with `"repeatedAdd": "same"` gets the result of the first one. */

import type { Test } from "tap";
import type { Machine } from "../harness/machine.ts";
import type { Network } from "../harness/network.ts";
import { behaviour, changesNothing, dualStack, fails, five } from "./behaviour.ts";

/** Expects that all files have the same content after a body; the file of each reservation is a new one. */
function keepsFiles(t: Test, network: Network<Machine>, body: () => void): void {
  const before = network.tree();
  body();
  t.strictSame(network.tree(), before);
}

const same = { repeatedAdd: "same", ...dualStack };
const sameOfOne = { repeatedAdd: "same", ...five };

behaviour(
  "ADD repeated prints the same bytes and keeps every reservation and cursor",
  { ipam: { ...same, routes: [{ dst: "0.0.0.0/0" }] } },
  (t, network) => {
    const top = { cniVersion: "0.4.0" };
    network.machine.put("resolv.conf", "nameserver 192.0.2.53\n");
    const ipam = { resolvConf: `${network.machine.dataDirectory}/resolv.conf` };
    const first = network.add("c1", { top, ipam });
    network.add("c2");

    keepsFiles(t, network, () => {
      const again = network.add("c1", { top, ipam });

      t.same([again.exitCode, again.stdout, again.stderr], [0, first.stdout, ""]);
    });
    t.same(network.add("c3").addresses, ["198.51.100.4", "2001:db8::4"], "the cursors stay");
  },
);

behaviour(
  'ADD repeated with "error" is the Go plugin\'s error, and changes nothing',
  { ipam: { ...five, repeatedAdd: "error" } },
  (t, network) => {
    network.add("c1");
    changesNothing(t, network, () => {
      const refused = network.add("c1");
      fails(t, refused, 999, "duplicate allocation is not allowed");
      t.match(
        refused.error?.details,
        /\/198\.51\.100\.2 already reserves an address of this range set for .* eth0\. If this container is to be started again, and no process of it runs: `host-local release c1 --network net/,
      );
    });
  },
);

behaviour("ADD for another interface is not repeated", { ipam: sameOfOne }, (t, network) => {
  network.add("c1");
  t.same(network.add("c1", { interfaceName: "eth1" }).addresses, ["198.51.100.3"]);
  t.same(network.add("c1", { interfaceName: "eth1" }).addresses, ["198.51.100.3"]);
});

behaviour(
  "ADD of an attachment with an address in one set alone is the Go plugin's error, and keeps it",
  { ipam: same, files: { "2001:db8::5": "c1\r\neth0" } },
  (t, network) => {
    const words =
      "failed to allocate for range 1: 2001:db8::5 has been allocated to c1, duplicate allocation is not allowed";
    fails(t, network.add("c1"), 999, words);
    t.same(network.reserved(), ["2001:db8::5"]);
  },
);

behaviour(
  "ADD repeated is refused if it requests what the attachment does not hold, even a free one",
  { ipam: same },
  (t, network) => {
    network.add("c1");

    changesNothing(t, network, () => {
      const refused = network.add("c1", { cniArgs: "IP=2001:db8::5" });
      fails(t, refused, 999, "failed to allocate for range 1: requested IP address 2001:db8::5 is");
      const unserved = network.add("c1", { cniArgs: "IP=203.0.113.9" });
      fails(t, unserved, 999, /^failed to allocate all requested IPs: 203\.0\.113\.9$/);
    });
  },
);
