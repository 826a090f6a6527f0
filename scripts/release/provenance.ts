/**
 * How a release was made: an in-toto statement v1 with the predicate SLSA provenance v1. Without times and names of machines, so that
 * two builds of one commit with the same tools say the same.
 */

import { join } from "node:path";
import { ownArchitecture } from "../build/architecture.ts";
import { root } from "../build/bundle.ts";
import { pinFor } from "../build/quickjs-pin.ts";
import type { ChecksumLine } from "./checksum.ts";
import { checksum } from "./checksum.ts";
import { toolchain } from "./component.ts";
import type { Source, Variant } from "./release.ts";

/** What a statement is about. */
export interface Provenance {
  readonly source: Source;
  readonly variants: readonly Variant[];
  /** The files of the release, with their SHA-256. */
  readonly subjects: readonly ChecksumLine[];
  /** Who builds, as a URI. */
  readonly builder: string;
}

/** Makes the statement. */
export function provenanceOf({ source, variants, subjects, builder }: Provenance): object {
  const architectures = [...new Set(variants.map(({ architecture }) => architecture))];
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: subjects.map(({ name, value }) => ({ name, digest: { sha256: value } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:host-local:npm-run-release:v1",
        externalParameters: {
          commit: source.commit,
          version: source.version,
          architectures: architectures.map(({ name }) => name),
        },
        internalParameters: {
          machine: ownArchitecture().name,
          node: process.version,
          sourceDateEpoch: source.time,
          ...(source.modified ? { filesDifferFromCommit: true } : {}),
        },
        resolvedDependencies: [
          { name: "host-local", digest: { gitCommit: source.commit } },
          {
            name: "package-lock.json",
            digest: { sha256: checksum("sha256", join(root, "package-lock.json")) },
          },
          ...architectures.flatMap((architecture) => {
            const pin = pinFor(architecture);
            return pin === undefined
              ? []
              : [
                  {
                    uri: `pkg:deb/debian/libquickjs@${pin.packageVersion}?arch=${architecture.debian}`,
                    name: `libquickjs.a for ${architecture.name}`,
                    digest: { sha256: pin.archive },
                  },
                ];
          }),
          ...compilersFor(variants),
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  };
}

/** Debian's packages have no digest here: their versions name them. */
function compilersFor(variants: readonly Variant[]): readonly object[] {
  const packages = variants
    .filter(({ flavour }) => flavour === "native")
    .flatMap(({ architecture }) => toolchain(architecture))
    .map(({ name, version, architecture }) => ({
      uri: `pkg:deb/debian/${name}@${version}?arch=${architecture}`,
      name,
    }));
  return [...new Map(packages.map((one) => [one.uri, one])).values()].sort((a, b) =>
    a.uri < b.uri ? -1 : 1,
  );
}
