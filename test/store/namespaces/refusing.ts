/** A machine of which not everything can be looked at. */

import { type System, SystemError } from "../../../src/system/system.ts";

/** A system on which these calls fail for the paths that match, as `open(2)` does. */
export function refusing<S extends System>(
  system: S,
  operations: readonly ("list" | "readFile" | "linesWith" | "readLink" | "status")[],
  paths: RegExp,
  code: string,
): S {
  const refused = operations.map((operation) => {
    const call = (path: string, second: never): unknown => {
      if (paths.test(path)) throw new SystemError("open", path, code);
      return system[operation](path, second);
    };
    return [operation, call] as const;
  });
  return { ...system, ...Object.fromEntries(refused) };
}
