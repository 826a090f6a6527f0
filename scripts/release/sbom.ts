/** Software bills of materials of an archive: SPDX 2.3 and CycloneDX 1.6, both in JSON. */

import { createHash } from "node:crypto";
import { basename } from "node:path";
import { checksum } from "./checksum.ts";
import type { Component } from "./component.ts";
import type { BuiltVariant, Source } from "./release.ts";

/** An executable in its archive. */
export interface Archived extends BuiltVariant {
  /** The path of the archive. */
  readonly archive: string;
}

const PROGRAM = "host-local";

/** How each component gets into the executable, in SPDX's words. */
const relationships = {
  bundled: "CONTAINS",
  static: "STATIC_LINK",
  base: "CONTAINS",
} as const satisfies Record<Component["linking"], string>;

/** Describes an archive in SPDX 2.3. */
export function spdxOf(archived: Archived, source: Source): object {
  const { archive, executable, components } = archived;
  const sha256 = checksum("sha256", archive);
  const name = basename(archive, ".tgz");
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name,
    documentNamespace: `urn:host-local:sbom:${name}:${sha256}`,
    creationInfo: { created: isoTime(source), creators: [`Tool: ${PROGRAM}-release`] },
    documentDescribes: ["SPDXRef-archive"],
    packages: [
      {
        SPDXID: "SPDXRef-archive",
        name: PROGRAM,
        versionInfo: source.version,
        packageFileName: basename(archive),
        supplier: "NOASSERTION",
        downloadLocation: "NOASSERTION",
        filesAnalyzed: false,
        primaryPackagePurpose: "APPLICATION",
        checksums: [{ algorithm: "SHA256", checksumValue: sha256 }],
        licenseConcluded: "Apache-2.0",
        licenseDeclared: "Apache-2.0",
        copyrightText: "NOASSERTION",
        sourceInfo: `git commit ${source.commit}`,
      },
      ...components.map(spdxPackage),
    ],
    files: [
      {
        SPDXID: "SPDXRef-executable",
        fileName: `./${PROGRAM}`,
        fileTypes: ["BINARY"],
        checksums: [
          { algorithm: "SHA1", checksumValue: checksum("sha1", executable) },
          { algorithm: "SHA256", checksumValue: checksum("sha256", executable) },
        ],
        licenseConcluded: "NOASSERTION",
        copyrightText: "NOASSERTION",
      },
    ],
    relationships: [
      relationship("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-archive"),
      relationship("SPDXRef-archive", "CONTAINS", "SPDXRef-executable"),
      ...components.map((component) =>
        relationship("SPDXRef-executable", relationships[component.linking], spdxId(component)),
      ),
    ],
  };
}

function spdxPackage(component: Component): object {
  const { name, version, license, purl, cpe, hash } = component;
  return {
    SPDXID: spdxId(component),
    name,
    versionInfo: version,
    supplier: "NOASSERTION",
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    ...(hash === undefined
      ? {}
      : {
          checksums: [{ algorithm: hash.algorithm.replace("-", ""), checksumValue: hash.value }],
        }),
    licenseConcluded: license,
    licenseDeclared: license,
    copyrightText: "NOASSERTION",
    externalRefs: [
      { referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl },
      ...(cpe === undefined
        ? []
        : [{ referenceCategory: "SECURITY", referenceType: "cpe23Type", referenceLocator: cpe }]),
    ],
  };
}

function spdxId({ name }: Component): string {
  return `SPDXRef-component-${name.replaceAll(/[^A-Za-z0-9.-]/g, "-")}`;
}

function relationship(from: string, type: string, to: string): object {
  return { spdxElementId: from, relationshipType: type, relatedSpdxElement: to };
}

/** Describes an archive in CycloneDX 1.6. */
export function cycloneDxOf(archived: Archived, source: Source): object {
  const { archive, executable, components } = archived;
  const sha256 = checksum("sha256", archive);
  const self = basename(archive);
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(sha256)}`,
    version: 1,
    metadata: {
      timestamp: isoTime(source),
      component: {
        type: "application",
        "bom-ref": self,
        name: PROGRAM,
        version: source.version,
        hashes: [{ alg: "SHA-256", content: sha256 }],
        licenses: [{ license: { id: "Apache-2.0" } }],
        properties: [{ name: `${PROGRAM}:commit`, value: source.commit }],
        components: [
          {
            type: "file",
            "bom-ref": PROGRAM,
            name: PROGRAM,
            hashes: [{ alg: "SHA-256", content: checksum("sha256", executable) }],
          },
        ],
      },
    },
    components: components.map((component) => ({
      type: component.linking === "base" ? "platform" : "library",
      "bom-ref": component.purl,
      name: component.name,
      version: component.version,
      ...(component.hash === undefined
        ? {}
        : { hashes: [{ alg: component.hash.algorithm, content: component.hash.value }] }),
      licenses: [{ expression: component.license }],
      ...(component.cpe === undefined ? {} : { cpe: component.cpe }),
      purl: component.purl,
      properties: [{ name: `${PROGRAM}:linking`, value: component.linking }],
    })),
    dependencies: [
      { ref: self, dependsOn: components.map(({ purl }) => purl) },
      ...components.map(({ purl }) => ({ ref: purl, dependsOn: [] })),
    ],
  };
}

/** A version 8 UUID (RFC 9562) of a sum. */
function uuidOf(sha256: string): string {
  const hash = createHash("sha256").update(`sbom ${sha256}`).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function isoTime({ time }: Source): string {
  return new Date(time * 1000).toISOString().replace(".000Z", "Z");
}
