/** Findings on directories in which another user may write: those of reservations, and those that calls therefore ignore. */

import { runtimeDirectory } from "../../store/failed-calls/failed-calls-file.ts";
import { directoryFault, type StateFault } from "../../store/files/state-directory.ts";
import { attempt, type System } from "../../system/system.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";

/** Looks at the directories of reservations, at the state directories and at that of failed calls; each is named once. */
export function directoryFindings({ context: { system }, asked }: Node): readonly Finding[] {
  const found = asked.flatMap(({ files: { network, dataDir, directory, stateFault } }) => {
    const writable = [dataDir, directory].flatMap((path) => writableFinding(system, network, path));
    // The owner of the data directory makes the calls there, so these use the state directory. A link is followed.
    const user = attempt(() => system.permissions(`${dataDir}/`).user, undefined);
    const isCallers =
      stateFault?.kind === "other user" && (user === undefined || user === stateFault.user);
    return isCallers ? writable : [...writable, ...unusedFinding(network, stateFault, NOT_READ)];
  });
  const ofCalls = unusedFinding("", directoryFault(system, runtimeDirectory(system)), NOT_KEPT);
  return [...new Map([...found, ...ofCalls].map((finding) => [finding.path, finding])).values()];
}

const NOT_KEPT = "no call that fails is kept there, and check does not see which calls fail";

const NOT_READ =
  "no call uses what is in it: each reads all reservations, and addresses of dead pods do not come back by themselves";

/** The finding on a directory of reservations in which others can write: they can give the address of a living pod away. */
function writableFinding(system: System, network: string, path: string): readonly Finding[] {
  // The slash at the end makes the system follow a link.
  const fault = directoryFault(system, `${path}/`);
  if (fault?.kind !== "writable") return [];
  const commands = [{ run: [["chmod", "go-w", path]] }];
  const message = `${reasonOf(fault)}, and so release the addresses of living pods`;
  return [{ code: "writable-by-others", network, path, message, commands }];
}

function unusedFinding(
  network: string,
  fault: StateFault | undefined,
  consequence: string,
): readonly Finding[] {
  const reason = fault && reasonOf(fault);
  if (fault === undefined || reason === undefined) return [];
  const { path } = fault;
  const run = [
    ["rm", "-r", path],
    ["mkdir", "-m", "700", path],
  ];
  const message = `${reason}, so ${consequence}`;
  return [{ code: "state-directory-unused", network, path, message, commands: [{ run }] }];
}

/** What is wrong with a directory that is there; `undefined` where it cannot be looked at. */
function reasonOf(fault: StateFault): string | undefined {
  switch (fault.kind) {
    case "no directory":
      return "it is a link, or no directory";
    case "other user":
      return `it belongs to user ${fault.user}`;
    case "writable":
      return `group or others can write to it (mode ${fault.mode.toString(8).padStart(4, "0")})`;
    case "unseen":
      return undefined;
  }
}
