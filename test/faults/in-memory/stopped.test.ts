// test: own process
/** A call that is killed at any point leaves nothing behind that affects later calls. */

import { test } from "tap";
import { type Interrupt, stopAt } from "../../harness/interruption.ts";
import { brokenPromises } from "./recovery.ts";
import { type Scenario, scenarios } from "./scenarios.ts";

/** So much of a new file is written when the process is killed in the middle of it. */
const PARTS = [0, 0.25] as const;

for (const scenario of scenarios) {
  test(`${scenario.name} may be killed at any system call`, (t) => {
    const { calls } = scenario.act(scenario.prepare(), {});
    const broken: string[] = [];

    for (const call of calls) {
      const parts = call.operation === "createFile" ? [undefined, ...PARTS] : [undefined];
      for (const part of parts) {
        const where = `${call.number} ${call.operation} ${call.path} ${part ?? ""}`;
        broken.push(...afterStop(scenario, stopAt(call.number, part)).map((p) => `${where}: ${p}`));
      }
    }

    t.ok(calls.length > 1, "the call makes system calls");
    t.equal(broken.join("\n"), "");
    t.end();
  });
}

function afterStop(scenario: Scenario, interrupt: Interrupt): readonly string[] {
  const network = scenario.prepare();
  const before = network.reservations();
  const { exitCode } = scenario.act(network, { interrupt });
  if (exitCode !== undefined) return [`it is killed, found exit code ${exitCode}`];
  return brokenPromises(network, before, scenario);
}
