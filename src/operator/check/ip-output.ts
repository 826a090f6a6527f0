import { listOf } from "../../cli/command/json-values.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isSystemError } from "../../system/system.ts";
import type { Finding } from "./finding.ts";

/** The largest output, in bytes. */
const LARGEST_OUTPUT = 64 * 1024 * 1024;

/** What `ip -json` of iproute2 lists; `undefined` where that cannot be read. */
export function ipOutput(
  system: OperatorSystem,
  ...words: readonly string[]
): readonly unknown[] | undefined {
  try {
    const { exitCode, stdout } = system.run(["ip", "-json", ...words], LARGEST_OUTPUT);
    if (exitCode !== 0) return undefined;
    // Without any route ip prints nothing, or an empty list.
    return listOf(stdout.trim() === "" ? [] : JSON.parse(stdout));
  } catch (error) {
    if (error instanceof SyntaxError || isSystemError(error)) return undefined;
    throw error;
  }
}

/** What was not checked since `ip` failed. */
export function ipFailed(message: string): readonly Finding[] {
  return [{ code: "ip-failed", network: "", path: "", message }];
}
