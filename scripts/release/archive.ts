/** Archives of equal bytes for equal files. */

import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { command } from "../build/command.ts";
import type { ReleaseFile } from "./release.ts";

/** Puts files into an empty directory, with their modes. */
export function stage(files: readonly ReleaseFile[], directory: string): void {
  for (const file of files) {
    const path = join(directory, file.name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    if ("linkTo" in file) {
      symlinkSync(file.linkTo, path);
      continue;
    }
    if ("from" in file) copyFileSync(file.from, path);
    else writeFileSync(path, file.text);
    chmodSync(path, file.mode);
  }
}

/**
 * Writes what is in a directory as a tar archive: sorted by name, owned by root, all of one time.
 *
 * @param time in seconds since 1970
 * @param names what to take, relative to the directory
 */
export function writeTar(
  directory: string,
  tar: string,
  time: number,
  names: readonly string[] = ["."],
): void {
  command([
    ...["tar", "--create", `--file=${tar}`, "--format=ustar", "--sort=name", `--mtime=@${time}`],
    ...["--owner=root:0", "--group=root:0", "--mode=go-w", `--directory=${directory}`, ...names],
  ]);
}

/** Writes an archive as `writeTar` does, compressed. */
export function writeArchive(
  directory: string,
  archive: string,
  time: number,
  names?: readonly string[],
): void {
  const tar = `${archive}.tar`;
  writeTar(directory, tar, time, names);
  writeFileSync(archive, compressed(readFileSync(tar)));
  rmSync(tar);
}

/** Compresses with Node's own zlib, so that the bytes do not depend on the version of gzip here. */
export function compressed(content: string | Uint8Array): Uint8Array {
  return gzipSync(content, { level: constants.Z_BEST_COMPRESSION });
}

/**
 * Gives all below a directory the same time, and each directory the mode 0755, for programs that take both from the files.
 *
 * @param time in seconds since 1970
 */
export function settle(directory: string, time: number): void {
  command(["find", directory, "-type", "d", "-exec", "chmod", "755", "{}", "+"]);
  command(["find", directory, "-exec", "touch", "--no-dereference", `--date=@${time}`, "{}", "+"]);
}
