/** The index is a cache: without it, or where it cannot be kept, every answer is the same. */

import { test } from "tap";
import { pauseAt } from "../../system/interruption.ts";
import { MemoryMachine } from "../../system/memory-machine.ts";
import { type Answer, type CallOptions, Network } from "../../verbs/network.ts";
import { brokenAnswers, executables, INDEX, STAMP, sets } from "./full-scan.ts";

const attachments = ["victim eth0", "neighbour eth0", "new eth0", "old eth0", "none eth0"];

const acts: readonly (readonly [
  name: string,
  act: (network: Network, options: CallOptions) => Answer,
])[] = [
  ["ADD", (network, options) => network.add("new", options)],
  ["DEL", (network, options) => network.del("victim", options)],
  ["DEL of nothing", (network, options) => network.del("none", options)],
  ["GC", (network, options) => network.gc(["neighbour eth0"], options)],
  ["CHECK", (network, options) => network.check("victim", options)],
  ["STATUS", (network, options) => network.strictStatus(options)],
];

function prepare(isForeign: boolean, machine = new MemoryMachine()): Network {
  const network = new Network(machine, { ranges: sets.map((one) => [one]) });
  network.put("10.9.9.9", "old");
  network.add("neighbour");
  network.add("victim");
  if (isForeign) network.put("10.9.9.8", "victim\r\neth0");
  return network;
}

for (const [verb, act] of acts) {
  for (const { name, options } of executables) {
    for (const isForeign of [false, true]) {
      const world = `${name}${isForeign ? ", after a foreign write" : ""}`;
      test(`the index may be deleted at any system call of ${verb}: ${world}`, (t) => {
        const undisturbed = prepare(isForeign);
        const expected = act(undisturbed, options);
        const broken: string[] = [];

        for (const { number, operation } of expected.calls) {
          const network = prepare(isForeign);
          const remove = pauseAt(number, () => network.machine.disk.removeAll(INDEX));
          const answer = act(network, { ...options, interrupt: remove });
          if (answer.stdout !== expected.stdout) broken.push(`${number} says ${answer.stdout}`);
          const files = JSON.stringify(network.reservations());
          if (files !== JSON.stringify(undisturbed.reservations()))
            broken.push(`${number} ${files}`);
          const found = brokenAnswers(network, attachments);
          broken.push(...found.map((text) => `${number} ${operation}: ${text}`));
        }

        t.equal(broken.join("\n"), "");
        t.end();
      });
    }
  }
}

test("the index may be deleted between calls, whole, its stamp alone or single entries", (t) => {
  for (const path of [INDEX, STAMP, `${INDEX}/victim:eth0`, `${INDEX}/neighbour:eth0`]) {
    const network = prepare(false);
    network.machine.disk.removeAll(path);

    t.same(brokenAnswers(network, attachments), []);
    t.same(network.del("none").exitCode, 0);
    t.ok(network.machine.disk.has(STAMP), "it is made anew");
    t.same(brokenAnswers(network, attachments), []);
  }
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

test("a file system without symbolic links changes no answer", (t) => {
  const machine = new MemoryMachine();
  machine.disk.symbolicLinks = false;

  t.same(live(prepare(true, machine), "long"), []);
  t.same(machine.disk.filesUnder(INDEX), {});
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

test("an owner of more addresses than a link can list changes no answer", (t) => {
  const network = prepare(false);
  for (let at = 0; at < 600; at++) {
    network.put(`10.8.${at >> 8}.${at & 255}`, "many\r\neth0");
  }
  network.del("none");

  t.equal(network.machine.disk.readLink(`${INDEX}/many:eth0`), "?");
  t.same(brokenAnswers(network, [...attachments, "many eth0"]), []);
  network.del("many");
  t.same(brokenAnswers(network, [...attachments, "many eth0"]), []);
  t.notOk(Object.values(network.reservations()).includes("many\r\neth0"));
  t.end();
});
