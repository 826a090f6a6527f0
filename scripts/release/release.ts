/** What a release consists of: for each architecture and flavour one executable, and the files that go with it. */

import type { Architecture, ArchitectureName } from "../build/architecture.ts";
import type { Component } from "./component.ts";

/** Which of the two executables. */
export type Flavour = "native" | "portable";

/** An executable that a release has. */
export interface Variant {
  readonly flavour: Flavour;
  readonly architecture: Architecture;
}

/** An executable that was built, and what it consists of besides this project. */
export interface BuiltVariant extends Variant {
  /** The path of the executable. */
  readonly executable: string;
  readonly components: readonly Component[];
}

/** The commit that is released. */
export interface Source {
  /** The version as in the names of files, without the `v`. */
  readonly version: string;
  /** 40 hexadecimal digits. */
  readonly commit: string;
  /** When it was committed, in seconds since 1970; the time of everything in the release. */
  readonly time: number;
  /** Whether files differ from the commit. */
  readonly modified: boolean;
}

/** A file that is installed or unpacked, wherever a package puts it. */
export type ReleaseFile = {
  /** Relative to the top of an archive. */
  readonly name: string;
  readonly mode: 0o755 | 0o644;
} & (
  | { readonly from: string }
  | { readonly text: string | Uint8Array }
  | { readonly linkTo: string }
);

/** The portable executable is built for these. */
const portableArchitectures: readonly ArchitectureName[] = ["amd64", "arm64"];

/** The executables of a release for some architectures. */
export function variantsFor(architectures: readonly Architecture[]): readonly Variant[] {
  return architectures.flatMap((architecture): readonly Variant[] => [
    { flavour: "native", architecture },
    ...(portableArchitectures.includes(architecture.name)
      ? [{ flavour: "portable", architecture } as const]
      : []),
  ]);
}

/** The name of everything that belongs to an executable, without its ending, such as `host-local-linux-arm64-v1.0.0`. */
export function nameOf({ flavour, architecture }: Variant, version: string): string {
  const program = flavour === "native" ? "host-local" : "host-local-portable";
  return `${program}-linux-${architecture.name}-v${version}`;
}
