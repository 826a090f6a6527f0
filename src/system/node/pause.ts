/** Waiting without an event loop. */

const nothing = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the process for some milliseconds. */
export function pause(milliseconds: number): void {
  Atomics.wait(nothing, 0, 0, milliseconds);
}
