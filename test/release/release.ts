/** The release under test, which `npm run test:release` makes. */

import { spawnSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Test } from "tap";
import {
  type Architecture,
  architectureNamed,
  ownArchitecture,
  runsHere,
} from "../../scripts/build/architecture.ts";
import { type Descriptor, imageName } from "../../scripts/release/image.ts";
import type { PackageInput } from "../../scripts/release/package.ts";
import type { ReleaseFile } from "../../scripts/release/release.ts";
import { scratchDirectory } from "../harness/data-directory.ts";

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
  const found = archives.find(
    (archive) => archive.architecture === architecture && !archive.isPortable,
  );
  if (found === undefined) throw new Error(`${release} has no archive for ${architecture.name}`);
  return found;
}

/** Unpacks an archive into a directory that is gone after the test. */
export function unpack(t: Pick<Test, "teardown">, { name }: Archive): string {
  const directory = scratchDirectory(t);
  const { status, stderr } = spawnSync("tar", ["-xzf", join(release, name), "-C", directory]);
  if (status !== 0) throw new Error(`${name}: ${stderr}`);
  return join(directory, name.replace(/\.tgz$/, ""));
}

/** The image's manifests, and functions that find and read the target of a descriptor. */
export function unpackedImage(t: Pick<Test, "teardown">) {
  const directory = scratchDirectory(t);
  spawnSync("tar", ["-xf", fileOf(imageName({ version })), "-C", directory]);
  const pathOf = ({ digest }: Pick<Descriptor, "digest">) =>
    join(directory, digest.replace("sha256:", "blobs/sha256/"));
  const read = (descriptor: Descriptor) => JSON.parse(readFileSync(pathOf(descriptor), "utf8"));
  const [index] = JSON.parse(readFileSync(join(directory, "index.json"), "utf8")).manifests;
  const manifests: readonly Descriptor[] = read(index).manifests;
  return { directory, manifests, pathOf, read };
}

/** Why a test that uses programs is skipped if one of them is not installed; `false` if all are. */
export function missing(...programs: readonly string[]): string | false {
  const absent = programs.filter(
    (program) => spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0,
  );
  return absent.length > 0 && `not installed: ${absent.join(", ")}`;
}

/** A file of the release. */
export function fileOf(name: string): string {
  return resolve(release, name);
}

/** The version of the release. */
export const version: string = JSON.parse(readFileSync("package.json", "utf8")).version;

/** The file of the provenance. */
export const PROVENANCE = `host-local-v${version}.intoto.jsonl`;

const foreignArchive = archives.find(
  ({ architecture, isPortable }) => !isPortable && !runsHere(architecture),
);

/** Why a test with an architecture that this machine cannot run is skipped; `false` if the release has one. */
export const noForeign: string | false =
  foreignArchive === undefined && "The release has no architecture that this machine cannot run.";

/** An architecture that this machine cannot run. */
export function foreign(): Architecture {
  if (foreignArchive === undefined) throw new Error(`${noForeign}`);
  return foreignArchive.architecture;
}

/** The input for a package of another version: the files of the archive for this machine. */
export function packageOfVersion(t: Pick<Test, "teardown">, otherVersion: string): PackageInput {
  const unpacked = unpack(t, ownArchive);
  const files = readdirSync(unpacked, { recursive: true, encoding: "utf8" })
    .map((name) => ({ name, from: join(unpacked, name) }))
    .filter(({ from }) => lstatSync(from).isFile())
    .map(
      ({ name, from }): ReleaseFile => ({
        name,
        mode: name === "host-local" ? 0o755 : 0o644,
        ...(name.endsWith(".8") ? { text: readFileSync(from, "utf8") } : { from }),
      }),
    );
  return {
    built: {
      flavour: "native",
      architecture: ownArchive.architecture,
      executable: join(unpacked, "host-local"),
      components: [],
    },
    files,
    source: { version: otherVersion, commit: "0".repeat(40), time: 1_700_000_000, modified: false },
    maintainer: "Test <test@example.org>",
    directory: scratchDirectory(t),
  };
}

/** The in-toto statement of a release, out of its DSSE envelope. */
export function statementIn(directory: string) {
  const envelope = JSON.parse(readFileSync(join(directory, PROVENANCE), "utf8"));
  const payload = Buffer.from(envelope.payload, "base64");
  return { envelope, payload, statement: JSON.parse(payload.toString()) };
}
