/** A behaviour of the plugin, which is the same in memory and in each executable when a runtime calls it. */

import { type Test, test } from "tap";
import type { Need } from "../../scripts/test/files.ts";
import { skipWithoutExecutable } from "../harness/executable.ts";
import { ExecutableMachine } from "../harness/executable-network.ts";
import type { Machine } from "../harness/machine.ts";
import { MemoryMachine, type Outcome } from "../harness/memory-machine.ts";
import { lacking } from "../harness/needs.ts";
import { type Answer, Network } from "../harness/network.ts";
import { printError } from "../harness/printed-error.ts";
import type { RuntimeCall } from "../harness/runtime-call.ts";

/** The state before the first call. */
export interface Setting {
  /** Members of `ipam`; {@link five} by default. */
  readonly ipam?: object;
  /** Reservations, and other files of the network's directory, by their names. */
  readonly files?: Readonly<Record<string, string>>;
  /** The needs of the machine that the executable runs on; in memory all are met. */
  readonly needs?: readonly Need[];
}

/** Five addresses, 198.51.100.2 to 198.51.100.6. */
export const five = { subnet: "198.51.100.0/29" };

/** Five addresses of each family. */
export const dualStack = { ranges: [[five], [{ subnet: "2001:db8::/125" }]] };

/** A machine on which no two calls happen at the same time, as on a real one. */
class TimedMachine extends MemoryMachine {
  override runPlugin(call: RuntimeCall): Outcome {
    this.wait(1);
    return super.runPlugin(call);
  }
}

/**
 * Expects a behaviour of the plugin in memory, and of the executable under test.
 *
 * @param title the behaviour, beginning with the command
 * @param setting the state beforehand
 * @param body makes the calls, and checks their outcomes
 */
export function behaviour(
  title: string,
  { ipam = five, files = {}, needs = [] }: Setting,
  body: (t: Test, network: Network<Machine>) => void,
): void {
  const on = (t: Test, machine: Machine): void => {
    const network = new Network(machine, ipam);
    for (const [name, content] of Object.entries(files)) network.put(name, content);
    body(t, network);
    t.end();
  };
  test(`${title} (in memory)`, (t) => {
    const machine = new TimedMachine();
    on(t, machine);
  });
  const options = { skip: skipWithoutExecutable || lacking(...needs) };
  test(title, options, (t) => on(t, new ExecutableMachine(t)));
}

/** Expects that a call succeeded without any output. */
export function succeeds(t: Test, { exitCode, stdout, stderr }: Answer<Machine>): void {
  t.same([exitCode, stdout, stderr], [0, "", ""]);
}

/**
 * Expects one error object, printed as the Go plugin prints it.
 *
 * @param code the error code
 * @param msg the message, or a part of it
 */
export function fails(
  t: Test,
  { exitCode, error, stdout }: Answer<Machine>,
  code: number,
  msg: string | RegExp = /./,
): void {
  t.match(error, { code, msg });
  t.equal(exitCode, 1);
  t.equal(stdout, error && printError(error), "printed as the Go plugin prints it");
}

/** Expects that a body leaves the data directory as it is. */
export function changesNothing(t: Test, { machine }: Network<Machine>, body: () => void): void {
  const before = machine.tree();
  body();
  t.strictSame(machine.tree(), before, "nothing was changed");
}

/**
 * The options of a call for a pod of the namespace `default`.
 *
 * @param others further pairs of `CNI_ARGS`
 */
export function pod(name: string, ...others: readonly string[]): { readonly cniArgs: string } {
  const own = ["IgnoreUnknown=1", "K8S_POD_NAMESPACE=default", `K8S_POD_NAME=${name}`];
  return { cniArgs: [...own, ...others].join(";") };
}
