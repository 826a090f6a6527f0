// test: own process
/** Any sequence of calls is answered, and leaves the directory, as a simple model says. */

import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import { test } from "tap";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { type Answer, Network } from "../../harness/network.ts";
import { seed } from "../../harness/seed.ts";
import { configurationOf, Model, walk } from "./model.ts";
import { type ModelNetwork, networks, type Step, step } from "./steps.ts";

/** The plugin on one side, the model on the other. */
class Pair {
  readonly #network: Network;
  readonly #model: Model;

  constructor(machine: MemoryMachine, { name, sets }: ModelNetwork) {
    this.#network = new Network(machine, { ranges: sets.map(configurationOf) }, { name });
    this.#model = new Model(sets);
  }

  /** Does a step on both sides and compares what they say and what they hold. */
  take(step: Step): void {
    this.#model.now = this.#network.machine.time;
    deepStrictEqual(...this.#do(step));
    const { files, cursors } = this.#model;
    const contents = [...files].map(([address, { content }]) => [address, content]);
    deepStrictEqual(this.#network.reservations(), Object.fromEntries(contents.sort()));
    for (const [index, cursor] of cursors) deepStrictEqual(this.#network.cursor(index), cursor);
  }

  /** What happened, and what should have. */
  #do(step: Step): readonly [found: unknown, expected: unknown] {
    const network = this.#network;
    const model = this.#model;
    switch (step.verb) {
      case "ADD": {
        const { containerId, interfaceName } = step.attachment;
        const ips = { runtimeConfig: { ips: step.requested } };
        const answer = network.add(containerId, { interfaceName, top: ips });
        return [addressesOrMessage(answer), model.add(step.attachment, step.requested)];
      }
      case "DEL": {
        const { containerId, interfaceName } = step.attachment;
        model.del(step.attachment);
        return [network.del(containerId, { interfaceName }).stdout, ""];
      }
      case "CHECK": {
        const { containerId, interfaceName } = step.attachment;
        const found = network.check(containerId, { interfaceName });
        const message = `host-local: Failed to find address added by container ${containerId}`;
        return [found.error?.msg, model.check(step.attachment) ? undefined : message];
      }
      case "GC":
        model.gc(step.valid);
        return [
          network.gc(step.valid.map((at) => `${at.containerId} ${at.interfaceName}`)).stdout,
          "",
        ];
      case "put":
        network.put(step.address, step.file.content);
        model.files.set(step.address, { ...step.file, written: model.now });
        return ["", ""];
      case "remove": {
        const path = `${network.directory}/${step.address}`;
        if (network.machine.disk.has(path)) network.machine.disk.unlink(path);
        model.files.delete(step.address);
        return ["", ""];
      }
      case "set cursor":
        network.put("last_reserved_ip.0", step.text);
        model.cursors.set(0, step.text);
        return ["", ""];
      case "wait":
        network.machine.wait(step.milliseconds);
        return ["", ""];
    }
  }
}

function addressesOrMessage({ error, addresses }: Answer): object {
  return error === undefined ? { addresses } : { message: error.msg };
}

test("any sequence of calls on two networks is answered as the model says", (t) => {
  const pair = fc.shuffledSubarray([...networks], { minLength: 2, maxLength: 2 });
  const steps = fc.array(fc.tuple(fc.nat({ max: 1 }), step), { maxLength: 60, size: "max" });

  fc.assert(
    fc.property(pair, steps, (chosen, taken) => {
      const machine = new MemoryMachine();
      const pairs = chosen.map((network) => new Pair(machine, network));
      for (const [at, step] of taken) pairs[at]?.take(step);
    }),
    { numRuns: 500, seed },
  );

  t.pass("no sequence differs");
  t.end();
});

test("the model itself goes round as the worked sequences say", (t) => {
  const range = { prefix: "10.0.0.", first: 1, last: 6, gateway: "10.0.0.1", length: 29 };
  const small = { ...range, last: 2, length: 30 };
  const smallBeyond = { ...small, prefix: "10.0.1.", gateway: "10.0.1.1" };
  const whole = { ...range, first: 0, last: 3, length: 30 };
  const wholeBeyond = { ...whole, prefix: "10.0.1.", gateway: "10.0.1.1" };
  const v6 = { prefix: "2001:db8::", first: 1, last: 3, gateway: "2001:db8::1", length: 126 };
  const cases = [
    [[range], undefined, "2 3 4 5 6"],
    [[range], "10.0.0.3", "4 5 6 2 3"],
    [[range], "10.0.0.6", "2 3 4 5 6"],
    [[{ ...range, gateway: "10.0.0.4" }], undefined, "1 2 3 5 6"],
    [[{ ...range, gateway: "10.0.0.4" }], "10.0.0.3", "5 6 1 2 3"],
    [[{ ...range, gateway: "192.168.0.1" }], undefined, "1 2 3 4 5 6"],
    [[small, smallBeyond], undefined, "2 2"],
    [[small, smallBeyond], "10.0.0.2", "2 2"],
    [[whole, wholeBeyond], "10.0.0.3", "0 2 3 0 2 3"],
    [[{ ...range, first: 1, last: 1 }], undefined, ""],
    [[v6], undefined, "2 3"],
  ] as const;

  for (const [set, cursor, order] of cases) {
    t.equal(
      walk(set, cursor)
        .map((address) => address.at(-1))
        .join(" "),
      order,
    );
  }
  t.equal(walk([small, smallBeyond], "10.0.0.2")[0], "10.0.1.2");
  t.end();
});
