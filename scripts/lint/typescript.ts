/**
 * Lints in TypeScript what Biome has no rule for: which way imports go, that test/ mirrors src/, how comments read, how long
 * the titles of tests are, and that a name is that of one function.
 *
 * Usage: `node scripts/lint/typescript.ts`, in the directory of the project; part of `npm run lint`.
 */

import { commentProblems } from "./comments.ts";
import { importProblems, mirrorProblems } from "./imports.ts";
import { nameProblems } from "./names.ts";
import { sourceFilesIn } from "./source.ts";
import { titleProblems } from "./titles.ts";

const files = sourceFilesIn(process.cwd());
const problems = [
  importProblems,
  mirrorProblems,
  commentProblems,
  titleProblems,
  nameProblems,
].flatMap((find) => find(files));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
