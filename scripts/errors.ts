/** Makes an error of a script one line with the cause. Loaded before each script. */

import { relative } from "node:path";

const [, script = ""] = process.argv;

process.on("uncaughtException", (error: unknown) => {
  const reasons: unknown[] = [];
  for (
    let cause = error;
    cause !== undefined;
    cause = cause instanceof Error ? cause.cause : undefined
  ) {
    reasons.push(cause instanceof Error ? cause.message : cause);
  }
  const line = reasons
    .join(": ")
    .trim()
    .replaceAll(/\s*\n\s*/g, " ");
  console.error(`${relative(".", script)}: ${line}`);
  process.exit(1);
});
