/**
 * Makes all searches of test/interleavings, and writes docs/data/interleavings.json with their numbers and
 * docs/evidence/interleavings.md.
 *
 * Usage: `npm run node -- scripts/pages/interleavings.ts`; it takes some minutes.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bugs, shortestWith } from "../../test/interleavings/bugs.ts";
import {
  type Found,
  known,
  nameOf,
  planFor,
  type Row,
  search,
} from "../../test/interleavings/plan.ts";
import { losses, worldsAfterLoss } from "../../test/interleavings/power-loss.ts";
import { root } from "../build/bundle.ts";
import { writeResults } from "./runs.ts";

/** What the searches found, as docs/data/interleavings.json has it. */
export interface Results {
  /** The searches by what happens besides the calls. */
  readonly searches: readonly {
    readonly happens: string;
    readonly searches: number;
    readonly schedules: number;
    readonly states: number;
  }[];
  /** Where a rule is known to be broken: why, and in which searches. */
  readonly known: readonly { readonly why: string; readonly searches: readonly string[] }[];
  /** Disks after a loss of power, by calls. */
  readonly losses: Readonly<Record<string, number>>;
  /** Planted defects, with the calls and the number of steps of the shortest schedule that shows each. */
  readonly defects: readonly {
    readonly name: string;
    readonly calls: string;
    readonly steps: number | null;
  }[];
}

/** What happens besides the calls, in words. */
const happenings: readonly (readonly [trouble: Row["trouble"], text: string])[] = [
  ["nothing", "nothing else"],
  ["stops", "a kill, a boot, or no lock in time"],
  ["errors", "an error, EIO, of a call that has done nothing, or everything"],
  ["each error", "an error as above, each of EIO, ENOSPC, EACCES, EROFS, EMFILE"],
  ["refusals", "errors from then on, each of these, of all calls or all of a kind"],
  ["removals", "the lock file or `.host-local` is removed"],
];

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/**
 * The page about the searches.
 *
 * @param results what they found
 */
export function interleavingsPage({ searches, known, losses, defects }: Results): string {
  const schedules = numberOf(sum(searches.map((row) => row.schedules)));
  const states = numberOf(sum(searches.map((row) => row.states)));
  const disks = sum(Object.values(losses));
  return `# Every order of system calls

<!-- Written by \`npm run node -- scripts/pages/interleavings.ts\` from data/interleavings.json. -->

The real calls of the plugin run in memory in every order of their system calls, and [ten
rules](../architecture.md#ten-rules) hold at each end. **${sum(searches.map((row) => row.searches))} searches, ${schedules} schedules, ${states} states**; the
[data](../data/interleavings.json) has them one by one. \`npm test\` and \`npm run test:all\` make a part, a release all of them.

- **The machine.** The inode number of a removed file is used again at once, unless a process has it open. Files are dated by
  the last tick of 4 ms, or by the last second. Network namespaces live by a mount, a process or a thread, and end at any time;
  their numbers and paths are used again.
- **Calls.** Two or three at once: ADD, DEL, DEL and then ADD, CHECK, STATUS, GC, \`host-local gc\` and \`release\`, those of the Go
  plugin, those of a process whose lock does not exclude the others, and an ADD whose answer is not delivered, so that its
  UNDO follows. There are three addresses, of which one, two or all are in use.
- **Faults.** At most one in a schedule, at any point: a kill, a boot, no lock in time; EIO, ENOSPC, EACCES, EROFS or EMFILE of a
  call that has done nothing, or everything, or from then on of all calls or all of a kind; the lock file or \`.host-local\` is
  removed.

No rule is broken, but in these searches ([what that means](reliability.md#without-the-lock)):

${known.map((finding) => `- ${finding.why} (${finding.searches.length === 1 ? "one search" : `${finding.searches.length} searches`}).`).join("\n")}

## Loss of power

${disks} disks that a file system may leave after, or within, ${Object.keys(losses).length} sequences of calls
(\`test/interleavings/power-loss.ts\`), also one that keeps less in order than ext4, Btrfs and XFS do: after each, DEL frees
everything, and every address can be handed out again, once.

## Defects that the searches find

Each is a change of one place in the source. \`npm run node -- test/interleavings/bugs.test.ts\` prints the shortest schedule that
shows it.

<details>
<summary>The ${defects.length} defects, with the number of system calls and faults of that schedule</summary>

${defects.map(({ name, steps }) => `- ${name} (${steps ?? "not found"})`).join("\n")}

</details>
`;
}

function numberOf(count: number): string {
  return count < 1e5 ? String(count) : count.toExponential(1).replace("e+", "e");
}

function searchAll(): readonly Found[] {
  return planFor("exhaustive").map((row) => {
    const found = search(row);
    if (found.broken !== undefined) throw new Error(`${nameOf(row)}: ${found.broken.broken}`);
    return found;
  });
}

async function resultsOf(): Promise<Results> {
  const defects: Results["defects"][number][] = [];
  for (const bug of bugs) {
    const found = await shortestWith(bug);
    defects.push({ name: bug.name, calls: bug.cast.name, steps: found?.steps.length ?? null });
  }
  const all = searchAll();
  return {
    searches: happenings.map(([trouble, happens]) => {
      const found = all.filter(({ row }) => row.trouble === trouble);
      return {
        happens,
        searches: found.length,
        schedules: sum(found.map(({ counts }) => counts.schedules)),
        states: sum(found.map(({ counts }) => counts.states)),
      };
    }),
    known: known.map((finding) => ({
      why: finding.why,
      searches: all.filter((found) => found.known === finding).map(({ row }) => nameOf(row)),
    })),
    losses: Object.fromEntries(
      losses.map(([calls]) => [calls, worldsAfterLoss(calls).worlds.length]),
    ),
    defects,
  };
}

if (import.meta.main) {
  Object.assign(globalThis, { BUILD_VERSION: "unknown" });
  const results = await resultsOf();
  writeResults(join(root, "docs/data/interleavings.json"), results);
  writeFileSync(join(root, "docs/evidence/interleavings.md"), interleavingsPage(results));
}
