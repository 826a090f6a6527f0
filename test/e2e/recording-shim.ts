/**
 * Stands in front of the plugin under test, passes everything through unchanged, and writes down
 * what was really called: one line of JSON for each call.
 */

import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

/** One call of the plugin, as the shim saw it. */
export interface RecordedCall {
  /** The name of the program that called. */
  readonly caller: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly stdout: string;
  readonly exitCode: number | null;
}

/**
 * Puts a shim in front of a plugin.
 *
 * @param path where callers look for the plugin
 * @param plugin the plugin behind it
 * @param record the file that the calls are written to
 */
export function installShim(path: string, plugin: string, record: string): void {
  const [shim, ...files] = [import.meta.filename, plugin, record].map((text) =>
    JSON.stringify(text),
  );
  const program = `import(${shim}).then((shim) => shim.passThrough(${files.join(", ")}));`;
  writeFileSync(path, `#!${process.execPath}\n${program}\n`, { mode: 0o755 });
  writeFileSync(record, "");
}

/**
 * Reads what a shim has written down so far.
 *
 * @param record the file of {@link installShim}
 */
export function recordedCalls(record: string): RecordedCall[] {
  return readFileSync(record, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): RecordedCall => JSON.parse(line));
}

/**
 * The shim's own life: calls the plugin with its own environment and input, writes the call down,
 * and ends as the plugin ended.
 *
 * @param plugin the plugin behind the shim
 * @param record the file to write to
 */
export function passThrough(plugin: string, record: string): void {
  const stdin = readFileSync(0, "utf8");
  const { status, stdout } = spawnSync(plugin, {
    input: stdin,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "inherit"],
  });
  const call = {
    caller: basename(readlinkSync(`/proc/${process.ppid}/exe`)),
    environment: process.env,
    stdin,
    stdout,
    exitCode: status,
  };
  appendFileSync(record, `${JSON.stringify(call)}\n`);
  writeFileSync(1, stdout);
  process.exitCode = status ?? 1;
}
