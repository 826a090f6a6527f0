/** What the executables consist of besides this project: bundled packages, linked libraries, Node.js. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Architecture, emulator, tool } from "../build/architecture.ts";
import { root } from "../build/bundle.ts";
import {
  documentationOf,
  type Library,
  quickJsVersion,
  requirePinned,
} from "../build/quickjs-pin.ts";
import type { ShippedNode } from "../build/shipped-node.ts";
import { command } from "./command.ts";

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
      licenseText: readFileSync(join(documentationOf(library), "copyright"), "utf8"),
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

/** A package of Debian that is installed here. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** The compiler, the linker, the C library and the emulator for an architecture, as packages of Debian. */
export function toolchain(architecture: Architecture): readonly InstalledPackage[] {
  const programs = [
    tool(architecture, "gcc"),
    tool(architecture, "ld"),
    // It runs the compiler of bytecode, and the executable once for its snapshot.
    ...emulator(architecture).slice(0, 1),
  ];
  const files = [
    ...programs.map((program) => command(["sh", "-c", `command -v ${program}`]).trim()),
    fileOfCompiler(architecture, "libc.a"),
    fileOfCompiler(architecture, "libgcc.a"),
  ];
  return files.map(packageOf);
}

function glibc(architecture: Architecture): Component {
  const { name, version, architecture: debian } = packageOf(fileOfCompiler(architecture, "libc.a"));
  const upstream = version.replace(/-.*$/, "");
  return {
    name: "glibc",
    version: upstream,
    license: "LGPL-2.1-or-later",
    licenseText: `${copyrightOf(name)}\n\n${readFileSync("/usr/share/common-licenses/LGPL-2.1", "utf8")}`,
    purl: `pkg:deb/debian/${name}@${version}?arch=${debian}`,
    cpe: `cpe:2.3:a:gnu:glibc:${upstream}:*:*:*:*:*:*:*`,
    linking: "static",
  };
}

function libgcc(architecture: Architecture): Component {
  const {
    name,
    version,
    architecture: debian,
  } = packageOf(fileOfCompiler(architecture, "libgcc.a"));
  return {
    name: "libgcc",
    version: version.replace(/-.*$/, ""),
    license: "GPL-3.0-or-later WITH GCC-exception-3.1",
    licenseText: copyrightOf(name),
    purl: `pkg:deb/debian/${name}@${version}?arch=${debian}`,
    linking: "static",
  };
}

function fileOfCompiler(architecture: Architecture, name: string): string {
  return command([
    "realpath",
    command([tool(architecture, "gcc"), `-print-file-name=${name}`]).trim(),
  ]).trim();
}

/** The package of Debian that a file belongs to. */
function packageOf(file: string): InstalledPackage {
  // Debian's /usr/bin/gcc is a link that a package without a compiler has.
  const real = command(["realpath", file]).trim();
  // Where /lib is a link to /usr/lib, a package may name its file by either.
  for (const path of new Set([real, real.replace(/^\/usr/, "")])) {
    try {
      const owner = command(["dpkg-query", "--search", path]).split(": ")[0] ?? "";
      const [name = "", version = "", architecture = ""] = command([
        "dpkg-query",
        "--show",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills these in
        "--showformat=${Package} ${Version} ${Architecture}",
        owner,
      ]).split(" ");
      return { name, version, architecture };
    } catch {
      // Not by this name.
    }
  }
  throw new Error(`${dirname(file)} is of no package of Debian, so its version is not known.`);
}

function copyrightOf(packageName: string): string {
  return readFileSync(`/usr/share/doc/${packageName}/copyright`, "utf8");
}

/** From npm's form, such as `sha512-` and base64. */
function hashOfIntegrity(integrity: string): Hash {
  const value = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
  return { algorithm: "SHA-512", value };
}
