/** This repository, wherever a test was started. */

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Resolves a path of this repository.
 *
 * @param path the path, relative to the top of the repository
 */
export function inRepository(path: string): string {
  return resolve(repository, path);
}
