/**
 * How a release was made: an in-toto statement v1 with the predicate SLSA provenance v1. Without times and names of machines, so that
 * two builds of one commit with the same tools say the same.
 */

import { basename, join } from "node:path";
import { ownArchitecture } from "../build/architecture.ts";
import { root } from "../build/bundle.ts";
import { output } from "../build/command.ts";
import { quickJsFor } from "../build/libraries.ts";
import { pinFor } from "../build/quickjs-pin.ts";
import { shippedNode } from "../build/shipped-node.ts";
import { checksum } from "./checksum.ts";
import { debianPurl, quickJsPurl, toolchain } from "./component.ts";
import type { Source, Variant } from "./release.ts";

/** What a statement is about. */
export interface Provenance {
  readonly source: Source;
  readonly variants: readonly Variant[];
  /** The paths of the files of the release. */
  readonly subjects: readonly string[];
  /** Who builds, as a URI. */
  readonly builder: string;
  /** The image's name in its registry, which the manifests have. */
  readonly image?: string | undefined;
  /** Who answers for the packages. */
  readonly maintainer: string;
}

/** Makes the statement. */
export function provenanceOf(release: Provenance): object {
  const { source, variants, subjects, builder, image, maintainer } = release;
  const architectures = [...new Set(variants.map(({ architecture }) => architecture))];
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: subjects.map((path) => ({
      name: basename(path),
      digest: { sha256: checksum("sha256", path) },
    })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:host-local:npm-run-release:v1",
        externalParameters: {
          commit: source.commit,
          version: source.version,
          architectures: architectures.map(({ name }) => name),
          ...(image === undefined ? {} : { image }),
          maintainer,
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
                    uri: quickJsPurl(quickJsFor(architecture), pin),
                    name: `libquickjs.a for ${architecture.name}`,
                    digest: { sha256: pin.archive },
                  },
                ];
          }),
          ...nodesFor(variants),
          ...toolsFor(variants),
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  };
}

/** What compiles and links, with the sums of the very files. */
function toolsFor(variants: readonly Variant[]): readonly object[] {
  const tools = variants
    .filter(({ flavour }) => flavour === "native")
    .flatMap(({ architecture }) => toolchain(architecture))
    .map((used) => ({
      uri: debianPurl(used),
      name: basename(used.path),
      digest: { sha256: checksum("sha256", used.path) },
    }));
  return [...new Map(tools.map((tool) => [`${tool.uri} ${tool.name}`, tool])).values()].sort(
    (a, b) => (`${a.uri} ${a.name}` < `${b.uri} ${b.name}` ? -1 : 1),
  );
}

/** The Node.js that builds, and those that portable executables contain. */
function nodesFor(variants: readonly Variant[]): readonly object[] {
  const contained = variants.flatMap(({ flavour, architecture }) =>
    flavour === "portable" ? [architecture] : [],
  );
  return [...new Set([ownArchitecture(), ...contained])].map((architecture) => {
    const { packageName, version, executable } = shippedNode(architecture);
    return {
      uri: `pkg:npm/${packageName}@${version}`,
      name: `node for ${architecture.name}`,
      digest: { sha256: checksum("sha256", executable) },
    };
  });
}

/**
 * A DSSE envelope around the statement (in-toto Envelope v1), in one line, as `cosign verify-blob-attestation` reads it.
 *
 * @param sign a shell command that gets the bytes to sign on standard input, and prints the signature in base64; without
 * it there is none
 * @throws where it fails
 */
export function envelopeOf(statement: object, sign: string | undefined): string {
  const payload = Buffer.from(JSON.stringify(statement));
  const payloadType = "application/vnd.in-toto+json";
  const signed = Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `);
  const signatures =
    sign === undefined
      ? []
      : [{ keyid: "", sig: signature(sign, Buffer.concat([signed, payload])) }];
  return `${JSON.stringify({ payloadType, payload: payload.toString("base64"), signatures })}\n`;
}

function signature(shell: string, input: Uint8Array): string {
  const printed = output(["sh", "-c", shell], { input }).toString().replaceAll("\n", "");
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(printed)) return printed;
  throw new Error(`${shell}: expected a signature in base64, found ${JSON.stringify(printed)}`);
}
