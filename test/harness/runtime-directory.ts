/** The directory in which the calls of a test keep failures: never the machine's own `/run/host-local`. */

/**
 * The variable that names the directory of this run of tests, or a nonexistent one if a file is started by itself. A scenario
 * has a `/run` of its own.
 */
export const ownRuntimeDirectory: Readonly<Record<string, string>> =
  process.env.HOST_LOCAL_E2E_SCENARIO === undefined
    ? { HOST_LOCAL_RUNTIME_DIR: process.env.HOST_LOCAL_RUNTIME_DIR ?? "/nonexistent/host-local" }
    : {};

/** The variable for a process in memory, which has a `/run` of its own, made from the environment of a real process. */
export function variableInMemory(
  environment: Readonly<Record<string, string>> | undefined,
  name: string,
): string | undefined {
  const value = environment?.[name];
  return value === ownRuntimeDirectory[name] ? undefined : value;
}
