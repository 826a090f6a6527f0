/**
 * Writes docs/differences.md from the list of differences that the tests hold to be exact.
 *
 * Usage: `npm run node -- scripts/pages/differences.ts`, after a change of test/blackbox/differences.ts.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ChangedExpectation,
  type Concern,
  type Difference,
  differences,
} from "../../test/blackbox/differences.ts";
import { readVectors } from "../../test/blackbox/vectors.ts";
import { root } from "../build/bundle.ts";

/** The question that a reader asks for each group, in the order of the page. */
const questions: Readonly<Record<Concern, string>> = {
  failures: "Has something gone wrong: a crash, a full disk, a reboot, a call that fails?",
  runtimes: "Does your runtime send GC or STATUS, or request addresses?",
  configurations: "Is something in your configuration unusual, or new?",
  files: "Do you, or does a script, touch the files, or link directories elsewhere?",
  streams: "Does something read messages, or call the plugin by hand?",
  static: "Do you use the `static` plugin?",
};

/** The page, as it must stand in docs/differences.md. */
export function differencesPage(): string {
  const groups = Object.entries(questions).map(([concern, question]) => {
    const sections = differences.filter(({ concerns }) => concerns === concern).map(section);
    return `## ${question}\n\n${sections.join("\n")}`;
  });
  const calls = readVectors().reduce((sum, { steps }) => sum + steps.length, 0);
  const changed = differences.flatMap((difference) => difference.changed.filter(isOfResult));
  return `# Differences from the Go plugin

<!-- Written by scripts/pages/differences.ts from test/blackbox/differences.ts. -->

| verb | CNI specification |
|---|---|
| ADD, DEL, VERSION | 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0 |
| CHECK | 0.4.0, 1.0.0, 1.1.0 |
| GC, STATUS | 1.1.0 |

**Of ${calls} recorded calls of \`host-local\` 1.9.1 all but ${changed.length} have the same exit code here, and the same result or error**. These
${changed.length} belong to the ${differences.filter((difference) => difference.changed.some(isOfResult)).length} entries marked *result*. On an ordinary node you see only that fewer addresses leak, and that errors say
more. GC has [rules of its own](configuration.md#gc). What is not listed is the same, also of \`static\`: the tests
fail if this list and the executables disagree.

Each heading asks whether you are affected. Open a line to read what both plugins do, and why.

${groups.join("\n")}`;
}

/** Whether a recorded call has another result or exit code here. */
function isOfResult({ exitCode, stdout }: ChangedExpectation): boolean {
  return exitCode !== undefined || stdout !== undefined;
}

function section({ title, reference, here, reason, changed }: Difference): string {
  const mark = changed.some(isOfResult) ? " <em>(result)</em>" : "";
  return `<details><summary>${title}${mark}</summary>

- Go plugin: ${reference}
- Here: ${here}
- Why: ${reason}

</details>
`;
}

if (import.meta.main) {
  writeFileSync(join(root, "docs", "differences.md"), differencesPage());
}
