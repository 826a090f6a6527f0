/**
 * Makes a release: archives, packages and an image of the executables with checksums, software bills of materials and a
 * provenance statement. Nothing is uploaded. See docs/releasing.md.
 *
 * Usage: npm run release [-- OPTION...]; the options are in docs/releasing.md.
 */

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  type Architecture,
  architectureNamed,
  architectures,
  ownArchitecture,
} from "../build/architecture.ts";
import { bundledFiles, root } from "../build/bundle.ts";
import { quickJsFor } from "../build/libraries.ts";
import { buildNative } from "../build/native.ts";
import { buildPortable } from "../build/portable.ts";
import { requireUnchanged, shippedNode } from "../build/shipped-node.ts";
import { stage, writeArchive } from "./archive.ts";
import { checksumLines } from "./checksum.ts";
import { bundledPackages, linkedLibraries, nodeComponent } from "./component.ts";
import { filesOf } from "./contents.ts";
import { writeDeb } from "./deb.ts";
import { type Imaged, writeImage } from "./image.ts";
import { writeManifests } from "./manifests.ts";
import { envelopeOf, provenanceOf } from "./provenance.ts";
import {
  type BuiltVariant,
  nameOf,
  type ReleaseFile,
  type Source,
  type Variant,
  variantsFor,
} from "./release.ts";
import { requireReplaceable } from "./replaceable.ts";
import { writeRpm } from "./rpm.ts";
import { type Archived, sbomOf } from "./sbom.ts";
import { readSource, requireReleasable } from "./source.ts";
import { vexOf } from "./vex.ts";

/** What to release. */
export interface ReleaseOptions {
  readonly variants: readonly Variant[];
  /** The directory to make; a release that is there is replaced. */
  readonly output: string;
  /** Who builds, as a URI. */
  readonly builder: string;
  /** The name of the image in its registry; without it there are no manifests. */
  readonly image?: string | undefined;
  /** Who answers for the packages, such as `Jane Doe <jane@example.org>`. */
  readonly maintainer?: string | undefined;
  /** Signs the file whose path it gets as its only argument. */
  readonly sign?: string | undefined;
  /** Prints the signature, in base64, of what it gets on standard input: the shell command for the provenance. */
  readonly signProvenance?: string | undefined;
  readonly allowChanges?: boolean;
}

const UNKNOWN_MAINTAINER = "The maintainers of host-local <host-local@example.org>";

/**
 * Makes a release. Until it is complete, nothing appears in the output directory.
 *
 * @throws when something cannot be built, run, written or signed, or the output directory has something else than a release
 */
export async function makeRelease(options: ReleaseOptions): Promise<void> {
  const { variants, output, builder, maintainer = UNKNOWN_MAINTAINER, sign } = options;
  const { image: imageName } = options;
  requireReplaceable(output);
  // Modes do not depend on who builds.
  process.umask(0o022);
  const source = readSource(options.allowChanges ?? false);
  if (!options.allowChanges) {
    requireReleasable(source, options.maintainer);
    requireLockedNodes(variants);
  }
  mkdirSync(dirname(output), { recursive: true });
  await publish(output, async (unfinished) => {
    const paths: string[] = [];
    const natives: Imaged[] = [];
    for (const variant of variants) {
      const built = await build(variant);
      const files = filesOf(built, source);
      const archived = archive(built, files, source, unfinished);
      const sbom = describe(archived, source);
      paths.push(archived.archive, sbom);
      if (variant.flavour === "native") {
        natives.push({ built, files });
        const described = { name: "host-local.cdx.json", mode: 0o644, from: sbom } as const;
        const packaged = [...files, described];
        const input = { built, files: packaged, source, maintainer, directory: unfinished };
        paths.push(writeDeb(input), writeRpm(input));
      }
    }
    const image = writeImage(natives, source, unfinished);
    const prefix = join(unfinished, `host-local-v${source.version}`);
    const vex = `${prefix}.openvex.json`;
    const executables = natives.map(({ built }) => built);
    writeJson(vex, vexOf(executables, image.digest, source, maintainer));
    const manifests =
      imageName === undefined
        ? []
        : writeManifests(`${imageName}@${image.digest}`, source, unfinished);
    paths.push(image.path, ...manifests, vex);
    const provenance = `${prefix}.intoto.jsonl`;
    const given = { builder, image: imageName, maintainer };
    const statement = provenanceOf({ source, variants, subjects: paths, ...given });
    writeFileSync(provenance, envelopeOf(statement, options.signProvenance));
    const sums = writeSums(unfinished, [...paths, provenance]);
    const signed = paths.filter((path) => /\.(tgz|deb|rpm|oci\.tar)$/.test(path));
    if (sign !== undefined) {
      for (const path of [...signed, provenance, sums]) signWith(sign, path);
    }
  });
}

/** What an image alone is made of. */
export type ImageOptions = Pick<ReleaseOptions, "output" | "image" | "allowChanges"> & {
  readonly architectures: readonly Architecture[];
};

/**
 * Makes the image alone, for a cluster of one's own: that needs no tools for packages.
 *
 * @throws as `makeRelease`
 */
