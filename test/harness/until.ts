/** Waiting for what no event tells. */

import { setTimeout as pause } from "node:timers/promises";

/** How long anything is waited for, in seconds. */
const PATIENCE = 180;

/** How often it is looked for, in milliseconds. */
const EVERY = 10;

/**
 * Waits until something holds.
 *
 * @param what what is waited for, for the error
 * @param holds looked at again and again; where it throws, it does not hold
 * @param seconds how long; three minutes by default
 * @throws Error where it does not hold by then
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds: number = PATIENCE,
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  let reason: unknown = "";
  while (performance.now() < deadline) {
    try {
      if (await holds()) return;
    } catch (error) {
      reason = error;
    }
    await pause(EVERY);
  }
  throw new Error(`waited ${seconds} s in vain for ${what}. ${reason}`);
}
