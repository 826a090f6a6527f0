/**
 * Runs the scenarios of test/kubernetes, each with both executables in a cluster of its own. What else it needs and does not
 * find it fetches from Debian: containerd, runc, main plugins, kubectl and etcd.
 *
 * Usage: npm run test:kubernetes -- --binaries DIR [OPTION... SCENARIO...]
 *
 *   --binaries DIR   with the programs in this directory, as upstream's server archive has them: kube-apiserver,
 *                    kube-controller-manager, kube-scheduler and kubelet, 1.33 or later; kubectl and etcd, too, or Debian's.
 *                    HOST_LOCAL_KUBERNETES names it, too
 *   --contained      in a node that is a container: in a PID namespace of its own, in place of the machine's first one
 *   --native         with the native executable alone
 *   --write          also write docs/evidence/kubernetes.md and docs/data/kubernetes.json if none fails. What stands there
 *                    of scenarios that are not run stays
 *   SCENARIO         only the files of these names, such as `pod-cidr`
 */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { layerPath, obstacle } from "../../test/e2e/machine.ts";
import { needsOfCluster } from "../../test/kubernetes/needs.ts";
import {
  kubernetesPage,
  resultOf,
  type ScenarioRun,
  shown,
  updated,
} from "../../test/kubernetes/page.ts";
import { obstacleOfPrograms } from "../../test/kubernetes/programs.ts";
import { ownArchitecture } from "../build/architecture.ts";
import { root } from "../build/bundle.ts";
import { buildNative } from "../build/native.ts";
import { readRuns, writeResults } from "../pages/runs.ts";
import { makeImage } from "../release/make.ts";
import { testFiles } from "./files.ts";
import { runTestFiles } from "./process.ts";
import { Tally } from "./tally.ts";

const executables = { native: "dist/native/host-local", portable: "dist/host-local" };

/** Scenarios of these names run the image of a release. */
const ofRelease = /^daemonset/;

const release = join(root, "build", "kubernetes-release");

const record = join(root, "build", "kubernetes-runs.jsonl");

/** A scenario waits for a cluster to come up; in seconds. */
const LONGEST = 1800;

const { values: options, positionals } = parseArgs({
  options: {
    binaries: { type: "string", default: process.env.HOST_LOCAL_KUBERNETES ?? "" },
    contained: { type: "boolean", default: false },
    native: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const files = chosenFiles();

const missing = await prepare();
if (missing === undefined) {
  await runScenarios();
} else {
  console.log(missing);
  process.exitCode = 1;
}

/** Fetches and builds; returns a sentence about what cannot be helped. */
async function prepare(): Promise<string | undefined> {
  // Nothing is fetched where scenarios cannot run.
  const before =
    obstacleOfPrograms(options.binaries) ??
    obstacle({ ...needsOfCluster, plugins: [], programs: [], layers: [] });
  if (before !== undefined) return before;
  runScript("go-plugins");
  if (!needsOfCluster.layers.every((layer) => existsSync(layerPath(layer)))) runScript("clients");
  for (const script of ["kubectl", "etcd"]) runScript(script);
  runOrThrow(process.execPath, join(root, "scripts/build/portable.ts"));
  await buildNative();
  if (files.some((file) => ofRelease.test(nameOf(file)))) await makeOwnImage();
  return obstacle(needsOfCluster);
}

/** The image has only native executables. */
async function makeOwnImage(): Promise<void> {
  await makeImage({
    architectures: [ownArchitecture()],
    output: release,
    image: undefined,
    allowChanges: true,
  });
}

async function runScenarios(): Promise<void> {
  const tally = new Tally();
  rmSync(record, { force: true });
  for (const file of files) {
    for (const [name, path] of Object.entries(executables)) {
      if (options.native && name !== "native") continue;
      const before = recorded().length;
      const environment = {
        HOST_LOCAL_BIN: join(root, path),
        HOST_LOCAL_KUBERNETES: resolve(options.binaries),
        HOST_LOCAL_KUBERNETES_RUNS: record,
        HOST_LOCAL_RELEASE: release,
        ...(options.contained && { HOST_LOCAL_KUBERNETES_CONTAINED: "yes" }),
      };
      const results = await runTestFiles([file], environment, LONGEST);
      for (const run of recorded().slice(before)) print(run);
      for (const result of results) tally.add(result, name);
    }
  }
  tally.conclude();
  if (!options.write) return;
  if (process.exitCode === 0) writePage();
  else console.log("The page stays as it is, as not all scenarios have passed.");
}

function writePage(): void {
  const data = join(root, "docs/data/kubernetes.json");
  const former: readonly ScenarioRun[] = JSON.parse(readFileSync(data, "utf8"));
  const runs = updated(
    former.filter(({ title }) => title in shown),
    recorded(),
  );
  writeResults(data, runs);
  writeFileSync(join(root, "docs/evidence/kubernetes.md"), kubernetesPage(runs));
}

function chosenFiles(): readonly string[] {
  const all = testFiles()
    .filter(({ words }) => words.has("cluster"))
    .map(({ path }) => path);
  const unknown = positionals.find((name) => !all.some((file) => nameOf(file) === name));
  if (unknown !== undefined) {
    throw new Error(`There is no scenario ${unknown}: they are ${all.map(nameOf).join(", ")}.`);
  }
  return positionals.length === 0 ? all : all.filter((file) => positionals.includes(nameOf(file)));
}

function nameOf(file: string): string {
  return basename(file, ".test.ts");
}

function print(run: ScenarioRun): void {
  console.log(`${run.title} (${run.executable}): ${resultOf(run)}`);
}

function recorded(): readonly ScenarioRun[] {
  return readRuns(record);
}

function runScript(name: string): void {
  runOrThrow("bash", join(root, "scripts", "fetch", `${name}.sh`));
}

function runOrThrow(program: string, ...words: readonly string[]): void {
  const { status } = spawnSync(program, words, { stdio: "inherit" });
  if (status !== 0) throw new Error(`${[program, ...words].join(" ")} failed.`);
}
