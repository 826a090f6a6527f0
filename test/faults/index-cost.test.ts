/** With a current index, a call costs the same however many reservations there are. */

import { test } from "tap";
import { MemoryMachine } from "../system/memory-machine.ts";
import { type Answer, Network } from "../verbs/network.ts";
import { executables } from "./full-scan.ts";

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

for (const { name, options } of executables) {
  test(`ADD, DEL, CHECK and STATUS of ${name} read no foreign reservation`, (t) => {
    const network = crowded();
    const acts = [
      () => network.add("new", options),
      () => network.check("new", options),
      () => network.status(options),
      () => network.del("new", options),
      () => network.check("mine", options),
      () => network.add("next", options),
      () => network.del("mine", options),
    ];

    for (const act of acts) {
      const answer = act();
      t.equal(answer.exitCode, 0);
      t.ok(answer.calls.length < 40, `${answer.calls.length} calls`);
      t.same(costOf(network, answer), free);
    }
    t.end();
  });

  test(`one call of ${name} searches after a foreign change, and only one`, (t) => {
    const network = crowded();
    network.put("10.0.99.1", "foreign\r\neth0");

    t.same(costOf(network, network.add("first", options)), search);
    t.same(costOf(network, network.add("second", options)), free);
    t.same(costOf(network, network.del("first", options)), free);
    t.same(costOf(network, network.check("foreign", options)), free);
    t.end();
  });
}

test("a repeated DEL by the native executable reads no foreign reservation", (t) => {
  const network = crowded();
  network.del("mine");

  t.same(costOf(network, network.del("mine")), free);
  t.end();
});

test("a DEL of nothing by the portable executable searches: the Go plugin is not locked out", (t) => {
  const network = crowded();

  t.same(costOf(network, network.del("none", { lockKind: "portable" })), free);
  network.add("new", { lockKind: "portable" });
  t.same(costOf(network, network.del("none", { lockKind: "portable" })), search);
  t.end();
});
