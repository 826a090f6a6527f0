/** Networks on data directories of their own, for executables. */

import { rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { type PriorFile, populate, scratchDirectory, treeOf } from "./data-directory.ts";
import { executable, type Outcome, run, start } from "./executable.ts";
import type { Machine } from "./machine.ts";
import { type CallOptions as AnyCallOptions, Network } from "./network.ts";
import type { RuntimeCall } from "./runtime-call.ts";

/** The differences between starts, besides the call of a runtime. */
interface StartOptions {
  /** The plugin to start instead of the executable under test. */
  readonly program?: string;
  /** The user number to run as. */
  readonly user?: number;
}

/** Options of a call, besides its verb and container. */
export type CallOptions = AnyCallOptions<ExecutableMachine>;

/** How often an undecided call is repeated at most. */
export const MOST_ATTEMPTS = 100;

/** Whether a GC kept everything since processes came and went while it looked, as on a busy machine. */
export function isUndecided({ stderr }: Pick<Outcome, "stderr">): boolean {
  return /^host-local: GC .*processes come and go/m.test(stderr);
}

/** A data directory on this machine, and executables that work on it. */
export class ExecutableMachine implements Machine {
  readonly dataDirectory: string;

  /** @param t the test after which the data directory is removed */
  constructor(t: Pick<Test, "teardown">) {
    this.dataDirectory = scratchDirectory(t);
  }

  runPlugin(call: RuntimeCall, { program = executable, ...user }: StartOptions = {}): Outcome {
    const make = (): Outcome => run(program, { ...call, ...userOf(user) });
    let outcome = make();
    for (let left = MOST_ATTEMPTS; isUndecided(outcome) && left > 0; left--) outcome = make();
    return outcome;
  }

  /** Starts the plugin like `runPlugin`, without waiting for its end. */
  startPlugin(
    call: RuntimeCall,
    { program = executable, ...user }: StartOptions,
  ): Promise<Outcome> {
    return start(program, { ...call, ...userOf(user) });
  }

  put(path: string, content: string): void {
    populate(this.dataDirectory, [{ path, content }]);
  }

  remove(path: string): void {
    rmSync(join(this.dataDirectory, path));
  }

  makeOld(path: string): void {
    const hourAgo = Date.now() / 1000 - 3600;
    utimesSync(join(this.dataDirectory, path), hourAgo, hourAgo);
  }

  tree() {
    return treeOf(this.dataDirectory, "whole");
  }
}

/** A network on this machine. */
export class ExecutableNetwork extends Network<ExecutableMachine> {
  /** Starts a call like the method of its verb, without waiting for its end. */
  begin(command: "ADD" | "DEL", containerId: string, options: CallOptions = {}): Promise<Outcome> {
    return this.machine.startPlugin(this.callFor(command, containerId, options), options);
  }
}

/**
 * Makes a network on an empty data directory, which is removed after the test.
 *
 * @param t the test that owns it
 * @param ipam the `ipam` section's members besides `type` and `dataDir`
 * @param files what stands in the data directory beforehand
 */
export function networkFor(
  t: Pick<Test, "teardown">,
  ipam: object,
  files: readonly PriorFile[] = [],
): ExecutableNetwork {
  const network = new ExecutableNetwork(new ExecutableMachine(t), ipam);
  populate(network.machine.dataDirectory, files);
  return network;
}

function userOf({ user }: Pick<StartOptions, "user">): { readonly user?: number } {
  return user === undefined ? {} : { user };
}
