/** Findings on state directories that calls do without, since another user may have written what is in them. */

import type { StateFault } from "../../store/files/state-directory.ts";
import { attempt } from "../../system/system.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";

/** Looks for state directories that anybody but their network's user may have written to; each is named once. */
export function stateDirectoryFindings({ context: { system }, asked }: Node): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const { files } of asked) {
    const { stateFault: fault, network, dataDir } = files;
    const reason = fault && reasonOf(fault);
    if (fault === undefined || reason === undefined) continue;
    // Whose data directory it is, calls there themselves, and uses it. A link to it is followed.
    const user = attempt(() => system.permissions(`${dataDir}/`).user, undefined);
    if (fault.kind === "other user" && (user === undefined || user === fault.user)) continue;
    const { path } = fault;
    const message = `${reason}, so no call uses what is in it: each reads all reservations, and addresses of dead pods do not come back by themselves`;
    const commands = [
      {
        run: [
          ["rm", "-r", path],
          ["mkdir", "-m", "700", path],
        ],
      },
    ];
    found.set(path, { code: "state-directory-unused", network, path, message, commands });
  }
  return [...found.values()];
}

/** What is wrong with a directory that is there. */
function reasonOf(fault: StateFault): string | undefined {
  switch (fault.kind) {
    case "other user":
      return `it belongs to user ${fault.user}`;
    case "writable":
      return `group or others can write to it (mode ${fault.mode.toString(8).padStart(4, "0")})`;
    default:
      return undefined;
  }
}
