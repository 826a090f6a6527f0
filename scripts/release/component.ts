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
  /** In hexadecimal. */
  readonly value: string;
}

/** The npm packages among the files of a bundle. */
export function bundledPackages(files: readonly string[]): readonly Component[] {
  const names = files.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  return [...new Set(names.filter((name) => name !== undefined))].sort().map((name) => {
    const directory = join(root, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    const file = readdirSync(directory).find((one) => /^licen[cs]e(\.|$)/i.test(one));
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
      purl: `pkg:deb/debian/libquickjs@${pin.packageVersion}?arch=${architecture.debian}`,
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

/** A file of a package of Debian that a build uses. */
export interface UsedFile {
  readonly path: string;
  /** The package. */
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** The directory of its documentation. */
  readonly documentation: string;
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
    installed(fileOfCompiler(architecture, "libgcc.a")),
  ];
}

function glibc(architecture: Architecture): Component {
  const { path, name, version, documentation } = libraryOfC(architecture);
  const upstream = version.replace(/-.*$/, "");
  return {
    name: "glibc",
    version: upstream,
    license: "LGPL-2.1-or-later",
    licenseText: `${copyrightIn(documentation)}\n\n${readFileSync("/usr/share/common-licenses/LGPL-2.1", "utf8")}`,
    purl: `pkg:deb/debian/${name}@${version}?arch=${architecture.debian}`,
    cpe: `cpe:2.3:a:gnu:glibc:${upstream}:*:*:*:*:*:*:*`,
    hash: { algorithm: "SHA-256", value: checksum("sha256", path) },
    linking: "static",
  };
}

function libgcc(architecture: Architecture): Component {
  const used = installed(fileOfCompiler(architecture, "libgcc.a"));
  return {
    name: "libgcc",
    version: used.version.replace(/-.*$/, ""),
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    licenseText: copyrightIn(used.documentation),
    purl: `pkg:deb/debian/${used.name}@${used.version}?arch=${used.architecture}`,
    hash: { algorithm: "SHA-256", value: checksum("sha256", used.path) },
    linking: "static",
  };
}

/** Of this machine's own package, or of what was fetched for another architecture. */
export function libraryOfC(architecture: Architecture): UsedFile {
  const path = fileOfCompiler(architecture, "libc.a");
  if (architecture === ownArchitecture()) return installed(path);
  const documentation = join(sysrootFor(architecture), "usr/share/doc/libc6-dev");
  const version = debianVersion(documentation, architecture);
  if (version === undefined)
    throw new Error(`${documentation} does not tell the version of ${path}`);
  return { path, name: "libc6-dev", version, architecture: architecture.debian, documentation };
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
      const [name = "", version = "", architecture = ""] = command([
        "dpkg-query",
        "--show",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills these in
        "--showformat=${Package} ${Version} ${Architecture}",
        owner,
      ]).split(" ");
      return { path, name, version, architecture, documentation: `/usr/share/doc/${name}` };
    } catch {
      // Not by this name.
    }
  }
  throw new Error(`${path} is of no package of Debian, so its version is not known.`);
}

function copyrightIn(documentation: string): string {
  return readFileSync(join(documentation, "copyright"), "utf8");
}

/** From npm's form, such as `sha512-` and base64. */
function hashOfIntegrity(integrity: string): Hash {
  const value = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
  return { algorithm: "SHA-512", value };
}
