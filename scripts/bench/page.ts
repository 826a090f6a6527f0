/** The page docs/evidence/benchmark.md: the results in one table, and how they were found. */

import type { Instructions } from "./instructions.ts";
import { grouped, type Row, type Values } from "./measure.ts";

/** What a run of the benchmark found. */
export interface Results {
  /** What it ran on. */
  readonly machine: string;
  /** The Go plugin's version. */
  readonly goVersion: string;
  readonly rows: readonly Row[];
  /** Of the native executable, and of a program that does nothing. */
  readonly instructions: readonly Instructions[];
  /** The size of each program's file, in MB. */
  readonly sizes: Values;
}

/** The page, in Markdown. */
export function formatPage(results: Results): string {
  return `# Benchmark

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="../pictures/benchmark-dark.svg">
  <img src="../pictures/benchmark-light.svg" alt="Time of an ADD by the number of reservations, as in the table">
</picture>

## Results

Measured ${results.machine}. Medians of the wall time in milliseconds,
if nothing else is said.

${resultTable(results)}
| native | instructions |
| --- | --- |
${results.instructions.map((one) => `| ${one.title} | ${grouped(one.instructions)} |\n`).join("")}
## Method

\`npm run bench\` writes this page. It builds both executables and measures them against the Go plugin: the newest in Debian
(\`npm run fetch -- go-plugins\`), or the installed one in \`/usr/lib/cni\`. It needs gcc, libc6-dev, binutils and valgrind, some
minutes, and an idle machine. Data directories are below \`TMPDIR\`; on ext4, creating a file can take many times longer in one
directory than in another, depending on its block group.

- **Calls.** One process each, started as by a runtime, by a small C program (\`scripts/bench/runner.c\`), with pipes for standard
  input and output. Wall time is from before the start to after the end; memory is the kernel's peak resident set size. A wrong
  answer ends the benchmark.
- **Order.** In each round every program makes the same call before the next call follows: VERSION, ADD and DEL for one container,
  so that every round starts from the same state. Warm-up rounds are not counted.
- **Reservations.** Each program has its own data directory with the same content: a /16 with the number of reservations in the
  table, as the Go plugin writes them, and the cursor on the last one. One free address is in the middle, and the search starts
  right behind it.
- **External write.** Another program has changed the directory, so the journal is not used: the first ADD of a network that only
  the Go plugin has served costs the same.
- **Dead pods.** All reservations of a full range are of pods whose network namespace is gone, by the records of the journal: an ADD
  gets the address of one. The Go plugin refuses it. It is made as root, which sees all namespaces of the node.
- **Bursts.** All ADDs are started at once, then all DELs; the time is from the first start to the last end. The portable
  executable is left out: hundreds of Node.js processes at once measure memory and the scheduler.
- **Instructions** in user mode, counted by callgrind, in a network that is otherwise empty. The lower bound is a static program in
  C that does nothing. \`test/native/instructions.test.ts\` has the limits.
`;
}

function resultTable({ goVersion, rows, sizes }: Results): string {
  const head = ["", `Go ${goVersion}`, "native", "native is × faster", "portable"];
  const ofAdd = rows.filter(({ title }) => /^ADD(?: at|$)/.test(title));
  const lines = [
    head,
    head.map(() => "---"),
    ...rows.map(({ title, milliseconds }) => lineOf(title, milliseconds, true)),
    ...ofAdd.map(({ title, megabytes }) => lineOf(`memory of ${title}, MB`, megabytes)),
    lineOf("file, MB", sizes),
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/** A line; of times the fourth cell is how many times faster the native executable is than the Go plugin. */
function lineOf(title: string, values: Values, isTime = false): readonly string[] {
  const { go, native, portable } = values;
  const factor = go === undefined || native === undefined || !isTime ? undefined : go / native;
  const times = factor === undefined ? "" : factor.toFixed(factor < 10 ? 1 : 0);
  return [title, formatValue(go), formatValue(native), times, formatValue(portable)];
}

/** Three digits that count. */
function formatValue(value: number | undefined): string {
  if (value === undefined) return "";
  return value >= 1000 ? grouped(Math.round(value)) : String(Number(value.toPrecision(3)));
}
