/** Findings on reservations whose containers seem to be dead. */

import { plural, verbFor } from "../../cli/output/plural.ts";
import { formatMinute } from "../../cli/output/time.ts";
import { hasNoProcess } from "../../store/life/conclusion.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { leaksAmong } from "../judgements/leaks.ts";
import type { KnownReservation } from "../judgements/lives.ts";
import type { Node } from "../node.ts";
import type { Finding } from "./finding.ts";
import { describeHolder, namedPods, podOrHolder } from "./holder.ts";

/** Why nothing is judged right after a start of the node, behind the time until which that is so. */
const TOO_EARLY =
  "ten minutes after the start of the node: before, its runtime may be about to release what leaked, or what is for a lost sandbox";

const WAIT_OR_LIST = "check again after that, or run gc, which lists now what dead containers hold";

/** Checks for reservations of dead containers: of each network there is one finding, since there may be 65 000. */
export function leakFindings(node: Node): readonly Finding[] {
  return node.asked.flatMap((directory) => findingsIn(node, directory));
}

function findingsIn(node: Node, directory: NetworkDirectory): readonly Finding[] {
  const { facts, liveness } = node;
  const { files } = directory;
  const known = liveness.livenessIn(directory);
  const { judged, leaked, unknown, judgedFrom } = leaksAmong(known, facts.now(), facts.uptime());
  const about = { network: files.network, path: files.directory };
  const commands: Finding["commands"] = [{ files, words: ["gc", files.network] }];
  const countOf = ({ length }: readonly KnownReservation[]): string =>
    `${length} of ${plural(judged, "reservation")}`;
  if (judgedFrom !== undefined) {
    const undecided = [...leaked, ...unknown];
    const until = formatMinute(judgedFrom, facts.now());
    const message = `${countOf(undecided)} cannot be judged until ${until}, ${TOO_EARLY}`;
    if (undecided.length === 0) return [];
    return [{ ...about, code: "leaks-unknown", message, remedy: WAIT_OR_LIST, commands }];
  }
  const idle = leaked.filter(({ conclusion }) => hasNoProcess(conclusion));
  const dead = leaked.filter(({ conclusion }) => !hasNoProcess(conclusion));
  const found: Finding[] = [];
  const [firstDead] = dead;
  if (firstDead !== undefined) {
    const { reservation, conclusion } = firstDead;
    const such = dead.length === 1 ? ":" : ", such as";
    const example = `${reservation.text} of ${describeHolder(node, reservation)}`;
    const message = `${countOf(dead)} leaked${such} ${example}: ${conclusion.reason}`;
    found.push({ ...about, code: "leaked-reservation", message, commands });
  }
  const [firstIdle] = idle;
  if (firstIdle !== undefined) {
    const names = idle.map(
      ({ reservation }) => `${podOrHolder(node, reservation)} (${reservation.text})`,
    );
    const message = `${countOf(idle)} ${verbFor(idle.length, "is of a sandbox", "are of sandboxes")} without a process: ${namedPods(names)}; ${firstIdle.conclusion.reason}`;
    found.push({ ...about, code: "sandbox-without-process", message });
  }
  const [firstUnknown] = unknown;
  if (firstUnknown !== undefined) {
    // An unknown is a finding, too: it is not the same as no leak.
    const message = `${countOf(unknown)} may have leaked, which cannot be seen: ${firstUnknown.conclusion.reason}`;
    found.push({ ...about, code: "leaks-unknown", message });
  }
  return found;
}
