/** The paths of a network's files. */

import type { NetworkName } from "../../cni/call.ts";

/** The paths of one network's store. */
export interface Location {
  readonly network: NetworkName;
  readonly dataDir: string;
  /** `<dataDir>/<network>`: reservations and cursors, shared with the reference. */
  readonly directory: string;
  /** `<dataDir>/.host-local/<network>`: files of this plugin that the reference does not know and must not find. */
  readonly stateDirectory: string;
  /** Whether `stateDirectory` may be used; if not, there is no journal, and temporary files are made in `directory`. */
  readonly usesStateDirectory: boolean;
  /** Temporary files, see temporary.ts. */
  readonly temporaryDirectory: string;
  /** The reference's lock file. */
  readonly lockFile: string;
}

/** The paths of `network` under `dataDir`, which may be relative or unclean. */
export function locate(dataDir: string, network: NetworkName): Location {
  const root = cleanPath(dataDir);
  const directory = join(root, network);
  const stateDirectory = join(join(root, ".host-local"), network);
  return {
    network,
    dataDir: root,
    directory,
    stateDirectory,
    usesStateDirectory: true,
    temporaryDirectory: join(stateDirectory, "new"),
    lockFile: join(directory, "lock"),
  };
}

/** `directory/name`; the directory must be clean. */
export function join(directory: string, name: string): string {
  if (directory === ".") return name;
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** The directory in which a clean path lies; for `/` and `.` the path itself. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  if (slash < 0) return ".";
  return slash === 0 ? "/" : path.slice(0, slash);
}

/** The shortest equivalent path by lexical processing alone, as Go's `filepath.Clean`: no `//`, no `.`, no inner `..`. */
export function cleanPath(path: string): string {
  const rooted = path.startsWith("/");
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!rooted) kept.push(part);
  }
  return (rooted ? "/" : "") + kept.join("/") || ".";
}
