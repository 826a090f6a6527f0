/** Checks the packages and the image of a release: that they are whole, and have the executable of the archive. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Architecture } from "../build/architecture.ts";
import { checksum } from "./checksum.ts";
import { command } from "./command.ts";
import { debName } from "./deb.ts";
import { type Descriptor, imageName, platformOf } from "./image.ts";
import type { Problems } from "./problems.ts";
import { nameOf } from "./release.ts";
import { rpmArchitecture, rpmName } from "./rpm.ts";
import { sysextName, systemdArchitecture } from "./sysext.ts";

/** A release with packages. */
export interface PackagedRelease {
  readonly directory: string;
  readonly version: string;
  /** Those of the archives with a native executable. */
  readonly architectures: readonly Architecture[];
}

/** A package, and what it should have. */
interface Package {
  readonly path: string;
  readonly architecture: Architecture;
  /** The SHA-256 of the executable. */
  readonly executable: string;
  /** An empty directory. */
  readonly work: string;
}

/** The kinds of packages of each architecture. */
const kinds = [
  [debName, checkDeb],
  [rpmName, checkRpm],
  [sysextName, checkSysext],
] as const;

/** Checks all packages, and the image. */
export function checkPackages(problems: Problems, release: PackagedRelease): void {
  const executables = new Map<Architecture, string>();
  for (const architecture of release.architectures) {
    const executable = checkPackagesFor(problems, release, architecture);
    if (executable !== undefined) executables.set(architecture, executable);
  }
  inScratchDirectory((work) =>
    checkFile(problems, release.directory, imageName(release), (path) =>
      checkImage(path, executables, work),
    ),
  );
}

/**
 * Checks the packages of an architecture.
 *
 * @returns the SHA-256 of the executable in its archive, where that can be unpacked
 */
export function checkPackagesFor(
  problems: Problems,
  release: PackagedRelease,
  architecture: Architecture,
): string | undefined {
  const { directory, version } = release;
  const archive = `${nameOf({ flavour: "native", architecture }, version)}.tgz`;
  let executable: string | undefined;
  problems.attempt(archive, () => {
    executable = inScratchDirectory((work) => {
      command(["tar", "-xzf", join(directory, archive), "-C", work, "./host-local"]);
      return checksum("sha256", join(work, "host-local"));
    });
  });
  if (executable === undefined) return undefined;
  for (const [nameFor, check] of kinds) {
    const found = executable;
    checkFile(problems, directory, nameFor(release, architecture), (path) =>
      inScratchDirectory((work) => check({ path, architecture, executable: found, work })),
    );
  }
  return executable;
}

