/**
 * Writes docs/differences.md from the list of differences that the tests hold to be exact.
 *
 * Usage: `npx node scripts/pages/differences.ts`, after a change of test/blackbox/differences.ts.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Difference, differences } from "../../test/blackbox/differences.ts";
import { root } from "../build/bundle.ts";

/** The page, as it must stand in docs/differences.md. */
export function differencesPage(): string {
  return `# Differences from the Go plugin

The Go plugins \`host-local\` and \`static\` 1.9.1 are the reference: whatever is not listed here is the same. This page
is written by \`scripts/pages/differences.ts\` from \`test/blackbox/differences.ts\`, where each entry also names the
recorded calls that it changes, or the tests that show it; the tests fail where the list and the executables disagree.

${differences.map(section).join("\n")}`;
}

function section({ title, reference, here, reason }: Difference): string {
  return `## ${title}\n\n- Go plugin: ${reference}\n- Here: ${here}\n- Why: ${reason}\n`;
}

if (import.meta.main) {
  writeFileSync(join(root, "docs", "differences.md"), differencesPage());
}
