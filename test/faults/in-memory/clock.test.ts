// test: own process
/** The clock may be set back or forward at any time: no answer differs from what a full scan says. */

import fc from "fast-check";
import { test } from "tap";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { Network } from "../../harness/network.ts";
import { seed } from "../../harness/seed.ts";
import { brokenAnswers, executables, sets } from "./full-scan.ts";

/** Of the kernel's clock, in nanoseconds. */
const TICK = 4_000_000n;

const MINUTE = 60_000;
const DAY = 86_400_000;

const attachments = ["c0 eth0", "c1 eth0", "c2 eth0", "none eth0"];

/** By how many milliseconds the clock is off the next time. */
const jump = fc.oneof(
  fc.constantFrom(-DAY, -MINUTE, -3000, -20, -1, 0, 1, 20, 3000, MINUTE, DAY),
  fc.integer({ min: -DAY, max: DAY }),
);

/** What happens between two jumps. */
const act = fc.record({
  verb: fc.constantFrom("ADD", "DEL", "foreign", "GC"),
  which: fc.nat(2),
  jump,
});

for (const { name, options } of executables) {
  test(`wherever the clock jumps, every answer is that of a full scan: ${name}`, async (t) => {
    const property = fc.property(fc.array(act, { minLength: 2, maxLength: 10 }), (acts) => {
      const machine = new MemoryMachine();
      machine.disk.grain = TICK;
      const network = new Network(machine, { ranges: sets.map((one) => [one]) });
      const broken: string[] = [];
      for (const { verb, which, jump: milliseconds } of acts) {
        const id = `c${which}`;
        if (verb === "ADD") network.add(id, options);
        if (verb === "DEL") network.del(id, options);
        if (verb === "GC") network.gc([`${id} eth0`], options);
        if (verb === "foreign") network.put(`10.9.9.${which}`, `${id}\r\neth0`);
        machine.wait(milliseconds);
        broken.push(...brokenAnswers(network, attachments, options));
      }
      if (broken.length > 0) throw new Error(broken.join("\n"));
    });

    t.doesNotThrow(() => fc.assert(property, { seed, numRuns: 100 }));
  });
}
