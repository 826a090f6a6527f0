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

/** What happens besides the calls, in words. */
const happenings: readonly (readonly [trouble: Row["trouble"], text: string])[] = [
  ["nothing", "nothing else"],
  ["stops", "a kill, a boot, or no lock in time"],
  ["errors", "an error, EIO, of a call that has done nothing, or everything"],
  ["each error", "the same, each of EIO, ENOSPC, EACCES, EROFS, EMFILE"],
  ["refusals", "EIO from then on, of all calls or all of a kind"],
  ["each refusal", "the same, each of EIO, ENOSPC, EACCES, EROFS, EMFILE"],
  ["removals", "the lock file or `.host-local` is removed"],
];

function page(found: readonly Found[], defects: readonly string[]): string {
  const steps = "system calls and faults in the shortest schedule";
  return `# Every order of system calls

Written by \`scripts/pages/interleavings.ts\`. The real calls of the plugin run in memory in every order of their system
calls, and [ten rules](../architecture.md#ten-rules) hold at each end. \`npm test\` makes a part of these searches,
\`npm run test:all\` all of them (two minutes), each a test that prints its numbers.

The machine is as unkind as the kernel: the number of a file that is gone is used again at once, unless somebody has it
open, and files are dated by the last tick of 4 ms, or by the last second, while the clock of a process is further on.
Network namespaces live by a mount, a process or a thread, end while others look, and so do their numbers and paths.
There are three addresses, of which one is in use, or two, or all. Two or three calls run at once: ADD, DEL, DEL and then
ADD, CHECK, STATUS, GC, \`host-local release\`, those of the Go plugin, and those of a process whose lock does not exclude
the others; an ADD whose answer nobody reads, so that its UNDO follows. What happens besides them happens at most once in a
schedule, at any point of it.

| what happens | searches | schedules | states |
|---|---:|---:|---:|
${happenings.map(([trouble, text]) => lineOf(trouble, text, found)).join("\n")}

No rule is broken, but in these searches ([what that means](reliability.md#without-the-lock)):

${known.map((one) => `- ${one.why} (${namesWith(one, found)}).`).join("\n")}

\`HOST_LOCAL_EXTENT=exhaustive npm run node -- FILE\` makes more, in hours: with more errors, two stops at once, and every pair
also
beside a process with another lock. FILE is one of \`interleavings.test.ts\`, \`errors.test.ts\` and
\`further-troubles.test.ts\` in \`test/interleavings\`.

## Loss of power

The disks that each file system may leave after, or within, some calls (\`test/interleavings/power-loss.ts\`); after each,
DEL frees everything, and every address can be handed out again, once.

| calls | ${fileSystems.join(" | ")} |
|---|${fileSystems.map(() => "---:|").join("")}
${losses.map((loss) => `| ${loss.name} | ${fileSystems.map((one) => worldsAfterLoss(loss, one).worlds.length).join(" | ")} |`).join("\n")}

## Defects that the searches find

Each is a change of one place in the source. \`npm run node -- test/interleavings/bugs.test.ts\` prints the shortest schedule that
shows it.

| defect | calls at once | ${steps} |
|---|---|---:|
${defects.join("\n")}
`;
}

function lineOf(trouble: Row["trouble"], text: string, all: readonly Found[]): string {
  const found = all.filter(({ row }) => row.trouble === trouble);
  const sum = (numbers: readonly number[]): string =>
    numberOf(numbers.reduce((total, one) => total + one, 0));
  const schedules = sum(found.map(({ counts }) => counts.schedules));
  const states = sum(found.map(({ counts }) => counts.states));
  return `| ${text} | ${found.length} | ${schedules} | ${states} |`;
}

function namesWith(exception: (typeof known)[number], found: readonly Found[]): string {
  const names = found.flatMap((one) => (one.known === exception ? nameOf(one.row) : []));
  const more = names.length > 3 ? [`${names.length - 2} more`] : names.slice(2);
  return [...names.slice(0, 2), ...more].join("; ");
}

function numberOf(count: number): string {
  return count < 1e5 ? String(count) : count.toExponential(1).replace("e+", "e");
}

function searchAll(): readonly Found[] {
  return planFor("full").map((row) => {
    const found = search(row);
    if (found.broken !== undefined) throw new Error(`${nameOf(row)}: ${found.broken.broken}`);
    return found;
  });
}

Object.assign(globalThis, { BUILD_VERSION: "unknown" });
const defects: string[] = [];
for (const bug of bugs) {
  const found = await shortestWith(bug);
  defects.push(`| ${bug.name} | ${bug.cast.name} | ${found?.steps.length ?? "not found"} |`);
}
writeFileSync(join(root, "docs", "evidence", "interleavings.md"), page(searchAll(), defects));
