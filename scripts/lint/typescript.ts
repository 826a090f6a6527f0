/**
 * Lints in TypeScript what Biome has no rule for: which way imports go, that test/ mirrors src/, and how comments read.
 *
 * Usage: `node scripts/lint/typescript.ts`, in the directory of the project; part of `npm run lint`.
 */

import { commentProblems } from "./comments.ts";
import { importProblems, mirrorProblems } from "./imports.ts";
import { sourceFilesIn } from "./source.ts";

const files = sourceFilesIn(process.cwd());
const problems = [importProblems, mirrorProblems, commentProblems].flatMap((find) => find(files));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
