/** Ending a program with its children. */

import { errnoOf } from "./system-call.ts";

/** Kills a process group, which may have ended. Node.js itself kills only the program. */
export function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (errnoOf(error) !== "ESRCH") throw error;
  }
}
