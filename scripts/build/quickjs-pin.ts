/**
 * The QuickJS library that the native executable is linked with is pinned in quickjs-pin.json: another one may make another
 * program of the same source.
 */

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Architecture, ArchitectureName } from "./architecture.ts";

/** The QuickJS library for an architecture. */
export interface Library {
  readonly architecture: Architecture;
  /** The directory of its headers. */
  readonly include: string;
  /** The path of libquickjs.a. */
  readonly archive: string;
}

/** The library that is pinned for an architecture: SHA-256 sums in hexadecimal. */
export interface QuickJsPin {
  /** The version of the Debian package `libquickjs`, such as `2025.04.26-1`. */
  readonly packageVersion: string;
  /** The sum of quickjs.h. */
  readonly header: string;
  /** The sum of libquickjs.a. */
  readonly archive: string;
}

type Pins = Readonly<Partial<Record<ArchitectureName, QuickJsPin>>>;

const PINS = join(import.meta.dirname, "quickjs-pin.json");

/** Reads what is pinned for an architecture. */
export function pinFor({ name }: Architecture, file = PINS): QuickJsPin | undefined {
  return readPins(file)[name];
}

function readPins(file: string): Pins {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** QuickJS's own form of its version, such as `2025-04-26`. */
export function quickJsVersion({ packageVersion }: QuickJsPin): string {
  return packageVersion.replace(/-[^-]*$/, "").replaceAll(".", "-");
}

/**
 * Checks that a library is the pinned one.
 *
 * @returns what is pinned
 * @throws when its archive or its header has another sum
 */
export function requirePinned(library: Library): QuickJsPin {
  const { architecture, archive } = library;
  const pin = pinFor(architecture);
  const files = [
    [archive, pin?.archive],
    [headerOf(library), pin?.header],
  ] as const;
  for (const [file, expected] of files) {
    const found = sha256(file);
    if (found === expected) continue;
    const version = debianVersion(documentationOf(library), architecture);
    const here = version === undefined ? "" : `, but of ${version}`;
    const pinned = pin === undefined ? "" : ` of Debian's libquickjs ${pin.packageVersion}`;
    throw new Error(
      `${file} is not the pinned QuickJS${pinned}${here}: expected SHA-256 ${expected ?? "none"}, found ${found}. ` +
        `Review what changed, then \`npm run build:native -- --arch ${architecture.name} --accept-quickjs\` pins it in scripts/build/quickjs-pin.json; ` +
        "or unpack the package that is pinned, from Debian's archive of snapshots, as docs/releasing.md says. " +
        "A library in build/ goes before the installed one: remove it there to take that.",
    );
  }
  if (pin === undefined) throw new Error(`No QuickJS is pinned for ${architecture.name}.`);
  return pin;
}

/**
 * Pins a library for its architecture.
 *
 * @param packageVersion where the library is not of a Debian package with its changelog
 * @throws where the version is neither given nor in a changelog
 */
export function acceptLibrary(library: Library, packageVersion?: string, file = PINS): void {
  const documentation = documentationOf(library);
  const version = packageVersion ?? debianVersion(documentation, library.architecture);
  if (version === undefined) {
    throw new Error(
      `${documentation} has no changelog that names the version of the QuickJS library: add --quickjs-version, such as 2025.04.26-1.`,
    );
  }
  const pin: QuickJsPin = {
    packageVersion: version,
    header: sha256(headerOf(library)),
    archive: sha256(library.archive),
  };
  const pins: Pins = { ...readPins(file), [library.architecture.name]: pin };
  writeFileSync(file, `${JSON.stringify(pins, undefined, 2)}\n`);
}

/** The documentation of the package that a library is of. */
export function documentationOf({ include }: Library): string {
  return join(include, "..", "..", "share", "doc", "libquickjs");
}

/**
 * The version of a package of Debian, from the first line of its changelog; a package that was only rebuilt has one of its
 * architecture, too.
 *
 * @param documentation the directory of its documentation
 */
export function debianVersion(documentation: string, { debian }: Architecture): string | undefined {
  for (const name of [`changelog.Debian.${debian}.gz`, "changelog.Debian.gz"]) {
    const path = join(documentation, name);
    if (!existsSync(path)) continue;
    const [, version] = /^\S+ \(([^)]+)\)/.exec(gunzipSync(readFileSync(path)).toString()) ?? [];
    if (version !== undefined) return version;
  }
  return undefined;
}

function headerOf({ include }: Library): string {
  return join(include, "quickjs.h");
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
