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

/** A line of a file of checksums. */
export interface ChecksumLine {
  readonly value: string;
  readonly name: string;
}

/**
 * Reads a file of checksums.
 *
 * @throws where a line has another form
 */
export function readChecksums(path: string): readonly ChecksumLine[] {
  const lines = readFileSync(path, "utf8").replace(/\n$/, "").split("\n");
  return lines.map((line) => {
    const [, value, name] = /^([0-9a-f]+) {2}([^/]+)$/.exec(line) ?? [];
    if (value === undefined || name === undefined) {
      throw new Error(`${basename(path)} is no list of checksums: ${JSON.stringify(line)}`);
    }
    return { value, name };
  });
}
