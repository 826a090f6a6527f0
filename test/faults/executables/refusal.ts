/** How a call fails where nothing can be written: with one error that says where and why. */

import type { Outcome } from "../../blackbox/executable.ts";
import { Judgement } from "../judgement.ts";
import { type DualStack, judgeError } from "./dual-stack.ts";
import type { Attempt } from "./scenario.ts";

/** What a failing call says: where, and why. */
export interface Complaint {
  readonly path: string;
  readonly cause: string;
}

/** A list for GC on which `other` alone is alive. */
export const onlyOther = {
  "cni.dev/valid-attachments": [{ containerID: "other", ifname: "eth0" }],
};

/** Makes an attempt of what `decide` finds. */
export async function attemptOf(
  what: string,
  decide: (judgement: Judgement) => Promise<void>,
): Promise<Attempt> {
  const judgement = new Judgement();
  await decide(judgement);
  return { what, violations: judgement.violations };
}

/** ADD fails, and STATUS foretells it with code 50. */
export async function judgeUnserved(
  network: DualStack,
  what: string,
  complaint: Complaint,
): Promise<Attempt[]> {
  const add = await attemptOf(`ADD: ${what}`, async (judgement) => {
    judgeFailure(await network.do("ADD", "new"), complaint, judgement);
  });
  const status = await attemptOf(`STATUS: ${what}`, async (judgement) => {
    const outcome = await network.ask("STATUS");
    judgeFailure(outcome, complaint, judgement);
    judgement.require(/"code": 50,|^$/.test(outcome.stdout), "mute", outcome.stdout);
  });
  return [add, status];
}

/** The call fails, and says why. */
export function judgeFailure(
  outcome: Outcome,
  { path, cause }: Complaint,
  judgement: Judgement,
): void {
  judgement.require(outcome.exitCode !== 0, "accepted", `it succeeds: ${outcome.stdout}`);
  if (outcome.exitCode !== 0) judgeError(outcome, path, cause, judgement);
}
