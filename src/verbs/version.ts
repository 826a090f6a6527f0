import { versionDocument } from "../cni/version.ts";
import type { System } from "../system/system.ts";

/** VERSION: prints the supported versions of the specification. */
export function version(system: System): void {
  system.writeStandardOutput(versionDocument());
}
