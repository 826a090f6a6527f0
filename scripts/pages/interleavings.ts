/**
 * Makes the searches of test/interleavings in full extent, and writes docs/evidence/interleavings.md with their numbers.
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
import { fileSystems, losses, worldsAfterLoss } from "../../test/interleavings/power-loss.ts";
import { root } from "../build/bundle.ts";

/** A column for each kind of trouble. */
const columns: readonly (readonly [trouble: Row["trouble"], heading: string])[] = [
  ["nothing", "nothing else"],
  ["stops", "a kill, a boot, no lock in time"],
  ["errors", "an error"],
  ["refusals", "errors from then on, at all calls or all of a kind"],
  ["removals", "the lock file or `.host-local` removed"],
];

function page(found: readonly Found[], defects: readonly string[]): string {
  const names = [...new Set(found.map(({ row }) => row.cast.name))];
  const heads = columns.map(([, heading]) => heading);
  return `# Every order of system calls

Written by \`scripts/pages/interleavings.ts\`. The real calls of the plugin run in memory in every order of their system
calls, and [ten rules](../architecture.md#ten-rules) hold at each end. \`npm test\` makes a part of these searches,
\`npm run test:all\` all of them (two minutes); with more errors, two stops at once, and every pair also beside a process
with another lock: \`HOST_LOCAL_EXTENT=exhaustive npm run node -- FILE\`, with \`interleavings.test.ts\`, \`errors.test.ts\` and
\`further-troubles.test.ts\` of \`test/interleavings\` (hours).

Three addresses, of which \`c\` has one before. *Unheard*: nobody reads the answer of the ADD, so its UNDO follows. What
happens besides the calls happens at most once in a schedule, at any point of it. Each cell: schedules (states). One call
alone, in the lines without ∥, meets each of EIO, ENOSPC, EACCES, EROFS and EMFILE. With * a rule is broken, see below.

| calls at once | ${heads.join(" | ")} |
|---|${columns.map(() => "---:|").join("")}
${names.map((name) => `| ${name} | ${cellsOf(name, found).join(" | ")} |`).join("\n")}

No rule is broken, but in these searches ([what that means](reliability.md#without-the-lock)):

${known.map((one) => `- ${namesWith(one, found)}: ${one.why}.`).join("\n")}

## By hand

\`HOST_LOCAL_EXTENT=exhaustive\` adds 362 searches. On 2026-11-22 137 of them were made, in an hour and a quarter beside
other work, before the run was ended: the pairs of the first calls in the table above. No rule is broken but by what is
listed above.

| what happens | searches made | schedules | states | with a known break |
|---|---:|---:|---:|---:|
| a kill, a boot, no lock in time, beside a process with another lock | 28 of 30 | 1.6e17 | 4.5e5 | 1 |
| an error, beside a process with another lock | 28 of 30 | 2.3e19 | 9.0e6 | 1 |
| each of EIO, ENOSPC, EACCES, EROFS, EMFILE | 27 of 119 | 7.8e11 | 1.1e6 | 0 |
| the lock file or \`.host-local\` removed | 27 of 85 | 1.2e24 | 1.7e7 | 6 |
| two of a kill, a boot, no lock in time | 27 of 98 | 1.5e11 | 72043 | 0 |

## Loss of power

The disks that each file system may leave after, or within, some calls (\`test/interleavings/power-loss.ts\`); after each,
DEL frees everything, and every address can be handed out again, once.

| calls | ${fileSystems.join(" | ")} |
|---|${fileSystems.map(() => "---:|").join("")}
${losses.map((loss) => `| ${loss.name} | ${fileSystems.map((one) => worldsAfterLoss(loss, one).worlds.length).join(" | ")} |`).join("\n")}

## Defects that the searches find

Each is a change of one place in the source. \`npm run node -- test/interleavings/bugs.test.ts\` prints the shortest schedule that
shows it.

| defect | calls at once | system calls and faults in the shortest schedule |
|---|---|---:|
${defects.join("\n")}
`;
}

function cellsOf(name: string, found: readonly Found[]): readonly string[] {
  return columns.map(([trouble]) => {
    const one = found.find(({ row }) => row.cast.name === name && row.trouble === trouble);
    if (one === undefined) return "";
    const { schedules, states } = one.counts;
    if (one.broken !== undefined) throw new Error(`${nameOf(one.row)}: ${one.broken.broken}`);
    return `${numberOf(schedules)} (${numberOf(states)})${one.known === undefined ? "" : " *"}`;
  });
}

function namesWith(exception: (typeof known)[number], found: readonly Found[]): string {
  return found.flatMap((one) => (one.known === exception ? nameOf(one.row) : [])).join("; ");
}

function numberOf(count: number): string {
  return count < 1e5 ? String(count) : count.toExponential(1).replace("e+", "e");
}

Object.assign(globalThis, { BUILD_VERSION: "unknown" });
const defects: string[] = [];
for (const bug of bugs) {
  const found = await shortestWith(bug);
  defects.push(`| ${bug.name} | ${bug.cast.name} | ${found?.steps.length ?? "not found"} |`);
}
writeFileSync(
  join(root, "docs", "evidence", "interleavings.md"),
  page(planFor("full").map(search), defects),
);
