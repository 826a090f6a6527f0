/** With a current index, a call costs the same however many reservations there are. */

import { test } from "tap";
import { MemoryMachine } from "../../system/memory-machine.ts";
import { type Answer, Network } from "../../verbs/network.ts";

const MANY = 5000;
const subnet = { subnet: "10.0.0.0/16" };

function crowded(): Network {
  const network = new Network(new MemoryMachine(), subnet);
  for (let at = 0; at < MANY; at++) {
    network.put(`10.0.${100 + (at >> 8)}.${at & 255}`, `other${at}\r\neth0`);
  }
  network.add("mine");
  return network;
}

/** The reservations that a call read, and the searches that it made. */
function costOf(network: Network, { calls }: Answer): object {
  const read = calls
    .filter(({ operation }) => operation === "readFile")
    .map(({ path }) => path)
    .filter((path) => path.startsWith(`${network.directory}/10.`));
  const lists = calls.filter(
    ({ operation, path }) => operation === "list" && path === network.directory,
  );
  return { foreign: read.filter((path) => /\.1\d\d\.\d+$/.test(path)).length, lists: lists.length };
}

const free = { foreign: 0, lists: 0 };
const search = { foreign: MANY, lists: 1 };

test("ADD, DEL, CHECK and STATUS of the native executable read no foreign reservation", (t) => {
  const network = crowded();
  const acts = [
    () => network.add("new"),
    () => network.check("new"),
    () => network.strictStatus(),
    () => network.del("new"),
    () => network.check("mine"),
    () => network.add("next"),
    () => network.del("mine"),
    () => network.del("mine"),
  ];

  for (const act of acts) {
    const answer = act();
    t.equal(answer.exitCode, 0);
    t.ok(answer.calls.length < 40, `${answer.calls.length} calls`);
    t.same(costOf(network, answer), free);
  }
  t.end();
});

test("one call of the native executable searches after a foreign change, and only one", (t) => {
  const network = crowded();
  network.put("10.0.99.1", "foreign\r\neth0");

  t.same(costOf(network, network.add("first")), search);
  t.same(costOf(network, network.add("second")), free);
  t.same(costOf(network, network.del("first")), free);
  t.same(costOf(network, network.check("foreign")), free);
  t.end();
});

test("the portable executable, which does not lock out the Go plugin, searches after its own changes at first", (t) => {
  const network = crowded();
  const portable = { lockKind: "portable" };

  t.same(costOf(network, network.add("first", portable)), free);
  t.same(costOf(network, network.add("second", portable)), search);
  t.same(costOf(network, network.check("second", portable)), free);
  t.same(costOf(network, network.del("second", portable)), search);
  t.same(costOf(network, network.del("first")), search, "so does the native one, once");
  t.same(costOf(network, network.del("first")), free);
  t.same(costOf(network, network.del("first", portable)), free);
  t.end();
});

test("the portable executable reads no foreign reservation once nobody else wrote for half a minute", (t) => {
  const network = crowded();
  const portable = { lockKind: "portable" };
  network.add("first", portable);
  network.machine.wait(31_000);

  t.same(costOf(network, network.add("second", portable)), search);
  t.same(costOf(network, network.add("third", portable)), free);
  t.same(costOf(network, network.del("second", portable)), free);
  network.machine.wait(5000);
  t.same(costOf(network, network.add("second", portable)), free);
  network.put("10.0.99.1", "foreign\r\neth0");
  t.same(costOf(network, network.add("fourth", portable)), search);
  t.end();
});
