/** What the executables consist of besides this project: bundled packages, linked libraries, Node.js. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Architecture, emulator, ownArchitecture, tool } from "../build/architecture.ts";
import { root } from "../build/bundle.ts";
import { command } from "../build/command.ts";
import { gcc, sysrootFor } from "../build/libraries.ts";
import {
  debianVersion,
  documentationOf,
  type Library,
  type QuickJsPin,
  quickJsVersion,
  requirePinned,
} from "../build/quickjs-pin.ts";
import type { ShippedNode } from "../build/shipped-node.ts";
import { checksum } from "./checksum.ts";

/** A work of others that an executable contains. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  /** The notices that have to go with it. */
  readonly licenseText: string;
  /** Where it was taken from, as a package URL. */
  readonly purl: string;
  /** The name under which its vulnerabilities are published, as a CPE 2.3. */
  readonly cpe?: string;
  /** What was taken: of an npm package its archive, of a library the file. */
  readonly hash?: Hash;
  readonly linking: "bundled" | "static" | "base";
}

/** A checksum. */
export interface Hash {
  readonly algorithm: "SHA-256" | "SHA-512";
  /** The sum in hexadecimal. */
  readonly value: string;
}

/** The npm packages among the files of a bundle. */
export function bundledPackages(files: readonly string[]): readonly Component[] {
  const names = files.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  return [...new Set(names.filter((name) => name !== undefined))].sort().map((name) => {
    const directory = join(root, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    const file = readdirSync(directory).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
    if (file === undefined) throw new Error(`The npm package ${name} has no file of its licence.`);
    return {
      name,
      version,
      license,
      licenseText: readFileSync(join(directory, file), "utf8"),
      purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
      hash: hashOfIntegrity(packages[`node_modules/${name}`].integrity),
      linking: "bundled",
    };
  });
}

/** The libraries that the native executable is linked with, as they are installed here. */
export function linkedLibraries(library: Library): readonly Component[] {
  const { architecture } = library;
  const pin = requirePinned(library);
  const version = quickJsVersion(pin);
  return [
    {
      name: "quickjs",
      version,
      license: "MIT",
      licenseText: copyrightIn(documentationOf(library)),
      purl: quickJsPurl(library, pin),
      cpe: `cpe:2.3:a:quickjs_project:quickjs:${version}:*:*:*:*:*:*:*`,
      hash: { algorithm: "SHA-256", value: pin.archive },
      linking: "static",
    },
    glibc(architecture),
    libgcc(architecture),
  ];
}

/** The Node.js that the portable executable is a copy of. */
export function nodeComponent(node: ShippedNode): Component {
  return {
    name: "node",
    version: node.version,
    license: "MIT",
    licenseText: readFileSync(node.license, "utf8"),
    purl: `pkg:npm/${node.packageName}@${node.version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${node.version}:*:*:*:*:*:*:*`,
    hash: hashOfIntegrity(node.integrity),
    linking: "base",
  };
}

/** A package of Debian. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** The source package, by which Debian names vulnerabilities. */
  readonly source: { readonly name: string; readonly version: string };
}

/** A file of such a package that a build uses. */
export interface UsedFile extends DebianPackage {
  readonly path: string;
  /** The directory of its documentation. */
  readonly documentation: string;
}

/** The release of Debian that fetch/quickjs.sh takes the library from where this machine has none. */
const FETCHED_QUICKJS = "13";

/**
 * The package URL of a package of Debian, with what scanners look it up by: its release and its source package.
 *
 * @param release such as `12`; by default the one that the version of an update names, else this machine's
 */
export function debianPurl(
  { name, version, architecture, source }: DebianPackage,
  release = /\+deb(\d+)u/.exec(version)?.[1] ?? ownRelease(),
): string {
  const upstream = source.version === version ? source.name : `${source.name}@${source.version}`;
  const qualifiers = [
    `arch=${architecture}`,
    `distro=debian-${release}`,
    `upstream=${encodeURIComponent(upstream)}`,
  ];
  const encoded = encodeURIComponent(version).replaceAll("%3A", ":");
  return `pkg:deb/debian/${name}@${encoded}?${qualifiers.join("&")}`;
}

/** The version of this machine's release, see os-release(5). */
function ownRelease(): string {
  return /^VERSION_ID="?(\d+)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "unknown";
}

