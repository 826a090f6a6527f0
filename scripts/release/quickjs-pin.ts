/**
 * The QuickJS library that the native executable is linked with is pinned in quickjs-pin.json: another one may make another
 * program of the same source.
 */

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Architecture, ArchitectureName } from "./architecture.ts";

/** The QuickJS library for an architecture. */
export interface Library {
  readonly architecture: Architecture;
  /** The directory of its headers. */
  readonly include: string;
  /** The path of libquickjs.a. */
  readonly archive: string;
}

/** What quickjs-pin.json holds: SHA-256 sums in hexadecimal. */
export interface QuickJsPin {
  /** Of QuickJS itself. */
  readonly version: string;
  /** Of the Debian package `libquickjs`. */
  readonly packageVersion: string;
  /** Of quickjs.h. */
  readonly header: string;
  /** Of libquickjs.a. */
  readonly archives: Readonly<Partial<Record<ArchitectureName, string>>>;
}

const path = join(import.meta.dirname, "quickjs-pin.json");

/** Reads what is pinned. */
export function readPin(): QuickJsPin {
  return JSON.parse(readFileSync(path, "utf8"));
}

/**
 * Checks that a library is the pinned one.
 *
 * @throws when its archive or its header has another sum
 */
export function requirePinned(library: Library): void {
  const { version, packageVersion, header, archives } = readPin();
  const { name } = library.architecture;
  const files = [
    [library.archive, archives[name]],
    [headerOf(library), header],
  ] as const;
  for (const [file, expected] of files) {
    const found = sha256(file);
    if (found === expected) continue;
    throw new Error(
      `${file} is not the pinned QuickJS ${version} of Debian's libquickjs ${packageVersion}: expected SHA-256 ${expected ?? "none"}, found ${found}. ` +
        `If the library is the one that you want, \`npm run build:native -- --arch ${name} --accept-quickjs\` pins it in scripts/release/quickjs-pin.json.`,
    );
  }
}

/** Pins a library for its architecture. */
export function acceptLibrary(library: Library): void {
  const pin = readPin();
  const accepted: QuickJsPin = {
    ...pin,
    header: sha256(headerOf(library)),
    archives: { ...pin.archives, [library.architecture.name]: sha256(library.archive) },
  };
  writeFileSync(path, `${JSON.stringify(accepted, undefined, 2)}\n`);
}

function headerOf({ include }: Library): string {
  return join(include, "quickjs.h");
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
