/** The page docs/evidence/benchmark.md: the results in one table, and how they were found. */

import type { ProgramName } from "./programs.ts";
import {
  AFTER_FOREIGN_WRITE,
  burstName,
  describeMachine,
  grouped,
  type Measurement,
  measurementOf,
  type Results,
  SIZES,
  VERBS,
} from "./results.ts";
import { CAPACITY } from "./store.ts";

/** A line of the table: what each program took; `undefined` where it was not measured. */
interface Row {
  readonly title: string;
  readonly took: (program: ProgramName) => number | undefined;
}

/** The page, in Markdown. */
export function formatPage(results: Results): string {
  return `# Benchmark

This page and [its data](../data/benchmark.json) are written by

\`\`\`sh
npm run bench
\`\`\`

which builds both executables and measures them against the Go plugin. It needs gcc, libc6-dev and binutils; and strace for
the floor, valgrind for instructions. The Go plugin is the newest in Debian, fetched by \`npm run fetch -- go-plugins\`, or
else the installed one in \`/usr/lib/cni\`. A run takes some minutes, on a machine that should be otherwise idle.

| option | effect |
|---|---|
| \`--dir /dev/shm\` | data directories in memory; by default in the directory for temporary files |
| \`--quick\` | only checks that the benchmark works, and writes to \`build/bench\` |

The file system matters: on ext4, creating a file can take many times longer in one directory than in another, depending on
its block group.

## Results

Measured ${describeMachine(results)}. Medians; of the wall time in milliseconds,
if nothing else is said.

${resultTable(results)}${instructionText(results)}
## Method

- **Programs.** The Go plugin, the native and the portable executable, and an empty program built as the portable one: the
  time that Node.js needs to start and exit.
- **Floor.** What a call cannot be faster than: a static program in C makes the same system calls as the native executable,
  with the same arguments, and nothing else. It is written anew for each number of reservations from what strace sees of
  the native executable's calls (\`scripts/bench/floor.ts\`).
- **Calls.** One process each, started as by a runtime, by a small C program (\`scripts/bench/runner.c\`): the
  configuration in a pipe on standard input, standard output read from another. Wall time is from before the start to
  after the end; memory is the kernel's peak resident set size. A wrong answer ends the benchmark.
- **Order.** In each round every program makes the same call before the next call follows: VERSION, ADD and DEL for one
  container, so that every round starts from the same state. The empty program runs with the ADDs. Warm-up rounds are not
  counted.
- **Reservations.** Each program has its own data directory with the same content: a /16 with the number of reservations
  in the table, as the Go plugin writes them, and the cursor on the last one. Where one address is free, it is in the
  middle, and the search starts right behind it.
- **Foreign write.** Another program has changed the directory, so the journal is not believed: the first ADD of a network
  that only the Go plugin has served costs the same. It is compared with the Go plugin's ordinary ADD.
- **Bursts.** All ADDs are started at once, then all DELs; the time is from the first start to the last end. The
  portable executable is left out: hundreds of Node.js processes at once measure memory and the scheduler.
`;
}

function resultTable(results: Results): string {
  const head = [
    `Go ${results.goVersion}`,
    "native",
    "÷ Go",
    "floor",
    "÷ floor",
    "portable",
    "empty",
  ];
  const rows = rowsOf(results).map(({ title, took }) => {
    const [go, native, floor, portable, empty] = (
      ["go", "native", "floor", "portable", "empty"] as const
    ).map(took);
    const cells = [go, native, ratio(native, go), floor, ratio(native, floor), portable, empty];
    return [title, ...cells.map(formatValue)];
  });
  const lines = [["", ...head], ["", ...head].map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

function rowsOf(results: Results): readonly Row[] {
  const measured = (
    title: string,
    call: string,
    size: number,
    value: (measurement: Measurement) => number,
  ): Row => ({
    title,
    took: (program) => {
      const isForeign = call === AFTER_FOREIGN_WRITE && program === "go";
      const found = measurementOf(results, program, isForeign ? "ADD" : call, size);
      return found && value(found);
    },
  });
  const time = (call: string, size: number): Row =>
    measured(`${call}${describeSize(size)}`, call, size, (found) => found.time.median);
  const memory = (size: number): Row =>
    measured(`memory of ADD${describeSize(size)}, MB`, "ADD", size, (found) => found.memory.median);
  const sizes: readonly number[] = SIZES;
  const rows = [
    time("VERSION", 0),
    ...["ADD", "DEL"].flatMap((verb) => sizes.map((size) => time(verb, size))),
    ...sizes.map((size) => time(AFTER_FOREIGN_WRITE, size)),
    ...[CAPACITY - 1, CAPACITY].map((size) => time("ADD", size)),
    ...["ADD", "DEL"].map((verb) => time(burstName(verb), 0)),
    ...[...sizes, CAPACITY - 1, CAPACITY].map(memory),
    {
      title: "file, MB",
      took: (program: ProgramName) => {
        const bytes = results.bytes[program];
        return bytes === undefined ? undefined : bytes / 1e6;
      },
    },
  ];
  return rows.filter(({ took }) => took("native") !== undefined);
}

function instructionText({ instructions }: Results): string {
  const counts = VERBS.flatMap((verb) => {
    const count = instructions[verb];
    return count === undefined ? [] : [`${verb} ${formatValue(count / 1e6)} million`];
  });
  if (counts.length === 0) return "";
  return `
Instructions of the native executable in user mode, by callgrind, with one address of a /16 to reserve:
${counts.join(", ")}.
`;
}

function describeSize(size: number): string {
  if (size === CAPACITY) return ` at ${grouped(size)}: full, refused`;
  if (size === CAPACITY - 1) return ` at ${grouped(size)}: one is free`;
  return size === 0 ? "" : ` at ${grouped(size)}`;
}

function ratio(value: number | undefined, base: number | undefined): number | undefined {
  return value === undefined || base === undefined ? undefined : value / base;
}

/** Three digits that count. */
function formatValue(value: number | undefined): string {
  if (value === undefined) return "";
  return value >= 1000 ? grouped(Math.round(value)) : String(Number(value.toPrecision(3)));
}
