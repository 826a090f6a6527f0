// test: own process
/** With a current journal, a call costs the same, however many reservations there are. */

import { type Test, test } from "tap";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { type Answer, Network } from "../../harness/network.ts";

/** Requires that a call works, reads no reservation of `others`, and searches the directory this many times. */
function isCheap(t: Test, network: Network, { exitCode, calls }: Answer, searches: number): void {
  const searching = ["list", "listAddresses", "readFiles"];
  const lists = calls.filter(
    ({ operation, path }) => searching.includes(operation) && path === network.directory,
  );
  const foreign = calls.filter(
    ({ operation, path }) => operation === "readFile" && /\/10\.0\.1\d\d\.\d+$/.test(path),
  );
  t.equal(exitCode, 0);
  t.ok(calls.length < 50, `${calls.length} calls`);
  t.same({ lists: lists.length, foreign }, { lists: searches, foreign: [] });
}

test("ADD, DEL, CHECK and STATUS of the native executable read no foreign reservation", async (t) => {
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/16" });
  for (let at = 0; at < 5000; at++) {
    network.put(`10.0.${100 + (at >> 8)}.${at & 255}`, `other${at}\r\neth0`);
  }
  network.add("mine");

  isCheap(t, network, network.add("new"), 0);
  isCheap(t, network, network.check("new"), 0);
  isCheap(t, network, network.strictStatus(), 0);
  for (const id of ["new", "mine", "mine"]) isCheap(t, network, network.del(id), 0);
});

test("a full range and one with a single free address are searched by their names alone", async (t) => {
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/24" });
  for (let at = 2; at < 255; at++) network.add(`c${at}`);

  const full = network.add("one-more");
  t.match(full.error?.msg, /no IP addresses available/);
  network.del("c77");
  const last = network.add("one-more");

  t.same(last.addresses, ["10.0.0.77"]);
  isCheap(t, network, last, 1);
});
