/** Waiting for what no event tells. */

import { setTimeout as pause } from "node:timers/promises";

/** How often it is looked for, in milliseconds. */
const EVERY = 5;

/**
 * Waits until something holds.
 *
 * @param what what is waited for, for the error
 * @param seconds how long
 * @throws Error where it does not hold by then
 */
export async function until(
  what: string,
  seconds: number,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await pause(EVERY);
  }
}