/** The package URL of the QuickJS library. */
export function quickJsPurl(
  { architecture, archive }: Library,
  { packageVersion }: QuickJsPin,
): string {
  const version = packageVersion;
  const described = { name: "libquickjs", version, architecture: architecture.debian };
  const release = archive.startsWith(join(root, "build")) ? FETCHED_QUICKJS : undefined;
  return debianPurl({ ...described, source: { name: "quickjs", version } }, release);
}

/** The compiler, the linker, the C library and the emulator for an architecture. */
export function toolchain(architecture: Architecture): readonly UsedFile[] {
  const programs = [
    tool(architecture, "gcc"),
    tool(architecture, "ld"),
    // It runs the compiler of bytecode, and the executable once for its snapshot.
    ...emulator(architecture).slice(0, 1),
  ];
  return [
    ...programs.map((program) => installed(command(["sh", "-c", `command -v ${program}`]).trim())),
    libraryOfC(architecture),
    libraryOfCompiler(architecture),
  ];
}

function glibc(architecture: Architecture): Component {
  const library = libraryOfC(architecture);
  const { path, version, documentation } = library;
  const upstream = version.replace(/-.*$/, "");
  return {
    name: "glibc",
    version: upstream,
    license: "LGPL-2.1-or-later",
    licenseText: `${copyrightIn(documentation)}\n\n${readFileSync("/usr/share/common-licenses/LGPL-2.1", "utf8")}`,
    purl: debianPurl(library),
    cpe: `cpe:2.3:a:gnu:glibc:${upstream}:*:*:*:*:*:*:*`,
    hash: { algorithm: "SHA-256", value: checksum("sha256", path) },
    linking: "static",
  };
}

function libgcc(architecture: Architecture): Component {
  const used = libraryOfCompiler(architecture);
  return {
    name: "libgcc",
    version: used.version.replace(/-.*$/, ""),
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    licenseText: copyrightIn(used.documentation),
    purl: debianPurl(used),
    hash: { algorithm: "SHA-256", value: checksum("sha256", used.path) },
    linking: "static",
  };
}

/** The C library of this machine's own package, or the one that was fetched for another architecture. */
export function libraryOfC(architecture: Architecture): UsedFile {
  const path = fileOfCompiler(architecture, "libc.a");
  if (architecture === ownArchitecture()) return installed(path);
  const documentation = join(sysrootFor(architecture), "usr/share/doc/libc6-dev");
  const version = debianVersion(documentation, architecture);
  if (version === undefined)
    throw new Error(`${documentation} does not tell the version of ${path}`);
  const source = { name: "glibc", version };
  const described = { name: "libc6-dev", version, architecture: architecture.debian, source };
  return { ...described, path, documentation };
}

/** The compiler's own library. */
export function libraryOfCompiler(architecture: Architecture): UsedFile {
  return installed(fileOfCompiler(architecture, "libgcc.a"));
}

function fileOfCompiler(architecture: Architecture, name: string): string {
  const path = command([...gcc(architecture), `-print-file-name=${name}`]).trim();
  return command(["realpath", path]).trim();
}

/** A file of a package that is installed here. */
function installed(file: string): UsedFile {
  // Debian's /usr/bin/gcc is a link that a package without a compiler has.
  const path = command(["realpath", file]).trim();
  // Where /lib is a link to /usr/lib, a package may name its file by either.
  for (const named of new Set([path, path.replace(/^\/usr/, "")])) {
    try {
      const owner = command(["dpkg-query", "--search", named]).split(": ")[0] ?? "";
      const [name = "", version = "", architecture = "", ...source] = command([
        "dpkg-query",
        "--show",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills these in
        "--showformat=${Package} ${Version} ${Architecture} ${source:Package} ${source:Version}",
        owner,
      ]).split(" ");
      const [sourceName = "", sourceVersion = ""] = source;
      return {
        ...{ path, name, version, architecture, documentation: `/usr/share/doc/${name}` },
        source: { name: sourceName, version: sourceVersion },
      };
    } catch {
      // Not by this name.
    }
  }
  throw new Error(`${path} is of no package of Debian, so its version is not known.`);
}

function copyrightIn(documentation: string): string {
  return readFileSync(join(documentation, "copyright"), "utf8");
}

/** Makes a hash from npm's form, such as `sha512-` and base64. */
function hashOfIntegrity(integrity: string): Hash {
  const value = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
  return { algorithm: "SHA-512", value };
}
