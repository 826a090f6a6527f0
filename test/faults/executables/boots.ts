/** The machine starts again, and nobody deletes what was attached before; or two machines share a directory. */

import { existsSync } from "node:fs";
import { grantedAddresses } from "../../blackbox/network.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { Mounts, mountObstacle } from "../../harness/mounts.ts";
import { Verifier } from "../../harness/violations.ts";
import { requireFailure, requireSuccess } from "./call-requirements.ts";
import { ipam, ROOM } from "./room.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { WatchedNetwork } from "./watched-network.ts";

const FULL = "no IP addresses available";

/** How often the machine starts. */
const STARTS = 3;

/** Without it nothing is noted, and with one of the test's own nothing depends on the machine. */
const machineIds = ["0123456789abcdef".repeat(2), "fedcba9876543210".repeat(2)] as const;

/** A network on a machine that has just started. */
async function started(
  { subject, teardown }: Context,
  directory: string,
  machineId: string,
): Promise<WatchedNetwork> {
  const { entry } = await Mounts.openOnMachine(teardown, machineId);
  return new WatchedNetwork({ subject, teardown }, { ipam, directory, under: entry });
}

/** Adds containers until the range is full. */
async function fill(
  network: WatchedNetwork,
  prefix: string,
  verifier: Verifier,
): Promise<ReadonlyMap<string, string>> {
  const held = new Map<string, string>();
  for (let at = 0; at < ROOM; at++) {
    const ending = await network.do("ADD", `${prefix}-${at}`);
    requireSuccess(verifier, ending, `ADD ${prefix}-${at}`, "leak");
    for (const address of grantedAddresses(ending)) {
      verifier.require(!held.has(address), "double", `${address} is handed out twice`);
      held.set(address, `${prefix}-${at}`);
    }
  }
  requireFailure(verifier, await network.do("ADD", `${prefix}-beyond`), "ADD beyond", FULL);
  return held;
}

async function startAgain(context: Context): Promise<Attempt> {
  const verifier = new Verifier();
  const directory = scratchDirectory(context);
  for (let boot = 0; boot < STARTS; boot++) {
    const network = await started(context, directory, machineIds[0]);
    const held = await fill(network, `b${boot}`, verifier);
    // What comes too late frees nothing of a successor.
    for (let at = 0; at < 3; at++) await network.do("DEL", `b${boot - 1}-${at}`);
    for (const [address, containerId] of held) {
      const own = network.heldBy(containerId);
      verifier.require(
        own.join(" ") === address.replace(/\/.*/, ""),
        "double",
        `${containerId} holds ${own}`,
      );
    }
  }
  return { what: `${STARTS} starts, each with a full range`, violations: verifier.violations };
}

async function shareDirectory(context: Context): Promise<Attempt> {
  const verifier = new Verifier();
  const directory = scratchDirectory(context);
  const first = await started(context, directory, machineIds[0]);
  requireSuccess(verifier, await first.do("ADD", "a"), "ADD on one machine");
  const second = await started(context, directory, machineIds[1]);
  for (let at = 2; at < ROOM; at++) {
    requireSuccess(verifier, await second.do("ADD", `b-${at}`), "ADD on the other");
  }
  requireSuccess(verifier, await first.do("ADD", "last"), "ADD on one machine");
  const again = await started(context, directory, machineIds[0]);
  requireFailure(verifier, await again.do("ADD", "beyond"), "ADD of a full range", FULL);
  const other = await started(context, directory, machineIds[1]);
  requireFailure(verifier, await other.do("ADD", "beyond"), "ADD of a full range", FULL);
  return { what: "two machines, which start again", violations: verifier.violations };
}

/** Why no other boot and machine can be put in place here. */
export function bootObstacle(): string | undefined {
  return existsSync("/etc/machine-id")
    ? mountObstacle()
    : "There is no /etc/machine-id to replace.";
}

export const bootScenarios: readonly Scenario[] = [
  {
    fault: "the machine starts again with a full range, and no DEL comes",
    promise: "every address can be handed out again, once; a late DEL frees nothing of another's",
    obstacle: bootObstacle,
    attempt: async (context) => [await startAgain(context)],
  },
  {
    fault: "two machines share a data directory, and start again",
    promise: "neither takes an address of the other",
    obstacle: bootObstacle,
    attempt: async (context) => [await shareDirectory(context)],
  },
];
