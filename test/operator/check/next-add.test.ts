// test: own process
/** Where `check` says nothing of the next ADD it works, and where it says that it fails it does: whatever the node is like. */

import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import { test } from "tap";
import { check } from "../../../src/operator/check/check.ts";
import type { Code } from "../../../src/operator/check/finding.ts";
import { bring, ipamOf, networkState } from "../../dry-run/random-network.ts";
import { extent } from "../../harness/extent.ts";
import type { Interrupt } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { Network } from "../../harness/network.ts";
import { seed } from "../../harness/seed.ts";
import { configure, contextOf, RESULTS, startOperator } from "../memory-node.ts";
import type { PrintedFinding } from "../node.ts";

/** The findings by which the next pod gets no address. */
const FAILS: readonly Code[] = [
  ...(["unreadable-configuration", "add-fails", "range-full"] as const),
];

const options = { "--conf-dir": "/conf", "--cache-dir": "/cache" };

function found(machine: MemoryMachine, interrupt?: Interrupt): readonly string[] {
  const context = contextOf(startOperator(machine, interrupt).system, options);
  const { findings } = check.run(context).document() as { findings: PrintedFinding[] };
  const codes = new Set<string>(FAILS);
  return findings.map(({ code }) => code).filter((code) => codes.has(code));
}

test("check finds that the next ADD fails exactly where it does", async (t) => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(ipamOf, networkState(20), (ipam, state) => {
      const machine = new MemoryMachine();
      machine.disk.makeDirectories(RESULTS);
      // An address that is reserved for a pod is one that an ADD may get.
      const own = { ...ipam, reserved: undefined };
      const network = new Network(machine, own);
      configure(machine, "net.conf", JSON.parse(network.callFor("ADD", "new").stdin));
      const interrupt = bring(network, state);
      // Where the last ADD has failed for a reason, that is not found again.
      machine.disk.removeAll("/run/host-local");

      const codes = machine.try(() => found(machine, interrupt));
      const { error } = machine.try(() => network.add("new", { interrupt }));

      deepStrictEqual(codes.length > 0, error !== undefined, String(error?.msg));
      const kind = codes[0] ?? "nothing";
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }),
    { seed, numRuns: extent === "short" ? 100 : 1000 },
  );
  t.comment(Object.fromEntries(seen));
  for (const code of ["nothing", "add-fails", "range-full"]) {
    t.ok((seen.get(code) ?? 0) > 0, code);
  }
});
