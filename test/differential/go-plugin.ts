/** The Go plugin to compare with, where the machine has one. */

import { accessSync, constants } from "node:fs";
import { executable, inRepository, run } from "../blackbox/executable.ts";
import { versionCall } from "../blackbox/runtime-call.ts";

/** A Go plugin that was found. */
export interface GoPlugin {
  readonly path: string;
  /** The specification versions that it supports, by its own word. */
  readonly versions: readonly string[];
  /** Whether it is of the family that knows specification 1.1.0 (1.9.1, not Debian 12's 1.1.1). */
  readonly current: boolean;
}

const { HOST_LOCAL_GO_BIN } = process.env;

/** Where a Go plugin may be: as told, the newest one fetched by this project, the system's own. */
const places =
  HOST_LOCAL_GO_BIN === undefined
    ? [inRepository("build/go-plugins/usr/lib/cni/host-local"), "/usr/lib/cni/host-local"]
    : [HOST_LOCAL_GO_BIN];

/** The Go plugin, or undefined where there is none. */
export const goPlugin: GoPlugin | undefined = find();

/** The reason for tap to skip what needs the Go plugin, or false where there is one. */
export const skipWithoutGoPlugin: string | false =
  goPlugin === undefined
    ? "There is no Go host-local on this machine to compare with; `npm run fetch-go-plugins` fetches one."
    : false;

function find(): GoPlugin | undefined {
  const path = places.find((place) => place !== executable && isExecutable(place));
  if (path === undefined) {
    return undefined;
  }
  const { supportedVersions: versions }: { supportedVersions: readonly string[] } = JSON.parse(
    run(path, versionCall()).stdout,
  );
  return { path, versions, current: versions.includes("1.1.0") };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
