/** Checksums, in the files that `sha256sum --check` reads. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";

/** The sum of a file, in hexadecimal. */
export function checksum(algorithm: "sha256" | "sha512", path: string): string {
  return createHash(algorithm).update(readFileSync(path)).digest("hex");
}

/** One line for each file. */
export function checksumLines(algorithm: "sha256" | "sha512", paths: readonly string[]): string {
  return paths.map((path) => `${checksum(algorithm, path)}  ${basename(path)}\n`).join("");
}
