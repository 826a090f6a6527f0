import { versionDocument } from "../cni/version.ts";
import type { System } from "../system/system.ts";

/** VERSION: prints the versions of the specification that are spoken. */
export function version(system: System): void {
  system.writeStandardOutput(versionDocument());
}
