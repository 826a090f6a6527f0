/** Scratch directories for a plugin to work on, and what it leaves in them. */

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Test } from "tap";

/** One path below a data directory; a directory's path ends with a slash. */
export interface TreeEntry {
  readonly path: string;
  /** Permission bits in octal, such as `600`. */
  readonly mode: string;
  /** A file's bytes as Latin-1, or where a symbolic link points. */
  readonly content?: string;
}

/** A file or (with a trailing slash) a directory to be put into a data directory beforehand. */
export interface PriorFile {
  readonly path: string;
  readonly content?: string;
}

/** The directory of this project's own files below a data directory, unknown to the Go plugin. */
export const ownDirectory = ".host-local";

/**
 * Makes an empty data directory, which is removed after the test.
 *
 * @param t the test that owns it
 */
export function scratchDirectory(t: Pick<Test, "teardown">): string {
  const directory = mkdtempSync(join(tmpdir(), "host-local-"));
  chmodSync(directory, 0o755);
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * Puts files and directories into a data directory, files with mode 0600 as a plugin writes them.
 *
 * @param directory the data directory
 * @param files what to put there, contents as Latin-1
 */
export function populate(directory: string, files: readonly PriorFile[]): void {
  for (const { path, content = "" } of files) {
    const target = join(directory, path);
    if (path.endsWith("/")) {
      mkdirSync(target, { recursive: true });
      continue;
    }
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content, { encoding: "latin1", mode: 0o600 });
  }
}

/**
 * Lists everything below a data directory, sorted by path.
 *
 * @param directory the data directory
 * @param extent with or without {@link ownDirectory}
 */
export function treeOf(directory: string, extent: "shared" | "whole" = "shared"): TreeEntry[] {
  return readdirSync(directory)
    .filter((name) => extent === "whole" || name !== ownDirectory)
    .flatMap((name) => entriesAt(directory, name))
    .sort(byPath);
}

/**
 * Orders tree entries by path, byte by byte.
 *
 * @param a one entry
 * @param b another
 */
export function byPath(a: TreeEntry, b: TreeEntry): number {
  return Buffer.compare(Buffer.from(a.path), Buffer.from(b.path));
}

/**
 * Names the addresses that are reserved in a network, in text order.
 *
 * @param directory the data directory
 * @param network the network's name
 */
export function reservedAddresses(directory: string, network: string): string[] {
  return treeOf(directory)
    .filter(({ path }) => path.startsWith(`${network}/`))
    .map(({ path }) => path.slice(network.length + 1))
    .filter((name) => /^[0-9a-f]*[.:]/.test(name));
}

function entriesAt(directory: string, path: string): TreeEntry[] {
  const target = join(directory, path);
  const status = lstatSync(target);
  const mode = (status.mode & 0o7777).toString(8);
  if (status.isDirectory()) {
    const below = readdirSync(target).flatMap((name) => entriesAt(directory, join(path, name)));
    return [{ path: `${path}/`, mode }, ...below];
  }
  if (status.isSymbolicLink()) {
    return [{ path, mode, content: readlinkSync(target) }];
  }
  return [{ path, mode, content: readFileSync(target, "latin1") }];
}
