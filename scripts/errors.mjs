/**
 * Makes an error of a script one line with the cause. Loaded before each script, also by an older Node.js, which could
 * not even read it.
 */

import { relative } from "node:path";

const needed = 26;
const [, script = ""] = process.argv;

process.on("uncaughtException", (error) => {
  const reasons = [];
  for (let one = error; one !== undefined; one = one?.cause) reasons.push(one?.message ?? one);
  const line = reasons
    .join(": ")
    .trim()
    .replaceAll(/\s*\n\s*/g, " ");
  console.error(`${relative(".", script)}: ${line}`);
  process.exit(1);
});

if (Number.parseInt(process.versions.node, 10) < needed) {
  throw new Error(
    `expected Node.js ${needed}, found ${process.versions.node}: npm ci installs it, and npm run uses it`,
  );
}
