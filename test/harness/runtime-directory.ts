/** Where the calls of a test keep what failed: never in the machine's own `/run/host-local`. */

/**
 * The variable that names it: the directory of this run of tests; nowhere if a file is started by itself. A scenario has a `/run`
 * of its own.
 */
export const ownRuntimeDirectory: Readonly<Record<string, string>> =
  process.env.HOST_LOCAL_E2E_SCENARIO === undefined
    ? { HOST_LOCAL_RUNTIME_DIR: process.env.HOST_LOCAL_RUNTIME_DIR ?? "/nonexistent/host-local" }
    : {};

/** A variable of a process in memory, which has a `/run` of its own, from the environment of a real one. */
export function variableInMemory(
  environment: Readonly<Record<string, string>> | undefined,
  name: string,
): string | undefined {
  const value = environment?.[name];
  return value === ownRuntimeDirectory[name] ? undefined : value;
}
