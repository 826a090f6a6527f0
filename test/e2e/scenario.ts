/**
 * Scenarios with real plugins and real packets. Each runs in namespaces of its own (network, mounts,
 * processes): the file that declares it is started once more inside, so that bridges, addresses
 * and reservations vanish with the scenario and no packet can leave.
 */

import { readlinkSync } from "node:fs";
import tap, { type Test } from "tap";
import { Host } from "./host.ts";
import {
  kernelFor,
  layerPath,
  mainPlugins,
  type Needs,
  namespacesFor,
  obstacle,
  removeCgroup,
} from "./machine.ts";

/** The variable, set inside, with the name of the scenario that the namespaces were made for. */
const marker = "HOST_LOCAL_E2E_SCENARIO";

/** The variable, set inside, with the cgroup below which all cgroups of the scenario have to be. */
const cgroupMarker = "HOST_LOCAL_E2E_CGROUP";

/** The variable, set inside, with the mount namespace of the process that has started it. */
const outsideMarker = "HOST_LOCAL_E2E_OUTSIDE";

function mountNamespace(): string {
  return readlinkSync("/proc/self/ns/mnt");
}

/** The cgroups of the scenarios that this file has declared. */
const cgroups: string[] = [];
process.on("exit", () => cgroups.forEach(removeCgroup));

/** The cgroup below which all cgroups of this scenario have to be, such as `host-local-test-17-0`. */
export const cgroupOfScenario: string = process.env[cgroupMarker] ?? "";

/**
 * Makes sure that this process is in namespaces of its own.
 *
 * @throws Error if it is not: then a scenario would change the machine itself
 */
function requireNamespaces(): void {
  const outside = process.env[outsideMarker];
  if (process.pid === 1 || (outside !== undefined && outside !== mountNamespace())) return;
  throw new Error(`${marker} is set outside of a scenario: unset it.`);
}

/**
 * Declares a scenario.
 *
 * @param name the behaviour
 * @param needs its needs; if one is not met, the test is skipped and says so
 * @param body the scenario, inside the namespaces
 * @returns why it is skipped, undefined if it runs
 */
export function scenario(
  name: string,
  needs: Needs,
  body: (t: Test, host: Host) => void | Promise<void>,
): string | undefined {
  const inside = process.env[marker];
  if (inside === undefined) return startInNamespaces(name, needs);
  requireNamespaces();
  if (inside === name) {
    const directory = mainPlugins(needs) ?? "";
    const layers = (needs.layers ?? []).map(layerPath);
    tap.test(name, async (t) => body(t, new Host(directory, layers)));
  }
  return undefined;
}

function startInNamespaces(name: string, needs: Needs): string | undefined {
  const skip = obstacle(needs);
  if (skip !== undefined) {
    tap.test(name, { skip }, () => {});
    return skip;
  }
  const thisFile = process.argv[1] ?? "";
  const command = ["unshare", ...namespacesFor(needs), process.execPath, thisFile];
  const [program = "", ...args] = [...kernelFor(needs), ...command];
  const cgroup = `host-local-test-${process.pid}-${cgroups.length}`;
  cgroups.push(cgroup);
  const inside = { [marker]: name, [cgroupMarker]: cgroup, [outsideMarker]: mountNamespace() };
  const env = { ...process.env, HOST_LOCAL_RUNTIME_DIR: undefined, ...inside };
  tap.spawn(program, args, { env }, name);
  return undefined;
}
