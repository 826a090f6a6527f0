/** Two data directories side by side, one for each plugin, taken through the same steps. */

import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Test } from "tap";
import { comparable } from "../blackbox/comparison.ts";
import { populate, scratchDirectory, type TreeEntry, treeOf } from "../harness/data-directory.ts";
import { executable, type Outcome, start } from "../harness/executable.ts";
import { readError } from "../harness/printed-error.ts";
import type { JsonObject } from "../harness/runtime-call.ts";
import { placeholder } from "./random-configuration.ts";
import { type CallStep, ownedBy, type Step, type TamperStep } from "./step.ts";

/** The views of both sides after a step; they should be equal. */
export interface Sight {
  readonly here: unknown;
  readonly reference: unknown;
}

/** Two data directories. */
export interface TwoSides {
  /** Takes a step on both sides. */
  readonly take: (step: Step) => Promise<Sight>;
  /** The files on the Go plugin's side. */
  readonly tree: () => TreeEntry[];
}

/** The comment is in Latin-1. */
const resolvConf =
  "# raum 7 \xa7\nnameserver 192.0.2.53\nsearch a.example\nsearch b.example\noptions ndots:2\n";

/**
 * Makes two data directories that are gone after the test.
 *
 * @param t the test that owns them
 * @param goPlugin the path of the Go plugin
 */
export function twoSides(t: Pick<Test, "teardown">, goPlugin: string): TwoSides {
  const here = scratchDirectory(t);
  const reference = scratchDirectory(t);
  for (const directory of [here, reference]) {
    populate(directory, [{ path: "resolv.conf", content: resolvConf }]);
  }

  let tree = treeOf(reference);

  const callBoth = async ({ call }: CallStep): Promise<Sight> => {
    const [ours, theirs] = await Promise.all([
      callOn(here, executable, call),
      callReference(reference, goPlugin, call),
    ]);
    if (theirs.exitCode !== 0 && call.environment.CNI_COMMAND === "ADD") {
      giveBack(reference, tree, call.environment);
    }
    tree = treeOf(reference);
    // GC without a list reports that on standard error, see "GC frees addresses of attachments that no longer exist" in
    // blackbox/differences.ts.
    const stderr = call.environment.CNI_COMMAND === "GC" ? theirs.stderr : ours.stderr;
    return {
      here: {
        answer: comparable({ ...ours, stderr }, theirs),
        files: comparableFiles(treeOf(here)),
      },
      reference: {
        answer: comparable(theirs, theirs),
        files: comparableFiles(tree),
      },
    };
  };

  return {
    take: async (step) => {
      if (step.kind === "call") {
        return callBoth(step);
      }
      tamper(here, step);
      tamper(reference, step);
      tree = treeOf(reference);
      return {
        here: comparableFiles(treeOf(here)),
        reference: comparableFiles(tree),
      };
    },
    tree: () => tree,
  };
}

/**
 * Calls the Go plugin. If it refuses a DEL for its configuration, the DEL is repeated with a valid one: see "DEL frees
 * addresses whatever else the configuration says" in blackbox/differences.ts.
 */
async function callReference(
  directory: string,
  path: string,
  call: CallStep["call"],
): Promise<Outcome> {
  const outcome = await callOn(directory, path, call);
  const { CNI_COMMAND } = call.environment;
  if (CNI_COMMAND !== "DEL" || readError(outcome.stdout)?.code !== 999) {
    return outcome;
  }
  const { cniVersion = "", name }: JsonObject = JSON.parse(call.stdin);
  const ipam = { dataDir: placeholder, subnet: "203.0.113.0/24" };
  return callOn(directory, path, {
    environment: { ...call.environment, CNI_ARGS: "" },
    stdin: JSON.stringify({ cniVersion, name: name ?? "", ipam }),
  });
}

async function callOn(
  directory: string,
  program: string,
  { environment, stdin }: CallStep["call"],
): Promise<Outcome> {
  const outcome = await start(program, {
    environment,
    stdin: stdin.replaceAll(placeholder, directory),
  });
  return {
    exitCode: outcome.exitCode,
    stdout: outcome.stdout.replaceAll(directory, placeholder),
    stderr: outcome.stderr.replaceAll(directory, placeholder),
  };
}

/**
 * Puts back the addresses that a failed ADD of the Go plugin took from earlier calls: see "A failed ADD gives back what it
 * reserved itself, and nothing else" in blackbox/differences.ts.
 */
function giveBack(
  directory: string,
  before: readonly TreeEntry[],
  environment: Readonly<Record<string, string>>,
): void {
  const { CNI_CONTAINERID: containerId = "", CNI_IFNAME: interfaceName = "" } = environment;
  const left = new Set(treeOf(directory).map(({ path }) => path));
  const { exact, legacy } = ownedBy(before, containerId, interfaceName);
  populate(
    directory,
    [...exact, ...legacy].filter(({ path }) => !left.has(path)),
  );
}

/**
 * The files that both sides promise. An empty network directory and the lock file may be missing
 * here: see "DEL, CHECK, GC and STATUS create no network directory" in blackbox/differences.ts.
 */
function comparableFiles(tree: readonly TreeEntry[]): readonly TreeEntry[] {
  return tree.filter(({ path }) => !/^[^/]+\/(lock)?$/.test(path));
}

function tamper(directory: string, { kind, path, content }: TamperStep): void {
  const target = join(directory, path);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(dirname(target), { recursive: true });
  switch (kind) {
    case "write":
      populate(directory, [{ path, content }]);
      break;
    case "directory":
      mkdirSync(target);
      break;
    case "link":
      symlinkSync(content, target);
      break;
    case "remove":
      break;
  }
}
