/** Kubernetes objects against the schemas of the API. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inRepository } from "../harness/repository.ts";

/** An object, as in a manifest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * What is wrong with objects, by the types of the API: values of a wrong type, missing members, and members that it does
 * not have. The directory is in the repository, so that the package with the types is found.
 */
export function violations(...manifests: readonly Manifest[]): string {
  const directory = mkdtempSync(inRepository("build/manifest-"));
  const file = join(directory, "manifest.ts");
  const text = manifests
    .map((manifest, at) => {
      const { apiVersion, kind } = manifest;
      return `import type { I${kind} as I${at} } from "kubernetes-models/${apiVersion}";
export const manifest${at}: I${at} = ${JSON.stringify(manifest, undefined, 2)};
`;
    })
    .join("");
  try {
    writeFileSync(file, text);
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig"];
    const target = ["--module", "nodenext", "--types", "", file];
    // Without what tap has every process of Node.js load.
    const { stdout, stderr } = spawnSync(
      "env",
      ["-u", "NODE_OPTIONS", inRepository("node_modules/.bin/tsc"), ...options, ...target],
      { encoding: "utf8" },
    );
    return stdout + stderr;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
