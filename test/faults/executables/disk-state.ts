/** The state of a directory on disk, to detect changes. */

import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** The size in bytes above which a file is compared by its size and dates alone. */
const LONGEST_CONTENT = 4096;

/**
 * Everything at a path and below: kind, mode, owner, inode, size, date of the last change, content.
 *
 * @returns one line for each path; none if nothing is there
 */
export function stateOf(path: string): readonly string[] {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return [];
  const { mode, uid, ino, size, mtimeNs } = found;
  const facts = `${path} ${mode.toString(8)} ${uid} ${ino}`;
  if (found.isDirectory()) {
    const below = readdirSync(path).sort();
    return [facts, ...below.flatMap((name) => stateOf(join(path, name)))];
  }
  if (found.isSymbolicLink()) return [`${facts} ${readlinkSync(path)}`];
  const content = found.isFile() && size <= LONGEST_CONTENT ? contentAt(path) : "";
  return [`${facts} ${size} ${mtimeNs} ${JSON.stringify(content)}`];
}

/** The content of a file; a file that may not be read is compared by its size and dates. */
function contentAt(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EACCES") return "";
    throw error;
  }
}

/** The differences between two states, in words; empty if they are equal. */
export function changesBetween(before: readonly string[], after: readonly string[]): string {
  const gone = before.filter((line) => !after.includes(line)).map((line) => `- ${line}`);
  const added = after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`);
  return [...gone, ...added].slice(0, 10).join("; ");
}
