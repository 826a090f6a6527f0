import type { Plugin } from "../cni/plugin.ts";
import { SUPPORTED_VERSIONS } from "../cni/version.ts";
import type { System } from "../system/system.ts";

declare const BUILD_VERSION: string;

/** No command: prints to standard error the Go plugin's two lines about itself, and its hint. */
export function about(system: System, { name, hint }: Plugin): void {
  system.writeStandardError(
    `CNI ${name} plugin ${BUILD_VERSION}\nCNI protocol versions supported: ${SUPPORTED_VERSIONS.join(", ")}\n${hint}`,
  );
}
