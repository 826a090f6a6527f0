/** One test file run to its end: a process that prints TAP. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "./bundle.ts";

/** How many assertions passed, failed or were skipped. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** How a test file ended. */
export interface FileResult extends Counts {
  readonly seconds: number;
  /** The reason of each skipped test. */
  readonly skipReasons: readonly string[];
  /** All that is not a test that passed; empty where nothing failed. */
  readonly report: string;
}

/** A test file that takes longer hangs: tap says in which test, in seconds. */
const LONGEST = 900;

/** The time after which it is killed if tap does not end it, in milliseconds. */
const KILLED_AFTER = (LONGEST + 60) * 1000;

/** Half of a short test's time is the compilation of tap. */
const compileCache = join(root, "build", "compile-cache");

/**
 * Runs a test file.
 *
 * @param path the file, relative to the top of the repository
 * @param environment variables besides those of this process
 */
export function runTestFile(
  path: string,
  environment: Readonly<Record<string, string>>,
): Promise<FileResult> {
  return new Promise((settle, fail) => {
    const began = performance.now();
    const child = spawn(process.execPath, [path], {
      cwd: root,
      env: {
        ...process.env,
        TAP_TIMEOUT: `${LONGEST}`,
        NODE_COMPILE_CACHE: compileCache,
        HOST_LOCAL_IS_BUILT: "for this run",
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: KILLED_AFTER,
      killSignal: "SIGKILL",
    });
    const output: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => output.push(chunk));
    }
    child.on("error", fail);
    child.on("close", (exitCode, signal) => {
      const seconds = (performance.now() - began) / 1000;
      settle({ seconds, ...resultOf(Buffer.concat(output).toString("utf8"), exitCode, signal) });
    });
  });
}

function resultOf(
  tap: string,
  exitCode: number | null,
  signal: string | null,
): Omit<FileResult, "seconds"> {
  // Such as `# { total: 7, pass: 4, fail: 1, skip: 2 }`; a file that did not come to its end has no such line.
  const summary = /^# \{ total: .*\}$/m.exec(tap)?.[0];
  const count = (word: string): number =>
    Number(new RegExp(`\\b${word}: (\\d+)`).exec(summary ?? "")?.[1] ?? 0);
  const isEnded = summary !== undefined && (exitCode === 0 || count("fail") > 0);
  const failed = count("fail") + (isEnded ? 0 : 1);
  return {
    passed: count("pass"),
    failed,
    skipped: count("skip") + count("todo"),
    skipReasons: [...tap.matchAll(/^ *ok .* # SKIP (.+)$/gm)].map(([, reason = ""]) => reason),
    report: [
      ...(failed > 0
        ? tap.split("\n").filter((line) => !/^ *(?:ok |#|\d+\.\.|TAP version|$)/.test(line))
        : []),
      ...(isEnded
        ? []
        : [`The file did not come to its end: ${signal ?? `exit code ${exitCode}`}`]),
    ].join("\n"),
  };
}
