/** Who holds `flock(2)` on a file. */

import { attempt, LockTimeout, type System } from "./system.ts";

/**
 * The error of a call that waited for a lock in vain. It names the process that holds it, as in
 * `process 123 (host-local)`, and the trace of that one's call, as far as /proc shows them.
 */
export function flockTimeout(
  { status, readFile }: Pick<System, "status" | "readFile">,
  path: string,
): LockTimeout {
  let holder: string | undefined;
  let traceparent: string | undefined;
  // It may have ended, or belong to another user.
  attempt(() => {
    const { inode } = status(path);
    const line = readFile("/proc/locks", 1024 * 1024)
      .split("\n")
      .find((entry) => entry.includes(" FLOCK ") && entry.includes(`:${inode} `));
    const id = /WRITE\s+([0-9]+)/.exec(line ?? "")?.[1];
    if (id !== undefined) {
      // Not /proc/<id>/comm, which Node.js sets to the name of a thread.
      const [program = ""] = readFile(`/proc/${id}/cmdline`, 1024 * 1024).split("\0");
      holder = `process ${id} (${program.slice(program.lastIndexOf("/") + 1)})`;
      const variables = readFile(`/proc/${id}/environ`, 4 * 1024 * 1024);
      traceparent = /(?:^|\0)TRACEPARENT=([^\0]*)/.exec(variables)?.[1];
    }
  }, undefined);
  return new LockTimeout(path, holder, traceparent);
}
