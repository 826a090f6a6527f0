/** The image of every container here: Debian's static busybox, as an archive of an OCI layout. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Its name, which no client asks a registry for, since it is there. */
export const imageName = "docker.io/library/busybox:test";

/** What a container of it runs, until it is killed. */
const entrypoint = ["/bin/busybox", "sleep", "86400"];

/**
 * Writes the image.
 *
 * @param directory a directory to make, for the image and its parts
 * @returns the archive's path
 */
export function writeImage(directory: string): string {
  const root = join(directory, "root");
  const layout = join(directory, "layout");
  const blobs = join(layout, "blobs/sha256");
  for (const path of [join(root, "bin"), join(root, "etc"), blobs]) {
    mkdirSync(path, { recursive: true });
  }
  cpSync("/usr/bin/busybox", join(root, "bin/busybox"));
  for (const applet of ["ip", "ping", "sh", "sleep"])
    symlinkSync("busybox", join(root, "bin", applet));
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/:/bin/sh\n");

  const layerFile = join(directory, "layer.tar");
  execFileSync("tar", ["--owner=0", "--group=0", "-C", root, "-cf", layerFile, "."]);
  const layer = digestOf(readFileSync(layerFile));
  renameSync(layerFile, join(blobs, layer));

  const store = (content: object) => {
    const text = JSON.stringify(content);
    const digest = digestOf(text);
    writeFileSync(join(blobs, digest), text);
    return { digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
  };
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const config = store({
    architecture,
    os: "linux",
    config: { Entrypoint: entrypoint, Env: ["PATH=/bin"] },
    rootfs: { type: "layers", diff_ids: [`sha256:${layer}`] },
  });
  const type = "application/vnd.oci.image";
  const manifest = store({
    schemaVersion: 2,
    mediaType: `${type}.manifest.v1+json`,
    config: { mediaType: `${type}.config.v1+json`, ...config },
    layers: [
      {
        mediaType: `${type}.layer.v1.tar`,
        digest: `sha256:${layer}`,
        size: readFileSync(join(blobs, layer)).length,
      },
    ],
  });
  writeFileSync(join(layout, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(
    join(layout, "index.json"),
    JSON.stringify({
      schemaVersion: 2,
      manifests: [
        {
          mediaType: `${type}.manifest.v1+json`,
          ...manifest,
          platform: { architecture, os: "linux" },
          annotations: {
            "io.containerd.image.name": imageName,
            "org.opencontainers.image.ref.name": imageName,
          },
        },
      ],
    }),
  );
  const archive = join(directory, "image.tar");
  execFileSync("tar", ["-C", layout, "-cf", archive, "."]);
  return archive;
}

function digestOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
