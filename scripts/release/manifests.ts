/** The manifests of deploy/, rendered, with the image by its digest: what is applied is what was released. */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build/bundle.ts";
import { command } from "../build/command.ts";
import type { Source } from "./release.ts";

/** The image in deploy/base, by a tag that anybody may move. */
const TAGGED = /registry\.example\.com\/host-local:\S+/g;

/**
 * Renders each overlay.
 *
 * @param image the name with the digest
 * @returns the paths of the files
 * @throws where there is no kubectl, and Debian's cannot be fetched
 */
export function writeManifests(
  image: string,
  { version }: Source,
  directory: string,
): readonly string[] {
  const kubectl = kubectlOrFetch();
  const overlays = join(root, "deploy", "overlays");
  return readdirSync(overlays).map((overlay) => {
    const rendered = command([kubectl, "kustomize", join(overlays, overlay)]);
    if (rendered.match(TAGGED) === null) throw new Error(`the overlay ${overlay} has no image`);
    const path = join(directory, `host-local-v${version}-${overlay}.yaml`);
    writeFileSync(path, rendered.replace(TAGGED, image));
    return path;
  });
}

function kubectlOrFetch(): string {
  const fetched = join(root, "build", "kubectl");
  if (!existsSync(fetched)) spawnSync("bash", [join(root, "scripts", "fetch", "kubectl.sh")]);
  return existsSync(fetched) ? fetched : "kubectl";
}
