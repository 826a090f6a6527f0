/** Kubernetes objects against the schemas of the API. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as apps from "kubernetes-models/apps/v1";
import * as rbac from "kubernetes-models/rbac.authorization.k8s.io/v1";
import * as core from "kubernetes-models/v1";
import { inRepository } from "../harness/repository.ts";

/** An object, as in a manifest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

const groups: Readonly<Record<string, object>> = {
  "apps/v1": apps,
  "rbac.authorization.k8s.io/v1": rbac,
  v1: core,
};

/**
 * What is wrong with objects: values of a wrong type, missing members, and members that the API does not have. The
 * schema knows the former two, and the types of TypeScript the latter.
 */
export function violations(...manifests: readonly Manifest[]): readonly string[] {
  return [...manifests.flatMap(invalidMembers), ...unknownMembers(manifests)];
}

function invalidMembers(manifest: Manifest): readonly string[] {
  const { apiVersion, kind } = manifest;
  const model = Object.entries(groups[apiVersion] ?? {}).find(([name]) => name === kind)?.[1];
  if (model === undefined) return [`no schema of ${apiVersion} ${kind}`];
  try {
    new model(manifest).validate();
    return [];
  } catch (error) {
    return [String(error)];
  }
}

/** The directory is in the repository, so that the package with the types is found. */
function unknownMembers(manifests: readonly Manifest[]): readonly string[] {
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
    const { status, stdout, stderr } = spawnSync(
      "env",
      ["-u", "NODE_OPTIONS", inRepository("node_modules/.bin/tsc"), ...options, ...target],
      { encoding: "utf8" },
    );
    return status === 0 ? [] : [stdout + stderr];
  } finally {
    rmSync(directory, { recursive: true });
  }
}
