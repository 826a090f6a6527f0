/** The calls of many runtimes at once, some of them killed: a ledger is kept of the answers, and compared with the disk. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ownDirectory, scratchDirectory } from "../../harness/data-directory.ts";
import { Mounts } from "../../harness/mounts.ts";
import { randomFrom } from "../../harness/random.ts";
import { sideBySide } from "../../harness/side-by-side.ts";
import { type Kind, Verifier } from "../../harness/violations.ts";
import { bootObstacle } from "./boots.ts";
import { type Removed, removeBeside } from "./removed-state.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { StressCalls } from "./stress-calls.ts";
import {
  bootedNetworks,
  isOf,
  reservationsOf,
  type StressNetwork,
  smallNetworks,
  wideNetworks,
} from "./stress-networks.ts";
import { StressWorkers } from "./stress-workers.ts";
import type { Subject } from "./subject.ts";
import { mixture, subjects } from "./subjects.ts";

const PERCENT_KILLED = { plain: 5, booted: 3 };

/** How many workers there are, and how many calls they make; the portable executable is slow. */
const plain = {
  short: { workers: 8, calls: { quick: 150, slow: 40 } },
  full: { workers: 32, calls: { quick: 2000, slow: 250 } },
  exhaustive: { workers: 32, calls: { quick: 40_000, slow: 8000 } },
} as const;

/** How many workers there are, how often the machine boots, and how many calls end between two boots. */
const booted = {
  short: { workers: 8, boots: 3, calls: 20 },
  full: { workers: 12, boots: 12, calls: 60 },
  exhaustive: { workers: 12, boots: 300, calls: 200 },
} as const;

const MACHINE = "0123456789abcdef".repeat(2);

/** How many calls at once, afterwards. */
const AT_ONCE = 4;

/** How an ADD fails whose temporary file was removed. */
const LOST_FILE = /ADD .*(?:link|rename) \S+: no such file or directory/;

async function stress(
  { seed, extent, teardown }: Context,
  programs: readonly Subject[],
  removed?: Removed,
): Promise<Attempt> {
  const random = randomFrom(seed);
  const networks = extent === "short" ? smallNetworks : wideNetworks;
  const directory = scratchDirectory({ teardown });
  const verifier = new Verifier();
  const calls = new StressCalls(directory, networks, random, verifier, PERCENT_KILLED.plain);
  const { workers: count, calls: counts } = plain[extent];
  const workers = new StressWorkers(calls, programs, count);
  const speed = programs.some(({ name }) => name === "portable") ? "slow" : "quick";
  const stop = removed && removeBeside(directory, removed, random);
  await workers.workFor(counts[speed], "regularly");
  const removals = stop?.();
  const beside = removed === undefined ? "" : `, ${removed} removed ${removals} times`;
  const what = describe(programs, calls) + beside;
  calls.percentKilled = 0;
  await Promise.all(
    networks.map(async (network) => {
      verifyFiles(calls, network, programs);
      await settle(calls, network, programs);
      await fill(calls, network, programs, verifier, () => true);
      await empty(calls, network, programs, verifier);
    }),
  );
  const { violations } = verifier;
  const mayLose = removals !== undefined && removals > 0;
  return {
    what,
    violations: violations.filter(
      ({ kind, detail }) => !(mayLose && kind === "refused" && LOST_FILE.test(detail)),
    ),
  };
}

/** The machine boots again and again: whatever runs then is killed, and nothing lives on. */
async function stressWithBoots(
  { seed, extent, teardown }: Context,
  programs: readonly Subject[],
): Promise<Attempt> {
  const networks = extent === "short" ? bootedNetworks.slice(0, 1) : bootedNetworks;
  const directory = scratchDirectory({ teardown });
  const verifier = new Verifier();
  const random = randomFrom(seed);
  const calls = new StressCalls(directory, networks, random, verifier, PERCENT_KILLED.booted);
  const { workers: count, boots, calls: each } = booted[extent];
  const workers = new StressWorkers(calls, programs, count);
  calls.boot(await bootedMachine(teardown));
  for (let at = 0; at < boots; at++) {
    await workers.workFor(each, "killed");
    calls.boot(await bootedMachine(teardown));
    workers.boot();
  }
  await workers.workFor(each, "regularly");

  const reclaimed = networks.flatMap((network) => reclaimedIn(network, directory)).length;
  verifier.require(reclaimed > 0, "leak", "no reservation from before a boot was taken");
  const what = `${describe(programs, calls)}, ${boots + 1} boots, ${reclaimed} reservations from before taken`;
  calls.percentKilled = 0;
  const ours = programs.filter(({ name }) => name !== "Go");
  await Promise.all(
    networks.map(async (network) => {
      verifyFiles(calls, network, programs);
      await checkAll(calls, network, ours);
      // What is from before the boot may be another's then; what lives may not.
      await fill(calls, network, ours, verifier, () => true);
      verifyFiles(calls, network, programs);
    }),
  );
  // Whatever the stress has left is from before this boot.
  calls.boot(await bootedMachine(teardown));
  await Promise.all(
    networks.map(async (network) => {
      await fill(calls, network, ours, verifier, (content) => content === "");
      await empty(calls, network, ours, verifier);
    }),
  );
  return { what, violations: verifier.violations };
}

async function bootedMachine(teardown: Context["teardown"]): Promise<readonly string[]> {
  const { entry } = await Mounts.openOnMachine(teardown, MACHINE);
  return entry;
}

