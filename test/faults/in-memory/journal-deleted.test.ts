// test: own process
/** The journal is a cache: where it cannot be kept, or says little, every answer is the same. */

import { test } from "tap";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { Network } from "../../harness/network.ts";
import { brokenAnswers, JOURNAL, sets } from "./full-scan.ts";

const attachments = ["victim eth0", "neighbour eth0", "new eth0", "old eth0", "none eth0"];

function prepare(isForeign: boolean, machine = new MemoryMachine()): Network {
  const network = new Network(machine, { ranges: sets.map((one) => [one]) });
  network.put("10.9.9.9", "old");
  network.add("neighbour");
  network.add("victim");
  if (isForeign) network.put("10.9.9.8", "victim\r\neth0");
  return network;
}

test("a journal from before the machine was booted is not believed", (t) => {
  const network = prepare(false);
  const { disk } = network.machine;
  // As after a power loss: what the journal says reached the disk, what was written later did not.
  for (const address of ["10.0.0.3", "2001:db8::3"])
    disk.write(`${network.directory}/${address}`, "");
  network.machine.boot();
  network.machine.wait(60_000);

  const given = [1, 2, 3, 4, 5].map((at) => network.add(`next${at}`).addresses[0]);

  t.same(given, ["10.0.0.4", "10.0.0.5", "10.0.0.6", "10.0.0.2", "10.0.0.3"]);
  t.end();
});

/** Everything that an attachment does in its life, answered as a full scan says at each step. */
function live(network: Network, id: string): readonly string[] {
  const names = [...attachments, `${id} eth0`];
  const broken: string[] = [];
  const look = (): void => {
    broken.push(...brokenAnswers(network, names));
  };
  look();
  if (network.add(id).exitCode !== 0) broken.push("ADD fails");
  look();
  network.put("10.9.9.7", `${id}\r\neth0`);
  look();
  if (network.del(id).exitCode !== 0) broken.push("DEL fails");
  look();
  network.machine.wait(5000);
  network.del("none");
  network.put("10.9.9.7", `${id}\r\neth0`);
  look();
  return broken;
}

test("without /proc, no boot is known, and every answer is the same", (t) => {
  const machine = new MemoryMachine();
  machine.bootId = undefined;

  t.same(live(prepare(true, machine), "long"), []);
  t.notOk(machine.disk.has(JOURNAL));
  t.end();
});

test("times in full seconds change no answer", (t) => {
  const machine = new MemoryMachine();
  machine.disk.resolution = 1_000_000_000n;

  t.same(live(prepare(false, machine), "long"), []);
  t.end();
});

test("an owner whose name is longer than a file's changes no answer", (t) => {
  for (const length of [250, 251, 300]) {
    t.same(live(prepare(false), "x".repeat(length)), []);
  }
  t.end();
});

test("an owner of many addresses changes no answer", (t) => {
  const network = prepare(false);
  for (let at = 0; at < 600; at++) {
    network.put(`10.8.${at >> 8}.${at & 255}`, "many\r\neth0");
  }
  network.del("none");

  t.same(brokenAnswers(network, [...attachments, "many eth0"]), []);
  network.del("many");
  t.same(brokenAnswers(network, [...attachments, "many eth0"]), []);
  t.notOk(Object.values(network.reservations()).includes("many\r\neth0"));
  t.end();
});

test("a journal that has grown is written anew", (t) => {
  const network = prepare(false);
  const id = "x".repeat(2000);
  for (let at = 0; at < 40; at++) {
    network.add(id);
    network.del(id);
  }

  t.ok(network.machine.disk.readFile(JOURNAL, 1e6).length < 80_000);
  t.same(brokenAnswers(network, [...attachments, `${id} eth0`]), []);
  t.end();
});
