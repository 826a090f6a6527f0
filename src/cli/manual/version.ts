import { SUPPORTED_VERSIONS } from "../../cni/version.ts";
import type { Command } from "../command/command.ts";

declare const BUILD_VERSION: string;

/** `version`: prints the version. */
export const version: Command = {
  name: "version",
  operands: "",
  summary: "print the version",
  description: [
    "Prints the version of this executable and the versions of the CNI specification that it supports. host-local --version does the same.",
  ],
  options: [],
  examples: [{ line: "host-local version --json", effect: "print both as JSON" }],
  run: () => ({
    exitCode: 0,
    document: () => ({ version: BUILD_VERSION, cniVersions: SUPPORTED_VERSIONS }),
    text: () => `host-local ${BUILD_VERSION}\nCNI versions: ${SUPPORTED_VERSIONS.join(", ")}\n`,
  }),
};
