/** A storm in which the machine boots again and again: whatever runs then is killed, and nothing lives on. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ownDirectory, scratchDirectory } from "../../harness/data-directory.ts";
import { Mounts } from "../../harness/mounts.ts";
import { randomFrom } from "../../harness/random.ts";
import { Verifier } from "../../harness/violations.ts";
import type { Attempt, Context } from "./scenario.ts";
import { StormCalm } from "./storm-calm.ts";
import { bootedNetworks, reservationsOf, type StormNetwork } from "./storm-network.ts";
import { StormProcesses } from "./storm-process.ts";
import { StormVerifier } from "./storm-verifier.ts";
import { StormWorkers } from "./storm-worker.ts";
import type { Subject } from "./subject.ts";

const PERCENT_KILLED = 3;

/** How many workers there are, how often the machine boots, and how many calls end between two boots. */
const extents = {
  short: { workers: 8, boots: 4, calls: 25 },
  full: { workers: 12, boots: 12, calls: 60 },
  exhaustive: { workers: 12, boots: 300, calls: 200 },
} as const;

const MACHINE = "0123456789abcdef".repeat(2);

/**
 * A storm with boots, of some executables mixed.
 *
 * @param faultOfEmpty what an empty file is to be called, as in `StormVerifier`
 */
export async function stormWithBoots(
  { seed, extent, teardown }: Context,
  programs: readonly Subject[],
  faultOfEmpty: "leak" | "torn" | undefined,
): Promise<Attempt> {
  const random = randomFrom(seed);
  const networks = extent === "short" ? bootedNetworks.slice(0, 1) : bootedNetworks;
  const directory = scratchDirectory({ teardown });
  const ground = { directory, networks, programs, random };
  const processes = new StormProcesses(random, PERCENT_KILLED);
  const { workers: count, boots: times, calls } = extents[extent];
  const workers = new StormWorkers({ ...ground, processes }, count);
  const boots: number[] = [];
  let under = await bootedMachine(teardown);
  processes.enter(under);
  while (boots.length < times) {
    await workers.workFor(calls, "killed");
    boots.push(performance.now());
    workers.boot();
    under = await bootedMachine(teardown);
    processes.enter(under);
  }
  await workers.workFor(calls, "regularly");

  const verifier = new Verifier();
  const reclaimed = networks.flatMap((network) => reclaimedIn(network, directory)).length;
  verifier.require(reclaimed > 0, "leak", "no reservation from before a boot was taken");
  const ours = { ...ground, programs: programs.filter(({ name }) => name !== "Go") };
  const rest = networks.map((network) => {
    const operations = workers.log.filter((operation) => operation.network === network.name);
    const decide = new StormVerifier(network, operations, verifier, boots);
    decide.verifyTenures();
    decide.verifyAnswers();
    decide.verifyDirectory(reservationsOf(network, directory), faultOfEmpty);
    return { decide, calm: new StormCalm(network, ours, verifier) };
  });
  const fillers = await Promise.all(
    rest.map(({ decide, calm }) => {
      calm.enter(under);
      return calm.checkAndFill(decide.histories, (content) => decide.mayBeEarlier(content));
    }),
  );
  // Whatever the storm has left is from before this boot.
  under = await bootedMachine(teardown);
  await Promise.all(
    rest.map(async ({ decide, calm }, at) => {
      calm.enter(under);
      const last = await calm.fill((content) => content !== "", true);
      await calm.empty(decide.histories, [...(fillers[at] ?? []), ...last]);
    }),
  );
  const killed = workers.log.filter(({ answer }) => answer === "killed").length;
  const names = programs.map(({ name }) => name).join(", ");
  return {
    what: `${names}: ${workers.log.length} calls, ${killed} of them killed, ${boots.length + 1} boots, ${reclaimed} reservations from before taken`,
    violations: verifier.violations,
  };
}

async function bootedMachine(teardown: Context["teardown"]): Promise<readonly string[]> {
  const { entry } = await Mounts.openOnMachine(teardown, MACHINE);
  return entry;
}

/** The containers whose reservations gave way, as the history tells; an empty file names none. */
function reclaimedIn({ name }: StormNetwork, directory: string): readonly string[] {
  const history = readFileSync(join(directory, ownDirectory, name, "history"), "utf8");
  return [...history.matchAll(/^\S+ RECLAIM \S+ (worker\S+)/gm)].map(
    ([, container = ""]) => container,
  );
}
