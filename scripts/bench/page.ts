/** The page that shows a run of the benchmark, docs/benchmark.md. */

import {
  describeMachine,
  fileTable,
  goalTable,
  memoryTable,
  processorTable,
  timeTable,
} from "./report.ts";
import type { Results } from "./results.ts";

/** The whole page, in Markdown. */
export function formatPage(results: Results): string {
  return `# Benchmark

This page, [data/benchmark.json](data/benchmark.json) (every single value) and [data/benchmark.svg](data/benchmark.svg) are written by

\`\`\`sh
npm run bench
\`\`\`

It builds both executables and compares them with the Go plugin, call by call in turn. It needs gcc and libc6-dev; strace
for the floor, valgrind for instructions. The Go plugin is the newest in Debian, fetched by \`npm run fetch -- go-plugins\`, or
else the installed one in \`/usr/lib/cni\`. A run takes some minutes, on a machine that should be otherwise idle.

| option | effect |
|---|---|
| \`--dir /dev/shm\` | data directories in memory; by default in the directory for temporary files |
| \`--before FILE\` | an earlier portable executable, to compare with |
| \`--quick\` | only checks that the benchmark works, and writes to \`build/bench\` |

The file system matters: on ext4, creating a file can take many times longer in one directory than in another, depending on
its block group.

![Wall time of ADD and DEL by number of reservations](data/benchmark.svg)

## Results

Measured ${describeMachine(results)}.

### Goals

Ratios of medians of wall time, if nothing else is said.

${goalTable(results)}

### Wall time

In milliseconds: median (minimum–maximum).

${timeTable(results)}

### Processor time

In milliseconds, user and system, of all calls of a burst together: median (minimum–maximum).

${processorTable(results)}

### Memory

Peak of resident memory in MB: median (minimum–maximum).

${memoryTable(results)}

### Size

In MB.

${fileTable(results)}

## Method

- **Programs.** The Go plugin, the native and the portable executable. For the portable one there is also an empty
  program, built in the same way: the time that Node.js needs to start and exit.
- **Floor.** What a call cannot be faster than: a static program in C makes the same system calls as the native executable,
  with the same arguments, and nothing else. It is written anew for each number of reservations from what strace sees of
  the native executable's calls (\`scripts/bench/floor.ts\`).
- **Calls.** One process each, started as by a runtime, by a small C program (\`scripts/bench/runner.c\`): the
  configuration in a pipe on standard input, standard output read from another. Wall time is from before the start to
  after the end; memory is the kernel's peak resident set size. A wrong answer ends the benchmark.
- **Order.** In each round every program makes the same call before the next call follows: VERSION, STATUS, ADD, CHECK,
  DEL, and DEL once more, for one container, so that every round starts from the same state. The empty program runs with
  the ADDs. Warm-up rounds are not counted.
- **Reservations.** Each program has its own data directory with the same content: a /16 with the number of reservations
  in the table, as the Go plugin writes them, and the cursor on the last one.
- **Nearly full and full ranges.** A nearly full range has one free address, in the middle; the search starts right
  behind it. In a full range the call fails.
- **Other writers.** *ADD after a foreign write* is the first one after another program has changed the directory; the
  *first ADD ever* finds nothing but the Go plugin's files. Both are compared with the Go plugin's ordinary ADD.
- **Bursts.** All ADDs are started at once, then all DELs; the time is from the first start to the last end. The
  portable executable is left out: hundreds of Node.js processes at once measure memory and the scheduler.
- **Instructions** of the native executable in user mode, by callgrind, with one address of a /16 to reserve.
`;
}
