/** The calls of many runtimes at once, some of them killed; then the log is compared with the disk. */

import { scratchDirectory } from "../../harness/data-directory.ts";
import { randomFrom } from "../../harness/random.ts";
import { Verifier } from "../../harness/violations.ts";
import { bootObstacle } from "./boots.ts";
import { type Removed, removeBeside } from "./removed-state.ts";
import type { Attempt, Context, Scenario } from "./scenario.ts";
import { stormWithBoots } from "./storm-boots.ts";
import { StormCalm } from "./storm-calm.ts";
import type { Operation } from "./storm-log.ts";
import { reservationsOf, smallNetworks, wideNetworks } from "./storm-network.ts";
import { StormProcesses } from "./storm-process.ts";
import { StormVerifier } from "./storm-verifier.ts";
import { StormWorkers } from "./storm-worker.ts";
import type { Subject } from "./subject.ts";
import { mixture, subjects } from "./subjects.ts";

const PERCENT_KILLED = 5;

/** How many workers there are, and how long they work, in milliseconds. */
const extents = {
  short: { workers: 8, duration: 1_500 },
  full: { workers: 32, duration: 6_000 },
  exhaustive: { workers: 32, duration: 120_000 },
} as const;

/** How an ADD fails whose temporary file was removed. */
const LOST_FILE = /ADD .*(?:link|rename) \S+: no such file or directory/;

const PROMISE =
  "no address has two holders at any moment; live attachments keep their addresses, deleted ones have none";

export const stormScenarios: readonly Scenario[] = [
  {
    fault: "up to 32 workers with random calls on three networks, 5 % of the processes killed",
    promise: PROMISE,
    attempt: async (context) => [await storm(context, [context.subject])],
  },
  {
    fault: "the same with all executables mixed on one data directory",
    promise: PROMISE,
    obstacle: () => (subjects.length > 1 ? undefined : "There is one executable only."),
    // With all executables mixed, ours are the ones under test.
    attempt: async (context) =>
      context.subject.name === "Go" ? [] : [await storm(context, mixture(context))],
  },
  {
    fault: ".host-local, or single files in it, removed again and again beside such calls",
    promise: `${PROMISE}; an ADD whose temporary file is removed may fail`,
    attempt: async (context) => {
      if (context.subject.name === "Go") return [];
      const all = await storm(context, [context.subject], "all");
      if (context.extent === "short") return [all];
      return [all, await storm(context, mixture(context), "single files")];
    },
  },
  {
    fault: "the machine boots again and again under such calls, and nothing lives on",
    promise:
      "no address of a live attachment is ever handed out; reservations from before a boot give way, and none is lost",
    obstacle: bootObstacle,
    attempt: async (context) => {
      if (context.subject.name === "Go") return [];
      const all = mixture(context);
      const mixed = await stormWithBoots(context, all, faultOfEmpty(all));
      if (context.extent === "short") return [mixed];
      return [mixed, await stormWithBoots(context, [context.subject], "torn")];
    },
  },
];

async function storm(
  { seed, extent, teardown }: Context,
  programs: readonly Subject[],
  removed?: Removed,
): Promise<Attempt> {
  const random = randomFrom(seed);
  const networks = extent === "short" ? smallNetworks : wideNetworks;
  const ground = { directory: scratchDirectory({ teardown }), networks, programs, random };
  const processes = new StormProcesses(random, PERCENT_KILLED);
  const workers = new StormWorkers({ ...ground, processes }, extents[extent].workers);
  const stop = removed && removeBeside(ground.directory, removed, random);
  await workers.work(extents[extent].duration);
  const removals = stop?.();
  const verifier = new Verifier();
  await Promise.all(
    networks.map(async (network) => {
      const operations = workers.log.filter((operation) => operation.network === network.name);
      const decide = new StormVerifier(network, operations, verifier);
      decide.verifyTenures();
      decide.verifyAnswers();
      decide.verifyDirectory(reservationsOf(network, ground.directory), faultOfEmpty(programs));
      await new StormCalm(network, ground, verifier).decide(decide);
    }),
  );
  const beside = removed === undefined ? "" : `, ${removed} removed ${removals} times`;
  return {
    what: describe(programs, workers.log) + beside,
    violations: verifier.violations.filter(
      ({ kind, detail }) => !(removals && kind === "refused" && LOST_FILE.test(detail)),
    ),
  };
}

/** A Go plugin that is killed leaves empty files; our executables reuse them once they are old enough. */
function faultOfEmpty(programs: readonly Subject[]): "leak" | "torn" | undefined {
  if (programs.every(({ name }) => name !== "Go")) return "torn";
  return programs.length === 1 ? "leak" : undefined;
}

function describe(programs: readonly Subject[], log: readonly Operation[]): string {
  const killed = log.filter(({ answer }) => answer === "killed").length;
  const names = programs.map(({ name }) => name).join(", ");
  return `${names}: ${log.length} calls, ${killed} of them killed`;
}
