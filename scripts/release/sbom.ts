/**
 * The software bill of materials of an archive, in CycloneDX 1.6: every scanner reads it, some nothing else, and it has
 * the package URL and the CPE of a component, by which they look for vulnerabilities, in members of their own.
 */

import { createHash } from "node:crypto";
import { basename } from "node:path";
import { checksum } from "./checksum.ts";
import type { BuiltVariant, Source } from "./release.ts";

/** An executable in its archive. */
export interface Archived extends BuiltVariant {
  /** The path of the archive. */
  readonly archive: string;
}

const PROGRAM = "host-local";

/** The package URL of a version. */
export function programPurl({ version }: Pick<Source, "version">): string {
  return `pkg:generic/${PROGRAM}@${version}`;
}

/** Describes an archive. */
export function sbomOf(archived: Archived, source: Source): object {
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
      timestamp: new Date(source.time * 1000).toISOString().replace(".000Z", "Z"),
      component: {
        type: "application",
        "bom-ref": self,
        name: PROGRAM,
        version: source.version,
        hashes: [{ alg: "SHA-256", content: sha256 }],
        licenses: [{ license: { id: "Apache-2.0" } }],
        purl: programPurl(source),
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
