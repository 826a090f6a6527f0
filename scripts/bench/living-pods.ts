/**
 * ADD and DEL beside living pods: an ADD asks the kernel for the addresses in every network namespace that is linked with the
 * node's.
 *
 * Everything is made in namespaces of network and mounts that end with the process: `livingPods` starts this file there.
 */

import { fileURLToPath } from "node:url";
import { command, output } from "../build/command.ts";
import { grouped, median, type Values } from "./measure.ts";
import { buildRunner, type Outcome, type Runner } from "./runner.ts";
import { address, type Contender, contender, reserve, setCursor } from "./store.ts";

/** A line of the table, with the medians of both programs. */
export interface LivingPodsRow {
  /** The call, how many pods live, and whether their addresses are reserved. */
  readonly title: string;
  readonly cpuMilliseconds: Values;
  readonly milliseconds: Values;
}

/** The numbers of pods: the third is the kubelet's default limit. */
const sizes = [0, 10, 110, 250, 1000] as const;

const WARM_UP_ROUNDS = 2;
const ROUNDS = 120;

/** The namespace for which calls are made, as `variablesOf` names it. */
const CALLED_FOR = "bench";

/** `ip netns` mounts below /run, which stays as it is outside. */
const INSIDE = [
  ...["unshare", "--net", "--mount", "--propagation", "private"],
  ...["sh", "-c", 'mount -t tmpfs tmpfs /run && exec "$@"', "sh"],
] as const;

/**
 * Measures both programs in turn with more and more pods; `undefined` where that is not allowed, which takes root.
 *
 * @param directory where to put the stores
 */
export function livingPods(
  go: string,
  native: string,
  directory: string,
): readonly LivingPodsRow[] | undefined {
  if (!isAllowed()) return undefined;
  const script = [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url)];
  return JSON.parse(output([...INSIDE, ...script, go, native, directory]).toString());
}

function isAllowed(): boolean {
  try {
    command([...INSIDE, "ip", "link", "add", "pod", "type", "veth"]);
    return true;
  } catch {
    return false;
  }
}

function measure(go: string, native: string, directory: string): readonly LivingPodsRow[] {
  const run = buildRunner(directory);
  const contend = () => [contender("go", go, directory), contender("native", native, directory)];
  const reserved = contend();
  startPod(CALLED_FOR);
  let living = 0;
  return sizes.flatMap((pods) => {
    console.error(`after ${Math.round(process.uptime())} s: ${pods} living pods`);
    for (let place = living; place < pods; place++) startPod(`pod${place}`, address(place));
    // As new as the journal of the others, whose directory `reserve` changes: a longer one costs more.
    const unreserved = contend();
    for (const { store } of reserved) reserve(store, living, pods);
    for (const { store } of [...unreserved, ...reserved]) if (pods > 0) setCursor(store, pods - 1);
    living = pods;
    const beside = pods === 0 ? "" : ` beside ${grouped(pods)} pods`;
    return [
      ...rowsOf(run, beside, unreserved),
      ...(pods === 0 ? [] : rowsOf(run, `${beside}, each reserved`, reserved)),
    ];
  });
}

/** Starts what a pod is to the node's network: a namespace with one end of a veth, whose other end is up in the node's. */
function startPod(name: string, address?: string): void {
  command(["ip", "-batch", "-"], {
    input: `netns add ${name}
link add ${name} type veth peer name eth0 netns ${name}
link set ${name} up
`,
  });
  const gets = address === undefined ? "" : `address add ${address}/16 dev eth0\n`;
  command(["ip", "-netns", name, "-batch", "-"], { input: `${gets}link set eth0 up\n` });
}

/** The rows of ADD and DEL. */
function rowsOf(
  run: Runner,
  circumstances: string,
  programs: readonly Contender[],
): readonly LivingPodsRow[] {
  const verbs = ["ADD", "DEL"] as const;
  const calls = verbs.flatMap((verb) =>
    programs.map((by) => {
      const outcomes: Outcome[] = [];
      return { verb, by, outcomes };
    }),
  );
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const { verb, by, outcomes } of calls) {
      const outcome = run({ ...by, configuration: by.store.configuration, verb }, 1);
      if (outcome.status !== 0) {
        throw new Error(`${verb} of ${by.name} went wrong: ${JSON.stringify(outcome)}`);
      }
      if (round >= 0) outcomes.push(outcome);
    }
  }
  return verbs.map((verb) => {
    const medians = (member: "cpuMilliseconds" | "milliseconds"): Values =>
      Object.fromEntries(
        calls
          .filter((call) => call.verb === verb)
          .map(({ by, outcomes }) => [by.name, median(outcomes.map((outcome) => outcome[member]))]),
      );
    return {
      title: `${verb}${circumstances}`,
      cpuMilliseconds: medians("cpuMilliseconds"),
      milliseconds: medians("milliseconds"),
    };
  });
}

if (import.meta.main) {
  const [go = "", native = "", directory = ""] = process.argv.slice(2);
  console.log(JSON.stringify(measure(go, native, directory)));
}
