/**
 * Which known vulnerabilities of QuickJS, glibc and the compiler do not concern the executables, and why: an OpenVEX 0.2.0 document, with
 * which scanners leave out what they find by the versions in the SBOMs.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { root } from "../build/bundle.ts";
import { quickJsFor } from "../build/libraries.ts";
import { documentationOf } from "../build/quickjs-pin.ts";
import { libraryOfC, libraryOfCompiler } from "./component.ts";
import { imagePurl } from "./image.ts";
import type { BuiltVariant, Source } from "./release.ts";
import { programPurl } from "./sbom.ts";

/** A known vulnerability, as docs/data/vulnerabilities.json has it. */
export interface Vulnerability {
  /** A CVE, or where there is none the commit that fixes it. */
  readonly vulnerability: string;
  readonly component: "quickjs" | "glibc" | "libgcc";
  /** What is at fault. */
  readonly code: string;
  /** The justification, by its name in OpenVEX. */
  readonly justification: string;
  readonly reason: string;
  /** The commit that fixes it. */
  readonly fix?: string;
  /** Files of the library that the linker then does not take. */
  readonly absent?: readonly string[];
  /** The part of the engine that engine.c then does not add. */
  readonly intrinsic?: string;
}

/** All known vulnerabilities. */
export const vulnerabilities: readonly Vulnerability[] = JSON.parse(
  readFileSync(join(root, "docs", "data", "vulnerabilities.json"), "utf8"),
);

/**
 * Makes the document.
 *
 * @param natives the executables that have the libraries
 * @param image the digest of their image
 * @param author who answers for it
 */
export function vexOf(
  natives: readonly BuiltVariant[],
  image: string,
  source: Source,
  author: string,
): object {
  const statements = vulnerabilities.flatMap((vulnerability) => {
    const groups = Map.groupBy(natives, (native) => isFixed(vulnerability, native));
    return [true, false].flatMap((fixed) => {
      const concerned = groups.get(fixed);
      if (concerned === undefined) return [];
      const statement = statementOn(vulnerability, concerned, image, source);
      const { justification, code, reason } = vulnerability;
      const impact = { justification, impact_statement: `${code}: ${reason}` };
      return fixed
        ? { ...statement, status: "fixed" }
        : { ...statement, status: "not_affected", ...impact };
    });
  });
  return {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": `urn:host-local:vex:v${source.version}`,
    author,
    timestamp: new Date(source.time * 1000).toISOString().replace(".000Z", "Z"),
    version: 1,
    statements,
  };
}

function statementOn(
  { vulnerability, component, fix }: Vulnerability,
  natives: readonly BuiltVariant[],
  image: string,
  source: Source,
) {
  const purls = natives.flatMap(({ components }) =>
    components.flatMap(({ name, purl }) => (name === component ? [purl] : [])),
  );
  const subcomponents = [...new Set(purls)].sort().map((purl) => ({ "@id": purl }));
  return {
    vulnerability: { name: vulnerability, ...(fix === undefined ? {} : { "@id": fix }) },
    products: [programPurl(source), imagePurl(image)].map((purl) => ({
      "@id": purl,
      subcomponents,
    })),
  };
}

/** Whether the changelog of the package that is linked names it: Debian mends without a new version of upstream. */
function isFixed({ vulnerability, component }: Vulnerability, { architecture }: BuiltVariant) {
  const documentation = {
    quickjs: () => documentationOf(quickJsFor(architecture)),
    glibc: () => libraryOfC(architecture).documentation,
    libgcc: () => libraryOfCompiler(architecture).documentation,
  }[component]();
  const changelog = join(documentation, "changelog.Debian.gz");
  return gunzipSync(readFileSync(changelog)).toString().includes(vulnerability);
}
