/** A scenario of the plugin in a cluster of its own. */

import { appendFileSync } from "node:fs";
import tap, { type Test } from "tap";
import { scenario } from "../e2e/scenario.ts";
import { isNative } from "../harness/executable.ts";
import { Cluster, type ClusterOptions } from "./cluster.ts";
import { isContained, needsOfCluster } from "./needs.ts";
import type { ScenarioRun } from "./page.ts";
import { ownProcesses } from "./processes.ts";

/** The file for the runs, one line of JSON each; undefined if nobody asks for it. */
const { HOST_LOCAL_KUBERNETES_RUNS: record } = process.env;

/** A scenario. */
export interface ClusterScenario {
  /** Its heading in docs/evidence/kubernetes.md, without a full stop. */
  readonly title: string;
  readonly cluster: ClusterOptions;
  /**
   * Whether its node is always a container. Otherwise the processes of the machine are in a network namespace that this node
   * does not know, so gc decides nothing that was not recorded. Neither does it in a pod with `hostPID`, for which the first
   * process is in another network namespace than the node.
   */
  readonly asContainer?: boolean;
  /** Why it cannot be run with this executable or on this machine, in a sentence; `false` if it can. */
  readonly skip?: string | false;
}

/**
 * Declares a scenario.
 *
 * @param scenario the scenario
 * @param body what happens once the cluster is up
 */
export function clusterScenario(
  { title, cluster: options, asContainer = isContained, skip = false }: ClusterScenario,
  body: (t: Test, cluster: Cluster) => Promise<void>,
): void {
  const note = (run: Pick<ScenarioRun, "result" | "reason" | "version" | "times">) => {
    const whole: ScenarioRun = {
      date: new Date().toISOString().slice(0, 10),
      title,
      executable: isNative ? "native" : "portable",
      ...(asContainer && { node: "container" }),
      ...run,
    };
    if (record !== undefined) appendFileSync(record, `${JSON.stringify(whole)}\n`);
  };
  if (skip !== false) {
    tap.test(title, { skip }, () => {});
    note({ result: "skipped", reason: skip });
    return;
  }
  const skipped = scenario(
    title,
    { ...needsOfCluster, seesProcesses: !asContainer },
    async (t, host) => {
      const began = performance.now();
      let started: { readonly version: string; readonly start: number } | undefined;
      let isThrown = true;
      try {
        ownProcesses();
        const cluster = await Cluster.start(host, options);
        started = { version: cluster.version(), start: secondsSince(began) };
        await body(t, cluster);
        isThrown = false;
      } finally {
        note({
          result: t.passing() && !isThrown ? "passed" : "failed",
          ...(started && {
            version: started.version,
            times: { start: started.start, scenario: secondsSince(began) - started.start },
          }),
        });
      }
    },
  );
  if (skipped !== undefined) note({ result: "skipped", reason: skipped });
}

function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 1000);
}
