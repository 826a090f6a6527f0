/** Reservations from before this boot are reclaimed where an ADD would fail without that; kubernetes#57280, k3s#4682. */

import { test } from "tap";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";

/** A network of five addresses, all of them held by `old2` to `old6`, a minute ago. */
function full(ipam: object = {}): Network {
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/29", ...ipam });
  for (let last = 2; last <= 6; last++) network.add(`old${last}`);
  network.machine.wait(60_000);
  // It changes nothing, and is the last call of this boot.
  network.add("refused");
  return network;
}

/** Adds containers until there is no address left. */
function fill(network: Network, prefix = "new"): readonly string[] {
  const given: string[] = [];
  for (let at = 0; at <= 5; at++) {
    const { addresses, error } = network.add(`${prefix}${given.length}`);
    if (error !== undefined) return given;
    given.push(...addresses);
  }
  throw new Error(`more than there are: ${given}`);
}

test("a requested address is granted if reserved from before this boot, or by the same container", async (t) => {
  const network = full();
  network.machine.boot();

  t.same(network.add("new", { cniArgs: "IP=10.0.0.3" }).addresses, ["10.0.0.3"]);
  t.match(
    network.add("newer", { cniArgs: "IP=10.0.0.3" }).error?.msg,
    "requested IP address 10.0.0.3 is not available",
  );
  t.same(network.add("old6").addresses, ["10.0.0.6"], "its own");
  t.match(network.add("old6").error?.msg, "duplicate allocation is not allowed");
  t.match(
    network.add("old5", { ipam: { reclaim: "never" } }).error?.msg,
    "duplicate allocation is not allowed",
  );
});

test("a repeated ADD brings a reservation to life again, whatever boot it is from", async (t) => {
  const network = full({ repeatedAdd: "same" });
  network.machine.boot();

  t.same(network.add("old3").addresses, ["10.0.0.3"]);

  t.same(fill(network), ["10.0.0.2", "10.0.0.4", "10.0.0.5", "10.0.0.6"]);
  network.machine.boot();
  t.equal(fill(network, "next").length, 5, "until the next boot");
});