/** The containers whose reservations were reclaimed, as the history tells; an empty file names none. */
function reclaimedIn({ name }: StressNetwork, directory: string): readonly string[] {
  const history = readFileSync(join(directory, ownDirectory, name, "history"), "utf8");
  return [...history.matchAll(/^\S+ RECLAIM \S+ (\S+-worker\S+)/gm)].map(
    ([, container = ""]) => container,
  );
}

/** A Go plugin that is killed leaves empty files; our executables reuse them once they are old enough. */
function verifyFiles(
  calls: StressCalls,
  network: StressNetwork,
  programs: readonly Subject[],
): void {
  const hasGo = programs.some(({ name }) => name === "Go");
  const empty: Kind | undefined = !hasGo ? "torn" : programs.length === 1 ? "leak" : undefined;
  calls.ledgerOf(network).verifyFiles(reservationsOf(network, calls.directory), empty);
}

/** CHECKs all that live. */
async function checkAll(
  calls: StressCalls,
  network: StressNetwork,
  programs: readonly Subject[],
): Promise<void> {
  const alive = calls.ledgerOf(network).attachmentsOf("held");
  await sideBySide(alive, AT_ONCE, (attachment) =>
    calls.run(network, calls.random.pick(programs), { verb: "CHECK", attachment }),
  );
}

/** CHECKs all that live, and deletes those of which it is unknown what they hold. */
async function settle(
  calls: StressCalls,
  network: StressNetwork,
  programs: readonly Subject[],
): Promise<void> {
  await checkAll(calls, network, programs);
  await release(calls, network, programs, calls.ledgerOf(network).attachmentsOf("unknown"));
}

/**
 * Hands out each address that is left: the ledger knows if one has an owner, or is refused too early.
 *
 * @param isTaken whether a reservation with this content is in the way
 */
async function fill(
  calls: StressCalls,
  network: StressNetwork,
  programs: readonly Subject[],
  verifier: Verifier,
  isTaken: (content: string) => boolean,
): Promise<void> {
  const files = [...reservationsOf(network, calls.directory)];
  const room = Math.min(
    ...network.sets.map((set) => {
      const taken = files.filter(([address, content]) => isOf(set, address) && isTaken(content));
      return set.capacity - taken.length;
    }),
  );
  const most = Math.max(...network.sets.map(({ capacity }) => capacity));
  let served = 0;
  let kind = "done";
  for (; kind === "done" && served <= most; served++) {
    const attachment = `filler-${calls.count}`;
    const program = calls.random.pick(programs);
    ({ kind } = await calls.run(network, program, { verb: "ADD", attachment }));
    if (kind !== "done") break;
  }
  const detail = `${network.name}: ${served} ADDs served where there was room for ${room}`;
  verifier.require(served >= room, "leak", detail);
  verifier.require(served <= most, "double", detail);
}

/** Deletes all attachments, of which nothing may be left. */
async function empty(
  calls: StressCalls,
  network: StressNetwork,
  programs: readonly Subject[],
  verifier: Verifier,
): Promise<void> {
  const ledger = calls.ledgerOf(network);
  const all = [...ledger.attachmentsOf("held"), ...ledger.attachmentsOf("unknown")];
  await release(calls, network, programs, all);
  for (const [address, content] of reservationsOf(network, calls.directory)) {
    const detail = `${network.name}: ${address} of ${JSON.stringify(content)} is left after its DEL`;
    verifier.require(content === "", "leak", detail);
  }
}

async function release(
  calls: StressCalls,
  network: StressNetwork,
  programs: readonly Subject[],
  attachments: readonly string[],
): Promise<void> {
  await sideBySide(attachments, AT_ONCE, (attachment) =>
    calls.run(network, calls.random.pick(programs), { verb: "DEL", attachment }),
  );
}

function describe(programs: readonly Subject[], { count, killed }: StressCalls): string {
  const names = programs.map(({ name }) => name).join(", ");
  return `${names}: ${count} calls, ${killed} of them killed`;
}

const PROMISE =
  "no address has two holders at any moment; live attachments keep their addresses, deleted ones have none";

export const stressScenarios: readonly Scenario[] = [
  {
    fault: "up to 32 workers with random calls on three networks, 5 % of the processes killed",
    promise: PROMISE,
    attempt: async (context) => [await stress(context, [context.subject])],
  },
  {
    fault: "the same with all executables mixed on one data directory",
    promise: PROMISE,
    obstacle: () => (subjects.length > 1 ? undefined : "There is one executable only."),
    // With all executables mixed, ours are the ones under test.
    attempt: async (context) =>
      context.subject.name === "Go" ? [] : [await stress(context, mixture(context))],
  },
  {
    fault: ".host-local, or single files in it, removed again and again beside such calls",
    promise: `${PROMISE}; an ADD whose temporary file is removed may fail`,
    attempt: async (context) => {
      if (context.subject.name === "Go") return [];
      const all = await stress(context, [context.subject], "all");
      if (context.extent === "short") return [all];
      return [all, await stress(context, mixture(context), "single files")];
    },
  },
  {
    fault: "the machine boots again and again under such calls, and nothing lives on",
    promise:
      "no address of a live attachment is ever handed out; reservations from before a boot are reclaimed, and none is lost",
    obstacle: bootObstacle,
    attempt: async (context) => {
      if (context.subject.name === "Go") return [];
      const mixed = await stressWithBoots(context, mixture(context));
      if (context.extent === "short") return [mixed];
      return [mixed, await stressWithBoots(context, [context.subject])];
    },
  },
];
