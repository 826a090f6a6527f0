/** The test files, and what each of them uses. */

import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../build/bundle.ts";

/** Who imports one of these tests something else than functions of `src`. */
const resources = {
  /** An executable, from outside: such a test runs with each of the two. */
  executable: "test/harness/executable.ts",
  /** The Go plugin. */
  goPlugin: "test/harness/go-plugin.ts",
} as const;

/** A test file. */
export interface TestFile {
  /** Relative to the top of the repository. */
  readonly path: string;
  readonly usesExecutable: boolean;
  readonly usesGoPlugin: boolean;
  /** Whether it is about the native executable alone. */
  readonly isNative: boolean;
  /** Whether one executable is enough in the short extent. */
  readonly isOnceEnough: boolean;
  /** Whether it is left out of the short extent. */
  readonly isLong: boolean;
}

/** The operator commands are the same source in both executables, but for their own calls of the machine. */
const operatorSystemTests = ["entry", "layout", "reader", "install/install", "gc/live-pipe"].map(
  (name) => `test/operator/${name}.test.ts`,
);

/** The tests of commands. */
const houses = ["test/cli/", "test/cluster/", "test/operator/"];

/** What the system's files or its real clients decide, rather than the executable. */
const environmentTests = [
  ...["bridge-dual-stack", "bridge-kubenet", "macvlan", "ptp-ranges", "requested-address"].map(
    (name) => `e2e/${name}`,
  ),
  ...["small-subnet", "stale-bridge", "teeth"].map((name) => `e2e/${name}`),
  ...["debris", "disks", "streams", "unseen-changes"].map((name) => `faults/executables/${name}`),
  "conf-examples",
  "deploy/deploy",
].map((name) => `test/${name}.test.ts`);

/** Scenarios with real container runtimes. */
export const clientDirectory = "test/clients/";

/** Tests of a release, which `npm run test:release` runs. */
const releaseDirectory = "test/release/";

/** Stories in a Kubernetes cluster, which `npm run test:kubernetes` runs. */
const clusterDirectory = "test/kubernetes/";

/** The longest first, so that none of them runs alone in the end. */
const longest = [
  clientDirectory,
  "test/native/",
  "test/faults/executables/",
  "test/differential/",
  "test/blackbox/",
  "test/e2e/",
];

/** All test files but those that have a command of their own, in the order in which to run them. */
export function testFiles(): readonly TestFile[] {
  const rank = (path: string): number => {
    const at = longest.findIndex((directory) => path.startsWith(directory));
    return at < 0 ? longest.length : at;
  };
  return globSync("test/**/*.test.ts", { cwd: root })
    .filter((path) => !path.startsWith(releaseDirectory) && !isStory(path))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map((path) => {
      const imported = importedBy(path);
      return {
        path,
        usesExecutable: imported.has(resources.executable),
        usesGoPlugin: imported.has(resources.goPlugin),
        isNative: path.startsWith("test/native/"),
        isLong: path.startsWith(clientDirectory) && imported.has(resources.executable),
        isOnceEnough:
          environmentTests.includes(path) ||
          (houses.some((house) => path.startsWith(house)) && !operatorSystemTests.includes(path)),
      };
    });
}

/** The files of the stories in a Kubernetes cluster. */
export function storyFiles(): readonly string[] {
  return globSync(`${clusterDirectory}*.test.ts`, { cwd: root }).filter(isStory).sort();
}

/** Not so the test of the page about them, which uses no executable. */
function isStory(path: string): boolean {
  return path.startsWith(clusterDirectory) && importedBy(path).has(resources.executable);
}

/** An import or export of another file; the first group is there where it is one of types alone. */
const IMPORT = /^(?:im|ex)port (type )?[^;]*? from "(\.[^"]+\.ts)";$/gm;

/** A file and all that it imports, directly or not. */
function importedBy(path: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found;
  found.add(path);
  const text = readFileSync(join(root, path), "utf8");
  for (const [, isType, target = ""] of text.matchAll(IMPORT)) {
    if (isType === undefined) importedBy(join(dirname(path), target), found);
  }
  return found;
}
