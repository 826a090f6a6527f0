/** Waiting for things that no event announces. */

import { setTimeout as pause } from "node:timers/promises";

/** The longest wait for anything, in seconds. */
const PATIENCE = 180;

/** The pause between two looks, in milliseconds. */
const EVERY = 10;

/**
 * Waits until something holds.
 *
 * @param what the thing that is awaited, for the error
 * @param holds the condition, asked again and again; while it throws, it does not hold
 * @param seconds the longest wait; three minutes by default
 * @throws Error if it does not hold by then
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
