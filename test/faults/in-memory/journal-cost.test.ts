// test: own process
/** With a current journal, a call costs the same however many reservations there are. */

import { test } from "tap";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { type Answer, Network } from "../../harness/network.ts";

const MANY = 5000;
const subnet = { subnet: "10.0.0.0/16" };

function wellFilled(): Network {
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
    ({ operation, path }) =>
      ["list", "listAddresses", "readFiles"].includes(operation) && path === network.directory,
  );
  return { foreign: read.filter((path) => /\.1\d\d\.\d+$/.test(path)).length, lists: lists.length };
}

const free = { foreign: 0, lists: 0 };

test("ADD, DEL, CHECK and STATUS of the native executable read no foreign reservation", async (t) => {
  const network = wellFilled();
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
});

test("a full range and one with a single free address are searched by their names alone", async (t) => {
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/24" });
  for (let at = 2; at < 255; at++) network.add(`c${at}`);

  const full = network.add("one-more");
  t.match(full.error?.msg, /no IP addresses available/);
  network.del("c77");
  const last = network.add("one-more");

  t.same(last.addresses, ["10.0.0.77"]);
  t.ok(last.calls.length < 50, `${last.calls.length} calls`);
  t.same(costOf(network, last), { foreign: 0, lists: 1 });
});
