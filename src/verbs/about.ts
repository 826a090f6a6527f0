import { SUPPORTED_VERSIONS } from "../cni/version.ts";
import type { System } from "../system/system.ts";

declare const BUILD_VERSION: string;

/** No command: prints to standard error the reference's two lines about the plugin, and a hint at the operator's tool. */
export function about(system: System): void {
  system.writeStandardError(
    `CNI host-local plugin ${BUILD_VERSION}\nCNI protocol versions supported: ${SUPPORTED_VERSIONS.join(", ")}\nWith arguments it is a tool for operators: host-local --help\n`,
  );
}
