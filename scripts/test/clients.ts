/**
 * Runs the scenarios with real container runtimes and prints the matrix of what they did.
 *
 * Usage: npm run test:clients [-- [--write] [--record] [--containerd DIR]... [--crio DIR] [--multus FILE] [--flannel FILE]]
 *
 *   --write         also write docs/evidence/compatibility.md and docs/data/compatibility.json
 *   --record        also write the calls of the clients to test/blackbox/client-calls, where tests without them read these
 *   --containerd DIR  a directory with containerd, ctr and containerd-shim-runc-v2 of a release beside those of Debian; of
 *                   several the last is the one that every scenario uses which needs one release only
 *   --crio DIR      a directory with CRI-O's programs crio and pinns, which Debian does not have
 *   --multus FILE   the program multus
 *   --flannel FILE  flannel's CNI plugin
 */

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  type ClientRun,
  compatibilityPage,
  latest,
  type Matrix,
} from "../../test/clients/matrix.ts";
import { layerPath } from "../../test/e2e/machine.ts";
import { root } from "../build/bundle.ts";
import { readRuns, writeResults } from "../pages/runs.ts";
import { testFiles, usesExecutable } from "./files.ts";

const path = { type: "string", default: "" } as const;
const flag = { type: "boolean", default: false } as const;
const { values: options } = parseArgs({
  options: {
    ...{ write: flag, record: flag, crio: path, multus: path, flannel: path },
    containerd: { type: "string", multiple: true, default: [] },
  },
});
const record = join(root, "build", "client-runs.jsonl");
const isUnpacked = existsSync(layerPath("user-mode-linux"));
const otherKernel = isUnpacked ? { HOST_LOCAL_USER_MODE_LINUX: "yes" } : {};
const given = {
  HOST_LOCAL_CONTAINERD: options.containerd
    .map((directory) => layerOf(resolve(directory)))
    .join(" "),
  HOST_LOCAL_CRIO: options.crio && resolve(options.crio),
  HOST_LOCAL_MULTUS: options.multus && resolve(options.multus),
  HOST_LOCAL_FLANNEL: options.flannel && resolve(options.flannel),
  ...(options.record ? { HOST_LOCAL_CLIENT_CALLS: join(root, "test/blackbox/client-calls") } : {}),
};
const files = testFiles()
  .filter((file) => file.path.startsWith("test/clients/") && usesExecutable(file))
  .map(({ path }) => path);

rmSync(record, { force: true });
const { status } = spawnSync(
  process.execPath,
  [join(root, "scripts/test/run.ts"), "--full", ...files],
  {
    stdio: "inherit",
    env: { ...process.env, HOST_LOCAL_CLIENT_RUNS: record, ...given, ...otherKernel },
  },
);

const data = join(root, "docs/data/compatibility.json");
const before: Matrix = JSON.parse(readFileSync(data, "utf8"));
const matrix: Matrix = { runs: latest(sorted(readRuns(record)), before.runs) };
const page = compatibilityPage(matrix);
console.log(
  page
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .join("\n"),
);
if (options.write) {
  writeResults(data, matrix);
  writeFileSync(join(root, "docs/evidence/compatibility.md"), page);
}
process.exitCode = status ?? 1;

/** Makes a layer of a directory with containerd's programs, and tells its release, such as `2.3`. */
function layerOf(directory: string): string {
  const { stdout } = spawnSync(join(directory, "containerd"), ["--version"], { encoding: "utf8" });
  const release = /(\d+\.\d+)\.\d+/.exec(stdout ?? "")?.[1];
  if (release === undefined)
    throw new Error(`--containerd: ${directory} has no containerd that starts`);
  const layer = layerPath(`containerd-${release}`);
  rmSync(layer, { recursive: true, force: true });
  mkdirSync(join(layer, "usr/bin"), { recursive: true });
  for (const program of ["containerd", "ctr", "containerd-shim-runc-v2"]) {
    copyFileSync(join(directory, program), join(layer, "usr/bin", program));
  }
  return release;
}

/** Sorts runs by client, since the scenarios of several files end in any order. */
function sorted(runs: readonly ClientRun[]): readonly ClientRun[] {
  const keyOf = ({ client, executable }: ClientRun) => `${client} ${executable}`;
  return runs.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b), "en", { numeric: true }));
}