export async function makeImage(options: ImageOptions): Promise<void> {
  const { output, image: name, architectures: chosen, allowChanges = false } = options;
  requireReplaceable(output);
  process.umask(0o022);
  const source = readSource(allowChanges);
  mkdirSync(dirname(output), { recursive: true });
  await publish(output, async (unfinished) => {
    const natives: Imaged[] = [];
    for (const architecture of chosen) {
      const built = await build({ flavour: "native", architecture });
      natives.push({ built, files: filesOf(built, source) });
    }
    const { path, digest } = writeImage(natives, source, unfinished);
    const manifests =
      name === undefined ? [] : writeManifests(`${name}@${digest}`, source, unfinished);
    writeSums(unfinished, [path, ...manifests]);
  });
}

/** Lets `fill` write files to a directory, which takes the place of the output once that has succeeded. */
async function publish(output: string, fill: (directory: string) => Promise<void>): Promise<void> {
  const unfinished = mkdtempSync(`${output}.unfinished-`);
  chmodSync(unfinished, 0o755);
  try {
    await fill(unfinished);
    // Somebody may have put something there meanwhile.
    requireReplaceable(output);
    rmSync(output, { recursive: true, force: true });
    renameSync(unfinished, output);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function writeSums(directory: string, paths: readonly string[]): string {
  const sums = join(directory, "SHA256SUMS");
  writeFileSync(sums, checksumLines("sha256", [...paths].sort()));
  return sums;
}

/** The Node.js that builds, and each that a portable executable contains. */
function requireLockedNodes(variants: readonly Variant[]): void {
  const own = shippedNode(ownArchitecture());
  if (realpathSync(process.execPath) !== realpathSync(own.executable)) {
    throw new Error(
      `${process.execPath} is not the Node.js of package-lock.json: use npm run release.`,
    );
  }
  const contained = variants.flatMap(({ flavour, architecture }) =>
    flavour === "portable" && architecture !== ownArchitecture() ? [shippedNode(architecture)] : [],
  );
  for (const node of [own, ...contained]) requireUnchanged(node);
}

/** Builds an executable, and finds out what is in it. */
async function build(variant: Variant): Promise<BuiltVariant> {
  const { flavour, architecture } = variant;
  const work = join(root, "build", "release", `${flavour}-${architecture.name}`);
  const executable = join(work, "host-local");
  mkdirSync(work, { recursive: true });
  if (flavour === "native") {
    await buildNative({ architecture, work, output: executable });
    const files = await bundledFiles(["src/native.ts", "src/native-operator.ts"], "quickjs");
    const libraries = linkedLibraries(quickJsFor(architecture));
    return { ...variant, executable, components: [...bundledPackages(files), ...libraries] };
  }
  await buildPortable(executable, architecture);
  const files = await bundledFiles(["src/portable.ts"], "node");
  const node = nodeComponent(shippedNode(architecture));
  return { ...variant, executable, components: [...bundledPackages(files), node] };
}

function archive(
  built: BuiltVariant,
  files: readonly ReleaseFile[],
  source: Source,
  directory: string,
): Archived {
  const staging = join(directory, "staging");
  const name = nameOf(built, source.version);
  const path = join(directory, `${name}.tgz`);
  // Manuals unpack archives of plugins in /opt/cni/bin: a directory of its own replaces nothing there.
  stage(files, join(staging, name));
  writeArchive(staging, path, source.time, [name]);
  rmSync(staging, { recursive: true });
  return { ...built, archive: path };
}

/** Writes what goes beside an archive, and returns the path of its SBOM, which SHA256SUMS has, too. */
function describe(archived: Archived, source: Source): string {
  const { archive } = archived;
  writeFileSync(`${archive}.sha256`, checksumLines("sha256", [archive]));
  writeFileSync(`${archive}.sha512`, checksumLines("sha512", [archive]));
  const sbom = archive.replace(/\.tgz$/, ".cdx.json");
  writeJson(sbom, sbomOf(archived, source));
  return sbom;
}

/**
 * Runs a command that signs a file; it may ask at the terminal.
 *
 * @throws when it cannot be started or fails
 */
function signWith(command: string, path: string): void {
  const { status, error } = spawnSync(command, [path], { stdio: "inherit" });
  if (status === 0) return;
  const reason = error === undefined ? `it ended with ${status}` : error.message;
  throw new Error(`${command} failed for ${basename(path)}: ${reason}`);
}

function writeJson(path: string, document: object): void {
  writeFileSync(path, `${JSON.stringify(document, undefined, 2)}\n`);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      arch: { type: "string", default: architectures.map(({ name }) => name).join(",") },
      out: { type: "string", default: join(root, "dist", "release") },
      sign: { type: "string" },
      "sign-provenance": { type: "string" },
      builder: { type: "string", default: "urn:host-local:unknown-builder" },
      image: { type: "string" },
      "image-only": { type: "boolean", default: false },
      maintainer: { type: "string" },
      "allow-changes": { type: "boolean", default: false },
    },
  });
  // Variables of a pipeline that are not set.
  for (const [name, value] of Object.entries(values)) {
    if (value === "") throw new Error(`--${name}: expected a value`);
  }
  const { arch, "sign-provenance": signProvenance, "allow-changes": allowChanges } = values;
  const output = resolve(values.out);
  const { builder, sign, image, maintainer } = values;
  const chosen = arch.split(",").map(architectureNamed);
  if (values["image-only"]) await makeImage({ architectures: chosen, output, image, allowChanges });
  else {
    const variants = variantsFor(chosen);
    const given = { builder, sign, signProvenance, image, maintainer, allowChanges };
    await makeRelease({ variants, output, ...given });
  }
  const isSigned = sign !== undefined && !values["image-only"];
  console.log(`Written to ${output}, ${isSigned ? "signed" : "not signed"}.`);
}
