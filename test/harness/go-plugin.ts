/** The Go plugin to compare with, where the machine has one. */

import { accessSync, constants } from "node:fs";
import { dirname, join } from "node:path";
import { executable, run } from "./executable.ts";
import type { CallOptions } from "./executable-network.ts";
import { inRepository } from "./repository.ts";
import { versionCall } from "./runtime-call.ts";

/** A Go plugin that was found. */
export interface GoPlugin {
  readonly path: string;
  /** The specification versions that it supports, as its VERSION says: 1.0.0 is always among them. */
  readonly versions: readonly string[];
  /** The newest of these versions, for the configuration of a call. */
  readonly cniVersion: string;
  /** Whether it knows specification 1.1.0, as 1.9.1 does and Debian 12's 1.1.1 does not. */
  readonly current: boolean;
}

const { HOST_LOCAL_GO_BIN } = process.env;

/**
 * The paths at which a Go plugin may be: the one in `HOST_LOCAL_GO_BIN` (none if it is empty), else the newest one, fetched by
 * this project, then the system's own.
 */
const places =
  HOST_LOCAL_GO_BIN === undefined
    ? [inRepository("build/go-plugins/usr/lib/cni/host-local"), "/usr/lib/cni/host-local"]
    : [HOST_LOCAL_GO_BIN];

/** The Go plugin, or undefined where there is none. */
export const goPlugin: GoPlugin | undefined = find();

/** The reason for tap to skip what needs the Go plugin, or false where there is one. */
export const skipWithoutGoPlugin: string | false =
  goPlugin === undefined
    ? "There is no Go host-local for CNI 1.0.0 here to compare with; `npm run fetch -- go-plugins` fetches one."
    : false;

/** The Go plugin `static`, which is beside the Go host-local where both were installed together. */
export const goStatic = join(dirname(goPlugin?.path ?? ""), "static");

/** The reason for tap to skip what needs `static` of the recorded release, or false where there is one. */
export const skipWithoutGoStatic: string | false =
  skipWithoutGoPlugin ||
  (goPlugin?.current === true && isExecutable(goStatic)
    ? false
    : "There is no Go static for CNI 1.1.0 beside the Go host-local.");

/** Options that direct a network's call to the Go plugin, in the newest version that it supports. */
export const byGoPlugin: CallOptions = {
  program: goPlugin?.path ?? "",
  top: { cniVersion: goPlugin?.cniVersion ?? "1.0.0" },
};

function find(): GoPlugin | undefined {
  const path = places.find((place) => place !== executable && isExecutable(place));
  if (path === undefined) {
    return undefined;
  }
  const { supportedVersions: versions }: { supportedVersions: readonly string[] } = JSON.parse(
    run(path, versionCall()).stdout,
  );
  const cniVersion = ["1.1.0", "1.0.0"].find((version) => versions.includes(version));
  if (cniVersion === undefined) return undefined;
  return { path, versions, cniVersion, current: cniVersion === "1.1.0" };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
