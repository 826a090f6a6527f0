/**
 * Signs the image of a release with cosign, once it is in a registry: by its digest, so that nothing else is signed.
 *
 * Usage: npx node scripts/release/sign-image.ts [OPTION...], with HOST_LOCAL_SIGN_IMAGE=registry.example.com/host-local;
 * the options are cosign's, such as --key.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../build/bundle.ts";
import { digestOf } from "./image.ts";

const { HOST_LOCAL_SIGN_IMAGE: image, HOST_LOCAL_RELEASE = join(root, "dist", "release") } =
  process.env;
if (image === undefined) {
  throw new Error("expected HOST_LOCAL_SIGN_IMAGE, such as registry.example.com/host-local");
}
const reference = `${image}@${digestOf(HOST_LOCAL_RELEASE)}`;
const words = ["sign", "--yes", "--recursive", ...process.argv.slice(2), reference];
const { status, error } = spawnSync("cosign", words, { stdio: "inherit" });
if (error !== undefined) throw new Error(`cosign could not be run: ${error.message}`);
if (status !== 0) throw new Error(`cosign did not sign ${reference}: it ended with ${status}`);
