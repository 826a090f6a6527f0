/** A shim in front of the plugin under test, which passes everything through unchanged, and records the calls. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** One call of the plugin, as the shim saw it. */
export interface RecordedCall {
  /** The name of the program that called. */
  readonly caller: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly stdout: string;
  readonly exitCode: number;
}

/**
 * Puts a shim in front of a plugin: a shell script, which starts ten times faster than Node.js.
 *
 * @param path where callers look for the plugin
 * @param plugin the plugin behind it
 * @param record the directory in which each call gets one of its own, named after the time of its end
 */
export function installShim(path: string, plugin: string, record: string): void {
  mkdirSync(join(record, "unfinished"), { recursive: true });
  const script = `#!/bin/sh
call='${record}'/unfinished/$$
mkdir "$call"
readlink "/proc/$PPID/exe" > "$call/caller"
env -0 > "$call/environment"
cat > "$call/stdin"
'${plugin}' < "$call/stdin" > "$call/stdout"
code=$?
echo "$code" > "$call/code"
ended='${record}'/$(date +%s%N)-$$
mv "$call" "$ended"
cat "$ended/stdout"
exit "$code"
`;
  writeFileSync(path, script, { mode: 0o755 });
}

/**
 * Reads the records of a shim so far.
 *
 * @param record the directory of {@link installShim}
 */
export function recordedCalls(record: string): RecordedCall[] {
  return readdirSync(record)
    .filter((name) => name !== "unfinished")
    .sort()
    .map((name) => {
      const read = (part: string): string => readFileSync(join(record, name, part), "utf8");
      const variables = read("environment").split("\0").slice(0, -1);
      return {
        caller: basename(read("caller").trim()),
        environment: Object.fromEntries(
          variables.map((variable) => variable.split(/=(.*)/s).slice(0, 2)),
        ),
        stdin: read("stdin"),
        stdout: read("stdout"),
        exitCode: Number(read("code")),
      };
    });
}
