// test: own process
/** Any sequence of calls, some of them killed, keeps its promises to those whose calls were answered. */

import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import { test } from "tap";
import { stopAt } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { Network } from "../../harness/network.ts";
import { seed } from "../../harness/seed.ts";
import { configurationOf, type ModelAttachment, walk } from "./model.ts";
import { attachments, call, networks, type Step } from "./steps.ts";

/** A call, and the number of the system call before which it is killed; beyond its last one it is not. */
const killable = fc.tuple(call, fc.integer({ min: 1, max: 60 }));

/** A network on which calls are killed, and what was promised to whom. */
class Liveness {
  readonly #network: Network;
  /** The addresses that ADD returned to each attachment, by its reservation's content. */
  readonly #promised = new Map<string, readonly string[]>();

  constructor(network: Network) {
    this.#network = network;
  }

  take(step: Step, killedAt: number): void {
    const interrupt = stopAt(killedAt);
    switch (step.verb) {
      case "ADD": {
        const { containerId, interfaceName } = step.attachment;
        const answer = this.#network.add(containerId, { interfaceName, interrupt });
        if (answer.addresses.length === 0) break;
        const given = answer.addresses;
        this.#promised.set(contentOf(step.attachment), given);
        break;
      }
      case "DEL": {
        const { containerId, interfaceName } = step.attachment;
        this.#network.del(containerId, { interfaceName, interrupt });
        this.#promised.delete(contentOf(step.attachment));
        break;
      }
      case "GC": {
        const valid = step.valid.map((at) => `${at.containerId} ${at.interfaceName}`);
        this.#network.gc(valid, { interrupt });
        for (const at of attachments) {
          if (!step.valid.includes(at)) this.#promised.delete(contentOf(at));
        }
      }
    }
    this.#requirePromisesKept();
  }

  #requirePromisesKept(): void {
    const reservations = this.#network.reservations();
    for (const [content, addresses] of this.#promised) {
      for (const address of addresses) deepStrictEqual(reservations[address], content);
    }
    const known = new Set(attachments.map(contentOf));
    for (const content of Object.values(reservations)) deepStrictEqual(known.has(content), true);
  }

  /** All containers are deleted: nothing is left of them. */
  end(): void {
    for (const { containerId, interfaceName } of attachments) {
      deepStrictEqual(this.#network.del(containerId, { interfaceName }).exitCode, 0);
    }
    deepStrictEqual(this.#network.reservations(), {});
  }
}

function contentOf({ containerId, interfaceName }: ModelAttachment): string {
  return `${containerId}\r\n${interfaceName}`;
}

test("any sequence of calls may be killed anywhere", (t) => {
  const steps = fc.array(killable, { maxLength: 40, size: "max" });

  fc.assert(
    fc.property(fc.constantFrom(...networks), steps, ({ name, sets }, taken) => {
      const configuration = { ranges: sets.map(configurationOf) };
      const network = new Network(new MemoryMachine(), configuration, { name });
      const liveness = new Liveness(network);
      for (const [step, killedAt] of taken) liveness.take(step, killedAt);
      liveness.end();
      const [first = []] = sets;
      for (const [at] of walk(first, undefined).entries()) {
        deepStrictEqual(network.add(`filler${at}`, { ipam: only(first) }).exitCode, 0);
      }
      deepStrictEqual(network.add("one-more", { ipam: only(first) }).exitCode, 1);
    }),
    { numRuns: 400, seed },
  );

  t.pass("no sequence breaks a promise");
  t.end();
});

function only(set: Parameters<typeof configurationOf>[0]): object {
  return { ranges: [configurationOf(set)] };
}
