/** The page docs/evidence/benchmark.md: the results in tables, and how they were found. */

import type { Instructions } from "./instructions.ts";
import type { LivingPodsRow } from "./living-pods.ts";
import { grouped, type Row, type Values } from "./measure.ts";

/** When and with what something was measured. */
export interface Circumstances {
  /** The date, and what it ran on. */
  readonly machine: string;
  /** The Go plugin's version. */
  readonly goVersion: string;
}

/** What a run of the benchmark found, as docs/data/benchmark.json has it. */
export interface Results extends Circumstances {
  readonly rows: readonly Row[];
  /** Left out where it was not allowed to make network namespaces. */
  readonly livingPods?: LivingPods | undefined;
  /** The instructions of the native executable, and of a program that does nothing. */
  readonly instructions: readonly Instructions[];
  /** The size of each program's file, in MB. */
  readonly sizes: Values;
}

/** Calls beside living pods, which may be measured at another time. */
export interface LivingPods extends Circumstances {
  readonly rows: readonly LivingPodsRow[];
}

/** The page, in Markdown. */
export function formatPage(results: Results): string {
  return `# Benchmark

<!-- Written by \`npm run bench\` from data/benchmark.json. -->

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="../pictures/benchmark-dark.svg">
  <img src="../pictures/benchmark-light.svg" alt="Time of an ADD by the number of reservations, as in the table">
</picture>

## Results

Measured ${results.machine}. Medians of the wall time in milliseconds, unless the row says otherwise.

${resultTable(results)}
${livingPodsTable(results)}| native | instructions |
| --- | --- |
${results.instructions.map((result) => `| ${result.title} | ${grouped(result.instructions)} |\n`).join("")}
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
- **Living pods.** Each has a network namespace, linked with the node's by a veth whose other end has the pod's address, as the
  main plugins make them, so an ADD asks the kernel for the addresses in each. The cursor is behind the last of them; with
  "each reserved" each also has its file in the network's directory, as on a node. All of it is made in a network namespace of
  its own, as root. CPU time is that of user and kernel mode. \`npm run bench -- living-pods\` measures only this.
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

/** The table of calls beside living pods, with an empty line behind it; nothing where they were not measured. */
function livingPodsTable({ machine, livingPods }: Results): string {
  if (livingPods === undefined) return "";
  const go = `Go ${livingPods.goVersion}`;
  const head = ["", `${go}, CPU`, "native, CPU", `${go}, wall`, "native, wall"];
  const lines = [
    head,
    head.map(() => "---"),
    ...livingPods.rows.map(({ title, cpuMilliseconds: cpu, milliseconds: wall }) => [
      title,
      ...[cpu.go, cpu.native, wall.go, wall.native].map(formatValue),
    ]),
  ];
  const when = livingPods.machine === machine ? "" : `, measured ${livingPods.machine}`;
  return `Beside living pods, CPU time and wall time in milliseconds${when}:

${lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("")}
`;
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
