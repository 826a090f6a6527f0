/** The image of every container here: Debian's static busybox, in the form of `docker save`. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The name of the image; no client asks a registry for it, since the image is already there. */
export const imageName = "docker.io/library/busybox:test";

/** The program of a container, which runs until it is killed. */
const entrypoint = ["/bin/busybox", "sleep", "86400"];

/**
 * Writes the image.
 *
 * @param directory a directory to make, for the image and its parts
 * @returns the archive's path
 */
export function writeImage(directory: string): string {
  const root = join(directory, "root");
  for (const name of ["bin", "etc"]) mkdirSync(join(root, name), { recursive: true });
  cpSync("/usr/bin/busybox", join(root, "bin/busybox"));
  for (const applet of ["ip", "ping", "sh", "sleep"])
    symlinkSync("busybox", join(root, "bin", applet));
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/:/bin/sh\n");

  const layer = join(directory, "layer.tar");
  execFileSync("tar", ["--owner=0", "--group=0", "-C", root, "-cf", layer, "."]);
  const sum = createHash("sha256").update(readFileSync(layer)).digest("hex");
  const documents = {
    config: {
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      config: { Entrypoint: entrypoint, Env: ["PATH=/bin"] },
      rootfs: { type: "layers", diff_ids: [`sha256:${sum}`] },
    },
    manifest: [{ Config: "config.json", RepoTags: [imageName], Layers: ["layer.tar"] }],
  };
  for (const [name, document] of Object.entries(documents)) {
    writeFileSync(join(directory, `${name}.json`), JSON.stringify(document));
  }
  const archive = join(directory, "image.tar");
  execFileSync("tar", [
    ...["-C", directory, "-cf", archive],
    ...["manifest.json", "config.json", "layer.tar"],
  ]);
  return archive;
}
