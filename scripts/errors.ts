/** Makes an error of a script one line with the cause. Loaded before each script. */

import { relative } from "node:path";

const [, script = ""] = process.argv;

process.on("uncaughtException", (error: unknown) => {
  const reasons: unknown[] = [];
  for (let one = error; one !== undefined; one = one instanceof Error ? one.cause : undefined) {
    reasons.push(one instanceof Error ? one.message : one);
  }
  const line = reasons
    .join(": ")
    .trim()
    .replaceAll(/\s*\n\s*/g, " ");
  console.error(`${relative(".", script)}: ${line}`);
  process.exit(1);
});
