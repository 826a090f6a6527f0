/**
 * Writes docs/differences.md from the list of differences that the tests hold to be exact.
 *
 * Usage: `npm run node -- scripts/pages/differences.ts`, after a change of test/blackbox/differences.ts.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Concern, type Difference, differences } from "../../test/blackbox/differences.ts";
import { root } from "../build/bundle.ts";

/** The question that a reader asks for each group, in the order of the page. */
const questions: Readonly<Record<Concern, string>> = {
  failures: "Where something has gone wrong: a crash, a full disk, a reboot, a call that fails",
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
  return `# Differences from the Go plugin

Could one affect you? The headings ask; where the answer is no, skip the section. With the configuration and the runtime
of an ordinary node, you see only that fewer addresses leak, and that errors say more.

The Go plugins \`host-local\` and \`static\` 1.9.1 are the reference: whatever is not listed here is the same. This page
is written by \`scripts/pages/differences.ts\` from \`test/blackbox/differences.ts\`, where each entry also names the
recorded calls that it changes, or the tests that show it; the tests fail where the list and the executables disagree.

${groups.join("\n")}`;
}

function section({ title, reference, here, reason }: Difference): string {
  return `### ${title}\n\n- Go plugin: ${reference}\n- Here: ${here}\n- Why: ${reason}\n`;
}

if (import.meta.main) {
  writeFileSync(join(root, "docs", "differences.md"), differencesPage());
}
