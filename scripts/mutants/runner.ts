/**
 * Runs the unit tests for Stryker: many times in the same process, where its own runner for tap starts one for each test file
 * and mutant, which takes fifty times as long. The tests leave nothing changed, as those that share a process promise.
 */

import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import type { TestOpts } from "tap";
import { type CollectedTest, forget, testsOf } from "./collected-tests.ts";

/** What the changed source looks at, and notes. */
interface Instruments {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: unknown;
}

interface Wanted {
  readonly activeMutant: { readonly id: string };
  readonly sandboxFileName: string;
  /** `static`: it shows while a module is loaded. */
  readonly mutantActivation: "runtime" | "static";
  readonly reloadEnvironment: boolean;
  readonly testFilter?: readonly string[];
  readonly hitLimit?: number;
  /** Whether the tests after one that fails run, too. */
  readonly disableBail: boolean;
}

interface Options {
  readonly inOneProcess: { readonly testFiles: readonly string[] };
}

const instruments: Instruments = {};
Object.assign(globalThis, { __stryker__: instruments });

// Loaded with the channel to Stryker out of its sight, to which it would tell how long the process may take.
const { send } = process;
Reflect.deleteProperty(process, "send");
const { Test } = await import("tap");
Object.assign(process, { send });

const replacement = new URL("collected-tests.ts", import.meta.url).href;
const here = new URL(".", import.meta.url).href;

/** How often everything has been loaded; each time the modules are others, by their addresses. */
let generation = 0;

registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier === "tap" && context.parentURL?.startsWith(here) !== true) {
      return { url: replacement, shortCircuit: true };
    }
    const found = next(specifier, context);
    const isOwn = found.url.startsWith(pathToFileURL(`${process.cwd()}/`).href);
    const isLoadedAgain = isOwn && !found.url.includes("/node_modules/");
    return isLoadedAgain ? { ...found, url: `${found.url}?generation=${generation}` } : found;
  },
});

class InOneProcess {
  readonly #files: readonly string[];

  constructor({ inOneProcess }: Options) {
    this.#files = inOneProcess.testFiles;
  }

  capabilities() {
    return { reloadEnvironment: true };
  }

  async dryRun() {
    const tests = [];
    for (const test of await this.#testsOf(this.#files)) {
      instruments.currentTestId = test.id;
      const began = performance.now();
      // A test that leaves something changed would fail with each mutant: it has to pass a second time.
      const failure = (await failureOf(test)) ?? (await failureOf(test));
      const result = { id: test.id, name: test.id, timeSpentMs: performance.now() - began };
      tests.push(
        failure === undefined
          ? { ...result, status: 0 }
          : { ...result, status: 1, failureMessage: failure },
      );
    }
    instruments.currentTestId = undefined;
    return { status: "complete", tests, mutantCoverage: instruments.mutantCoverage };
  }

  async mutantRun(wanted: Wanted) {
    const { activeMutant, mutantActivation, reloadEnvironment, testFilter, hitLimit, disableBail } =
      wanted;
    if (reloadEnvironment) {
      generation++;
      forget();
    }
    instruments.activeMutant = undefined;
    if (mutantActivation === "runtime") await this.#testsOf(this.#files);
    instruments.hitCount = hitLimit === undefined ? undefined : 0;
    instruments.hitLimit = hitLimit;
    instruments.activeMutant = activeMutant.id;
    let nrOfTests = 0;
    const killedBy: string[] = [];
    for (const file of this.#ownFirst(wanted.sandboxFileName)) {
      let tests: readonly CollectedTest[];
      try {
        tests = await testsOf(file);
      } catch (error) {
        return { status: "killed", killedBy: [], failureMessage: String(error), nrOfTests };
      }
      for (const test of tests) {
        if (testFilter?.includes(test.id) === false) continue;
        nrOfTests++;
        const failure = await failureOf(test);
        if ((instruments.hitCount ?? 0) > (instruments.hitLimit ?? Number.POSITIVE_INFINITY)) {
          return { status: "timeout", reason: "it hardly ends" };
        }
        if (failure === undefined) continue;
        killedBy.push(test.id);
        if (!disableBail) break;
      }
      if (killedBy.length > 0 && !disableBail) break;
    }
    if (killedBy.length === 0) return { status: "survived", nrOfTests };
    return { status: "killed", killedBy, failureMessage: "tests fail", nrOfTests };
  }

  async #testsOf(files: readonly string[]): Promise<readonly CollectedTest[]> {
    const tests = [];
    for (const file of files) tests.push(...(await testsOf(file)));
    return tests;
  }

  /** The unit test of a source file is the likeliest to fail. */
  #ownFirst(source: string): readonly string[] {
    const own = source.replace(/^.*\/src\//, "test/").replace(/\.ts$/, ".test.ts");
    const isOwn = (file: string): boolean => file === own;
    return [...this.#files.filter(isOwn), ...this.#files.filter((file) => !isOwn(file))];
  }
}

/** What a test says, if it fails. */
async function failureOf({ id, run }: CollectedTest): Promise<string | undefined> {
  const options: TestOpts = { name: id };
  const all = new Test(options);
  all.resume();
  try {
    await all.test(id, run);
  } catch (error) {
    return String(error);
  }
  return all.counts.fail === 0 ? undefined : "it fails";
}

function make(options: Options): InOneProcess {
  return new InOneProcess(options);
}
make.inject = ["options"];

export const strykerPlugins = [{ kind: "TestRunner", name: "inOneProcess", factory: make }];
