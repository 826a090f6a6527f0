/** A dry run and the ADD that follows it say the same, whatever the configuration and the state of the directory. */

import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import { test } from "tap";
import { configurationOf } from "../../src/cni/call.ts";
import { CniError } from "../../src/cni/error.ts";
import type { Json } from "../../src/cni/json.ts";
import { loadConfig } from "../../src/configuration/load-config.ts";
import { dryRun } from "../../src/dry-run/dry-run.ts";
import { formatAddress } from "../../src/ipam/address.ts";
import { openNetwork } from "../../src/store/files/network-files.ts";
import { NoAddressError } from "../../src/store/no-address.ts";
import { SystemError } from "../../src/system/system.ts";
import { extent } from "../harness/extent.ts";
import type { Interrupt } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";
import { seed } from "../harness/seed.ts";
import { bring, ipamOf, networkState, WRITES } from "./random-network.ts";

/** The outcome of a dry run or an ADD: the addresses, or the message and details of the error. */
type Outcome = readonly string[] | { readonly msg: string; readonly details: string };

/** The expected outcome. A disk may refuse an ADD at another path first: then only the reason is known. */
type Expectation = Outcome | { readonly reason: string };

/** The outcomes of the dry runs, and how often they occurred. */
const seen = new Map<string, number>();

function note(kind: string): void {
  seen.set(kind, (seen.get(kind) ?? 0) + 1);
}

/** The dry run of a network, which writes nothing. */
function expectationOf({ machine }: Network, ipam: object, interrupt?: Interrupt): Expectation {
  const before = machine.disk.filesUnder("/");
  const system = machine.start({ interrupt });
  const document: Json = JSON.parse(JSON.stringify({ cniVersion: "1.1.0", name: "net", ipam }));
  try {
    const network = configurationOf(document);
    const config = loadConfig(network, "", system);
    const prospects = dryRun(openNetwork(system, config.dataDir, config.network), config);
    const failed = prospects.findIndex((prospect) => prospect instanceof NoAddressError);
    const error = prospects[failed];
    if (error instanceof NoAddressError) {
      const msg = `failed to allocate for range ${failed}: ${error.message}`;
      return { msg, details: error.details };
    }
    return prospects.flatMap((prospect) => {
      if (prospect instanceof NoAddressError) return [];
      note(prospect.kind);
      return [formatAddress(prospect.candidate.address)];
    });
  } catch (error) {
    if (error instanceof SystemError) return { reason: error.reason };
    if (!(error instanceof CniError)) throw error;
    return { msg: error.message, details: error.details };
  } finally {
    deepStrictEqual(machine.disk.filesUnder("/"), before, "nothing is written");
    const writes = system.calls.filter(({ operation }) => WRITES.includes(operation));
    deepStrictEqual(writes, [], "no call would write");
  }
}

/** The ADD of a pod that requests nothing; its changes are undone. */
function outcomeOf(network: Network, interrupt?: Interrupt): Outcome {
  const { addresses, error } = network.machine.try(() => network.add("new", { interrupt }));
  return error === undefined ? addresses : { msg: error.msg, details: error.details ?? "" };
}

function kindOf(expected: Expectation): string {
  if ("reason" in expected) return expected.reason;
  if (!("msg" in expected)) return "an address";
  return /correct|check/.exec(expected.details)?.[0] ?? "the configuration";
}

test("the dry run gives the address that the next ADD gets, or its error", async (t) => {
  fc.assert(
    fc.property(ipamOf, networkState(30), (ipam, state) => {
      const network = new Network(new MemoryMachine(), ipam);
      const interrupt = bring(network, state);

      const expected = expectationOf(network, ipam, interrupt);
      const found = outcomeOf(network, interrupt);

      if (!("reason" in expected)) deepStrictEqual(found, expected);
      else if (!("msg" in found)) deepStrictEqual(found, expected);
      note(kindOf(expected));
    }),
    { seed, numRuns: extent === "short" ? 150 : 1500 },
  );
  t.comment(Object.fromEntries(seen));
  for (const kind of [
    ...["free", "dead", "empty"],
    "check",
    "correct",
    "the configuration",
    "read-only file system",
    "is a directory",
  ]) {
    t.ok((seen.get(kind) ?? 0) > 0, kind);
  }
});
