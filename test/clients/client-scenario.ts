/** A scenario with a client, whose run becomes a row of the matrix. */

import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { fixtureText } from "../blackbox/client-calls.ts";
import type { Host } from "../e2e/host.ts";
import type { Needs } from "../e2e/machine.ts";
import { scenario } from "../e2e/scenario.ts";
import { isNative } from "../harness/executable.ts";
import type { ClientRun } from "./matrix.ts";

/** The file for the runs, one line of JSON each, and the directory for the calls; undefined if nobody asks for them. */
const { HOST_LOCAL_CLIENT_RUNS: record, HOST_LOCAL_CLIENT_CALLS: calls } = process.env;

/** A client of the plugin. */
export interface ClientOfScenario {
  /** Its row in the matrix, such as `containerd 2, CRI`. */
  readonly name: string;
  /** Its scenario, in a few words for the matrix. */
  readonly scenario: string;
  readonly needs: Needs;
  /** Returns its version, inside the scenario. */
  readonly version: () => string;
  /** The name of the file in `test/blackbox/client-calls` in which its calls are recorded, if they are. */
  readonly fixture?: string;
}

/**
 * Declares a scenario with a client.
 *
 * @param client the client
 * @param body the scenario, inside its namespaces
 */
export function clientScenario(
  client: ClientOfScenario,
  body: (t: Test, host: Host) => Promise<void>,
): void {
  const { name, scenario: tested, needs, version, fixture } = client;
  const note = (run: Pick<ClientRun, "version" | "verbs" | "result" | "reason">): void => {
    const whole: ClientRun = {
      client: name,
      scenario: isUserModeLinux() ? `${tested}, in user-mode Linux` : tested,
      executable: isNative ? "native" : "portable",
      date: new Date().toISOString().slice(0, 10),
      ...run,
    };
    if (record !== undefined) appendFileSync(record, `${JSON.stringify(whole)}\n`);
  };
  const skipped = scenario(name, needs, async (t, host) => {
    let isThrown = true;
    try {
      await body(t, host);
      isThrown = false;
    } finally {
      const commands = host.recordedCalls().map(({ environment }) => environment.CNI_COMMAND ?? "");
      note({
        version: version(),
        verbs: [...new Set(commands)].sort(),
        result: t.passing() && !isThrown ? "passed" : "failed",
      });
      const isRecorded = calls !== undefined && isNative && t.passing() && !isThrown;
      if (fixture !== undefined && isRecorded) {
        const text = fixtureText(`${name}, version ${version()}`, host.recordedCalls());
        writeFileSync(join(calls, `${fixture}.jsonl`), text);
      }
    }
  });
  if (skipped !== undefined) note({ version: "", verbs: [], result: "skipped", reason: skipped });
}

/** Whether the scenario has another kernel than the machine, see `kernelFor`. */
function isUserModeLinux(): boolean {
  return readFileSync("/proc/cpuinfo", "utf8").includes("User Mode Linux");
}

/**
 * The version in what a command prints.
 *
 * @param command a program and its arguments
 */
export function printedVersion(command: readonly [string, ...string[]]): string {
  const [program, ...words] = command;
  return versionIn(execFileSync(program, words, { encoding: "utf8" }));
}

/**
 * The first version in a text, such as `1.6.20` or `2.4.0-beta.0`; empty if there is none.
 *
 * @param text the text
 */
export function versionIn(text: string): string {
  return /\d+\.\d+(?:\.\d+)?(?:-(?:beta|rc)\.\d+)?/.exec(text)?.[0] ?? "";
}