function inScratchDirectory<T>(action: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "release-check-"));
  try {
    return action(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function checkFile(
  problems: Problems,
  directory: string,
  name: string,
  check: (path: string) => void,
): void {
  const path = join(directory, name);
  if (existsSync(path)) problems.attempt(name, () => check(path));
  else problems.expect(false, name, "it is missing");
}

function checkDeb({ path, architecture, executable, work }: Package): void {
  command(["dpkg-deb", "--extract", path, work]);
  requireArchitecture(
    command(["dpkg-deb", "--field", path, "Architecture"]).trim(),
    architecture.debian,
  );
  const listed = command(["dpkg-deb", "--contents", path]).trim().split("\n");
  requireRoot(listed.filter((line) => !/^\S+ root\/root /.test(line)));
  for (const name of ["usr/lib/cni/host-local", "usr/sbin/host-local"]) {
    requireSame(name, checksum("sha256", join(work, name)), executable);
  }
}

function checkRpm({ path, architecture, executable, work }: Package): void {
  // Debian has the database in the home directory.
  const rpm = ["rpm", "--dbpath", work, "--nosignature"];
  command([...rpm, "--checksig", path]);
  const format = "%{ARCH}\\n[%{FILENAMES} %{FILEDIGESTS} %{FILEUSERNAME} %{FILEGROUPNAME}\\n]";
  const [found = "", ...lines] = command([...rpm, "-qp", "--qf", format, path])
    .trim()
    .split("\n");
  requireArchitecture(found, rpmArchitecture(architecture));
  requireRoot(lines.filter((line) => !line.endsWith(" root root")));
  for (const name of ["/usr/libexec/cni/host-local", "/usr/sbin/host-local"]) {
    const digest = lines.find((line) => line.startsWith(`${name} `))?.split(" ")[1];
    requireSame(name, digest, executable);
  }
}

function checkSysext({ path, architecture, executable, work }: Package): void {
  const unpacked = join(work, "unpacked");
  command(["unsquashfs", "-quiet", "-no-progress", "-dest", unpacked, path]);
  const text = readFileSync(
    join(unpacked, "usr/lib/extension-release.d/extension-release.host-local"),
    "utf8",
  );
  requireArchitecture(
    /^ARCHITECTURE=(.*)$/m.exec(text)?.[1] ?? "",
    systemdArchitecture(architecture),
  );
  const listed = command(["unsquashfs", "-lln", path]).trim().split("\n");
  requireRoot(listed.filter((line) => !/^\S+ 0\/0 /.test(line)));
  const name = "usr/bin/host-local";
  requireSame(name, checksum("sha256", join(unpacked, name)), executable);
}

/** Each blob has the sum that it is named for, and each executable is that of its platform's archive. */
function checkImage(
  path: string,
  executables: ReadonlyMap<Architecture, string>,
  work: string,
): void {
  command(["tar", "-xf", path, "-C", work]);
  const blobs = join(work, "blobs", "sha256");
  for (const name of readdirSync(blobs)) {
    requireSame(`blobs/sha256/${name}`, checksum("sha256", join(blobs, name)), name);
  }
  const read = ({ digest }: Pick<Descriptor, "digest">) =>
    readFileSync(join(blobs, digest.replace("sha256:", "")));
  const top: Index = JSON.parse(readFileSync(join(work, "index.json"), "utf8"));
  const [index] = top.manifests;
  if (index === undefined) throw new Error("it is empty");
  const { manifests }: Index = JSON.parse(read(index).toString());
  const expected = [...executables.keys()].map(({ name }) => JSON.stringify(platformOf(name)));
  const found = manifests.map(({ platform }) => JSON.stringify(platform));
  if (found.toSorted().join() !== expected.toSorted().join()) {
    throw new Error(`expected images for ${expected.join(", ")}, found ${found.join(", ")}`);
  }
  for (const [{ name: expectedArchitecture }, executable] of executables) {
    const own = manifests.find(({ platform }) => platform?.architecture === expectedArchitecture);
    const { config, layers }: Manifest = JSON.parse(read(own ?? index).toString());
    const [layer] = layers;
    if (layer === undefined) throw new Error("an image has no layer");
    const { architecture, rootfs }: Config = JSON.parse(read(config).toString());
    requireArchitecture(architecture, expectedArchitecture);
    const [difference] = rootfs.diff_ids;
    requireSame(`the layer for ${architecture}`, difference, `sha256:${sumOf(read(layer))}`);
    const unpacked = join(work, architecture);
    mkdirSync(unpacked);
    command([
      ...["tar", "-xzf", join(blobs, layer.digest.replace("sha256:", "")), "-C", unpacked],
      "./host-local",
    ]);
    const name = `host-local for ${architecture}`;
    requireSame(name, checksum("sha256", join(unpacked, "host-local")), executable);
  }
}

interface Index {
  readonly manifests: readonly Descriptor[];
}

interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

interface Config {
  readonly architecture: string;
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

/** The SHA-256 of what is in a compressed file. */
function sumOf(file: Uint8Array): string {
  return createHash("sha256").update(gunzipSync(file)).digest("hex");
}

function requireArchitecture(found: string, expected: string): void {
  if (found === expected) return;
  throw new Error(`wrong architecture: expected ${expected}, found ${found}`);
}

function requireRoot(foreign: readonly string[]): void {
  if (foreign.length > 0) throw new Error(`not owned by root: ${foreign.join("; ")}`);
}

function requireSame(name: string, found: string | undefined, expected: string): void {
  if (found === expected) return;
  throw new Error(`${name} is another file than expected: SHA-256 ${found}, not ${expected}`);
}
