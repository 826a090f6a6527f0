/** Where the plugin runs: a machine in memory, or this one. */

import type { TreeEntry } from "./data-directory.ts";
import type { RuntimeCall } from "./runtime-call.ts";

/** The outcome of a call, as its caller sees it. */
export interface Outcome {
  /** The exit code; neither 0 nor 1 if the call was killed. */
  readonly exitCode: number | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where the plugin runs: a data directory, and calls that work on it. */
export interface Machine {
  readonly dataDirectory: string;
  /** Runs a call of the plugin to its end. */
  runPlugin(call: RuntimeCall, options?: object): Outcome;
  /** Puts a file below the data directory, with its directories; a path that ends with a slash is a directory's. */
  put(path: string, content: string): void;
  /** Removes a file below the data directory. */
  remove(path: string): void;
  /** Dates a file an hour back: then no process can be in the middle of writing it. */
  makeOld(path: string): void;
  /** Everything below the data directory, in the order of the paths. */
  tree(): readonly TreeEntry[];
}
