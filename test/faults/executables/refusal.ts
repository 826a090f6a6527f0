/** How a call fails where nothing can be written: with one error that says where and why. */

import type { Outcome } from "../../harness/executable.ts";
import { Verifier } from "../../harness/violations.ts";
import { type DualStack, verifyError } from "./dual-stack.ts";
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
  decide: (verifier: Verifier) => Promise<void>,
): Promise<Attempt> {
  const verifier = new Verifier();
  await decide(verifier);
  return { what, violations: verifier.violations };
}

/** ADD fails, and STATUS foretells it with code 50. */
export async function verifyUnserved(
  network: DualStack,
  what: string,
  complaint: Complaint,
): Promise<Attempt[]> {
  const add = await attemptOf(`ADD: ${what}`, async (verifier) => {
    verifyFailure(await network.do("ADD", "new"), complaint, verifier);
  });
  const status = await attemptOf(`STATUS: ${what}`, async (verifier) => {
    const outcome = await network.ask("STATUS");
    verifyFailure(outcome, complaint, verifier);
    verifier.require(/"code": 50,|^$/.test(outcome.stdout), "mute", outcome.stdout);
  });
  return [add, status];
}

/** The call fails, and says why. */
export function verifyFailure(
  outcome: Outcome,
  { path, cause }: Complaint,
  verifier: Verifier,
): void {
  verifier.require(outcome.exitCode !== 0, "accepted", `it succeeds: ${outcome.stdout}`);
  if (outcome.exitCode !== 0) verifyError(outcome, path, cause, verifier);
}
