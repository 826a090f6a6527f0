/**
 * The image for containers: an OCI image layout in a tar archive (OCI image specification 1.1), with one image for each
 * architecture. Its only layer has the executable and the licences.
 */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { ArchitectureName } from "../build/architecture.ts";
import { stage, writeArchive, writeTar } from "./archive.ts";
import { SUMMARY } from "./package.ts";
import type { BuiltVariant, ReleaseFile, Source } from "./release.ts";

/** An executable, and what its archive has. */
export interface Imaged {
  readonly built: BuiltVariant;
  readonly files: readonly ReleaseFile[];
}

/** Refers to a blob, in the words of the specification. */
export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:` and hexadecimal. */
  readonly digest: string;
  readonly size: number;
  readonly platform?: Platform;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The machines that an image is for. */
export interface Platform {
  readonly os: "linux";
  readonly architecture: ArchitectureName;
  readonly variant?: string;
}

/** The media types of the specification that are used. */
export const MEDIA = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
} as const;

/** Where something is in the image, by its name in the archive. */
const places: Readonly<Record<string, string>> = {
  "host-local": "host-local",
  LICENSE: "licenses/LICENSE",
  "THIRD-PARTY-NOTICES": "licenses/THIRD-PARTY-NOTICES",
};

/** The name of the image's file. */
export function imageName({ version }: Pick<Source, "version">): string {
  return `host-local-v${version}.oci.tar`;
}

/** The platform of an architecture. */
export function platformOf(architecture: ArchitectureName): Platform {
  const variant = ({ arm64: "v8", arm: "v7" } as Partial<Record<ArchitectureName, string>>)[
    architecture
  ];
  return { os: "linux", architecture, ...(variant === undefined ? {} : { variant }) };
}

/** The package URL of an image, by its digest. */
export function imagePurl(digest: string): string {
  return `pkg:oci/host-local@${encodeURIComponent(digest)}`;
}

/**
 * Writes the image of all executables.
 *
 * @param directory where to write it
 * @returns the path of the archive, and the digest of the image, as registries have it
 */
export function writeImage(
  imaged: readonly Imaged[],
  source: Source,
  directory: string,
): { readonly path: string; readonly digest: string } {
  const layout = join(directory, "layout");
  mkdirSync(join(layout, "blobs", "sha256"), { recursive: true });
  const annotations = annotationsOf(source);
  const manifests = imaged.map(({ built, files }) => {
    const layer = layerOf(files, source, directory);
    const platform = platformOf(built.architecture.name);
    const config = json({
      created: annotations["org.opencontainers.image.created"],
      ...platform,
      config: { Entrypoint: ["/host-local"], Labels: annotations },
      rootfs: { type: "layers", diff_ids: [`sha256:${sha256(gunzipSync(layer))}`] },
      history: [
        {
          created: annotations["org.opencontainers.image.created"],
          created_by: "npm run release",
        },
      ],
    });
    const manifest = {
      schemaVersion: 2,
      mediaType: MEDIA.manifest,
      config: blob(layout, MEDIA.config, config),
      layers: [blob(layout, MEDIA.layer, layer)],
      annotations,
    };
    return { ...blob(layout, MEDIA.manifest, json(manifest)), platform };
  });
  const index = { schemaVersion: 2, mediaType: MEDIA.index, manifests, annotations };
  const reference = `localhost/host-local:v${source.version}`;
  const named = {
    ...blob(layout, MEDIA.index, json(index)),
    // The name after loading: for podman the first, for containerd the second.
    annotations: {
      "org.opencontainers.image.ref.name": reference,
      "io.containerd.image.name": reference,
    },
  };
  const top = { schemaVersion: 2, mediaType: MEDIA.index, manifests: [named] };
  writeFileSync(join(layout, "index.json"), json(top));
  writeFileSync(join(layout, "oci-layout"), json({ imageLayoutVersion: "1.0.0" }));
  const path = join(directory, imageName(source));
  writeTar(layout, path, source.time, ["oci-layout", "index.json", "blobs"]);
  rmSync(layout, { recursive: true });
  return { path, digest: named.digest };
}

function annotationsOf({ version, commit, time }: Source) {
  return {
    "org.opencontainers.image.title": "host-local",
    "org.opencontainers.image.description": SUMMARY,
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.revision": commit,
    "org.opencontainers.image.created": new Date(time * 1000).toISOString().replace(".000Z", "Z"),
    "org.opencontainers.image.licenses": "Apache-2.0",
  };
}

function layerOf(files: readonly ReleaseFile[], source: Source, directory: string): Uint8Array {
  const staging = join(directory, "staging");
  const path = join(directory, "layer.tgz");
  stage(
    files.flatMap((file) => {
      const name = places[file.name];
      return name === undefined ? [] : [{ ...file, name }];
    }),
    staging,
  );
  writeArchive(staging, path, source.time);
  const layer = readFileSync(path);
  for (const made of [staging, path]) rmSync(made, { recursive: true });
  return layer;
}

/** Adds a blob to the layout. */
function blob(layout: string, mediaType: string, content: string | Uint8Array): Descriptor {
  const hash = sha256(content);
  writeFileSync(join(layout, "blobs", "sha256", hash), content);
  return { mediaType, digest: `sha256:${hash}`, size: Buffer.byteLength(content) };
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function json(document: object): string {
  return JSON.stringify(document);
}
