/** The Node.js that the npm registry ships for an architecture, of the version of the lock file. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Architecture, ownArchitecture } from "./architecture.ts";
import { root } from "./bundle.ts";
import { command } from "./command.ts";

/** A Node.js, unpacked. */
export interface ShippedNode {
  /** The path of the executable. */
  readonly executable: string;
  /** The path of the texts of its licences. */
  readonly license: string;
  readonly version: string;
  /** The npm package. */
  readonly packageName: string;
  /** The sum as in the lock file. */
  readonly integrity: string;
}

/**
 * Finds the Node.js for an architecture; that for another machine is fetched from the registry into build/.
 *
 * @throws when npm has not installed it or cannot fetch it, or when what it fetches is not what the lock file says
 */
export function shippedNode(architecture: Architecture): ShippedNode {
  const packageName = `node-linux-${architecture.node}`;
  const { version, integrity } = lockedPackage(packageName);
  const isOwn = architecture === ownArchitecture();
  const directory = isOwn
    ? join(root, "node_modules", packageName)
    : join(root, "build", `${packageName}-${version}`);
  if (!isOwn && !existsSync(directory)) fetchPackage(packageName, version, integrity, directory);
  const executable = join(directory, "bin", "node");
  if (!existsSync(executable)) throw new Error(`${packageName} is not installed: run npm ci.`);
  return { executable, license: join(directory, "LICENSE"), version, packageName, integrity };
}

/**
 * Checks that an unpacked Node.js is, byte for byte, that of the package whose hash is in the lock file: npm checks what it
 * fetches, nobody what became of it since.
 *
 * @throws when it differs, or the package cannot be fetched
 */
export function requireUnchanged(node: ShippedNode): void {
  const { executable, version, packageName, integrity } = node;
  const directory = join(mkdtempSync(join(tmpdir(), "host-local-")), "package");
  try {
    fetchPackage(packageName, version, integrity, directory);
    if (!readFileSync(executable).equals(readFileSync(join(directory, "bin", "node")))) {
      throw new Error(
        `${executable} is not the Node.js of ${packageName} ${version} in package-lock.json: run npm ci.`,
      );
    }
  } finally {
    rmSync(dirname(directory), { recursive: true });
  }
}

function lockedPackage(name: string): { version: string; integrity: string } {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const found = lock.packages[`node_modules/${name}`];
  if (found === undefined) throw new Error(`package-lock.json has no package ${name}.`);
  return found;
}

function fetchPackage(name: string, version: string, integrity: string, directory: string): void {
  const work = `${directory}.unfinished`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  command(["npm", "pack", "--silent", "--pack-destination", work, `${name}@${version}`]);
  const archive = join(work, `${name}-${version}.tgz`);
  const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (found !== integrity) {
    throw new Error(`${name} ${version} is not what package-lock.json says: ${found}`);
  }
  command(["tar", "-xzf", archive, "-C", work, "package/bin/node", "package/LICENSE"]);
  renameSync(join(work, "package"), directory);
  rmSync(work, { recursive: true });
}
