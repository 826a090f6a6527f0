/**
 * Runs the scenarios of test/kubernetes, each with both executables in a cluster of its own.
 * What it needs and does not find it builds or fetches: Kubernetes takes twenty minutes, once.
 *
 * Usage: npm run test:kubernetes [-- OPTION... SCENARIO...]
 *
 *   --binaries DIR   with the programs in this directory, as upstream's server archive has them: kube-apiserver,
 *                    kube-controller-manager, kube-scheduler and kubelet, 1.27 or later; kubectl and etcd, too, or Debian's
 *   --write          also write docs/evidence/kubernetes.md and docs/data/kubernetes.json if none fails. What stands there
 *                    of the other programs stays, and of scenarios that are not run
 *   SCENARIO         only the files of these names, such as `pod-cidr`
 */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { obstacle } from "../../test/e2e/machine.ts";
import {
  kubernetesPage,
  type Results,
  resultOf,
  type ScenarioRun,
  updated,
} from "../../test/kubernetes/page.ts";
import { ownArchitecture } from "../build/architecture.ts";
import { root } from "../build/bundle.ts";
import { buildNative } from "../build/native.ts";
import { readRuns, writeResults } from "../pages/runs.ts";
import { makeRelease } from "../release/make.ts";
import { variantsFor } from "../release/release.ts";
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
    binaries: { type: "string", default: "" },
    write: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const files = chosenFiles();

// Both read it when they are loaded, as the scenarios do.
process.env.HOST_LOCAL_KUBERNETES = options.binaries && resolve(options.binaries);
const { needsOfCluster } = await import("../../test/kubernetes/needs.ts");
const { isGiven, obstacleOfGiven } = await import("../../test/kubernetes/programs.ts");

/** What all scenarios need together: those with containerd 2 need the newer plugins. */
const layers = [...(needsOfCluster("1.6").layers ?? []), ...(needsOfCluster("2").layers ?? [])];
const needs = { ...needsOfCluster("2"), layers };

const missing = await prepare();
if (missing === undefined) {
  await runScenarios();
} else {
  console.log(missing);
  process.exitCode = 1;
}

/** Builds and fetches; returns a sentence about what cannot be helped. */
async function prepare(): Promise<string | undefined> {
  // The plugins and the layers are fetched only where scenarios can run.
  const before = obstacleOfGiven() ?? obstacle({ ...needs, plugins: [], programs: [], layers: [] });
  if (before !== undefined) return before;
  runScript("go-plugins");
  if (!layers.every((layer) => existsSync(join(root, "build/clients", layer)))) {
    runScript("clients");
  }
  const further = obstacle({ ...needs, programs: [] });
  if (further !== undefined) return further;
  for (const script of ["kubectl", isGiven ? "etcd" : "kubernetes"]) runScript(script);
  runOrThrow(process.execPath, join(root, "scripts/build/portable.ts"));
  await buildNative();
  if (files.some((file) => ofRelease.test(nameOf(file)))) await makeOwnRelease();
  return obstacle(needs);
}

/** The image has only native executables. */
async function makeOwnRelease(): Promise<void> {
  await makeRelease({
    variants: variantsFor([ownArchitecture()]).filter(({ flavour }) => flavour === "native"),
    output: release,
    builder: "urn:host-local:test",
    allowChanges: true,
  });
}

async function runScenarios(): Promise<void> {
  const tally = new Tally();
  rmSync(record, { force: true });
  for (const file of files) {
    for (const [name, path] of Object.entries(executables)) {
      const before = recorded().length;
      const environment = {
        HOST_LOCAL_BIN: join(root, path),
        HOST_LOCAL_KUBERNETES_RUNS: record,
        HOST_LOCAL_RELEASE: release,
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
  const before: Results = JSON.parse(readFileSync(data, "utf8"));
  const programs = isGiven ? "given" : "built";
  const former = positionals.length === 0 ? [] : (before[programs] ?? []);
  const results: Results = { ...before, [programs]: updated(former, recorded()) };
  writeResults(data, results);
  writeFileSync(join(root, "docs/evidence/kubernetes.md"), kubernetesPage(results));
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
