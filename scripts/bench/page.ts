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
  /** The instructions of the native executable, and of a program that does nothing. */
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

Measured ${results.machine}. Medians of the wall time in milliseconds, unless the row says otherwise.

${resultTable(results)}
| native | instructions |
| --- | --- |
${results.instructions.map((one) => `| ${one.title} | ${grouped(one.instructions)} |\n`).join("")}
## Method

\`npm run bench\` writes this page, and compares with Debian's newest Go plugin (\`npm run fetch -- go-plugins\`) or the one in
\`/usr/lib/cni\`. It needs gcc, libc6-dev, binutils, valgrind, some minutes and an idle machine. Data directories are below
\`TMPDIR\`. On ext4, creating a file can take many times longer in one directory than in another, by its block group.

- **Calls.** One process each, started through pipes by a small C program (\`scripts/bench/runner.c\`). Wall time is from before the
  start to after the end. Memory is the peak resident set. A wrong answer ends the benchmark.
- **Order.** In each round every program makes the same call (VERSION, ADD, DEL for one container) before the next follows, so every
  round starts from the same state. Warm-up rounds are not counted.
- **Reservations.** Each program has its own copy of a /16 with the number of reservations in the table, as the Go plugin writes
  them. One free address is in the middle, and the search starts right behind it.
- **External write.** Another program has changed the directory, so the journal is not used, as in the first ADD after the Go plugin.
- **Dead pods.** The network namespaces of all reservations of a full range are gone, so an ADD, as root, gets one of their
  addresses. The Go plugin refuses it.
- **Bursts.** All ADDs start at once, then all DELs, timed from the first start to the last end. Hundreds of Node.js processes at once
  would measure memory and the scheduler, so the portable executable is left out.
- **Instructions** in user mode by callgrind, in an otherwise empty network. The empty program is a static one in C.
  \`test/native/instructions.test.ts\` has the limits.
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
