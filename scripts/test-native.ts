/**
 * Builds the native executable and runs against it every test that works on an executable from
 * outside. Where something for the build is missing (no Debian, no compiler), it says so and leaves it at that.
 *
 * Usage: `npm run test:native`, after the tests of the portable executable in `npm test`.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { buildNative, MissingTool } from "./build-native.ts";
import { root } from "./bundle.ts";

const files = [
  "test/blackbox/*.test.ts",
  "test/differential/*.test.ts",
  "test/e2e/*.test.ts",
  "test/native/*.test.ts",
  "test/operator/**/*.test.ts",
  "test/faults/executables/*.test.ts",
  "test/conf-examples.test.ts",
];

let executable: string | undefined;
try {
  executable = await buildNative();
} catch (error) {
  if (!(error instanceof MissingTool)) throw error;
  console.log(`The native executable is not tested, for it cannot be built here. ${error}`);
}
if (executable !== undefined) {
  console.log(`Testing ${executable}`);
  const { status } = spawnSync(join(root, "node_modules", ".bin", "tap"), files, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, HOST_LOCAL_BIN: executable },
  });
  process.exitCode = status ?? 1;
}
