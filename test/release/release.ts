/** The release under test, which `npm run test:release` makes. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import {
  type Architecture,
  architectureNamed,
  ownArchitecture,
} from "../../scripts/release/architecture.ts";
import { scratchDirectory } from "../blackbox/data-directory.ts";

const { HOST_LOCAL_RELEASE = "dist/release" } = process.env;

/** The directory of the release. */
export const release = HOST_LOCAL_RELEASE;

/** An archive of the release. */
export interface Archive {
  /** The file's name. */
  readonly name: string;
  readonly architecture: Architecture;
  readonly isPortable: boolean;
}

/** The archives of the release. */
export const archives: readonly Archive[] = readdirSync(release)
  .filter((name) => name.endsWith(".tgz"))
  .map((name) => {
    const [, portable, architecture = ""] =
      /^host-local(-portable)?-linux-([^-]+)-v/.exec(name) ?? [];
    return {
      name,
      architecture: architectureNamed(architecture),
      isPortable: portable !== undefined,
    };
  });

/** The archive of the native executable for this machine. */
export const ownArchive: Archive = nativeFor(ownArchitecture());

/** The archive of the native executable for an architecture. */
export function nativeFor(architecture: Architecture): Archive {
  const found = archives.find((one) => one.architecture === architecture && !one.isPortable);
  if (found === undefined) throw new Error(`${release} has no archive for ${architecture.name}`);
  return found;
}

/** Unpacks an archive into a directory that is gone after the test. */
export function unpack(t: Pick<Test, "teardown">, { name }: Archive): string {
  const directory = join(scratchDirectory(t), "unpacked");
  mkdirSync(directory);
  const { status, stderr } = spawnSync("tar", ["-xzf", join(release, name), "-C", directory]);
  if (status !== 0) throw new Error(`${name}: ${stderr}`);
  return directory;
}
