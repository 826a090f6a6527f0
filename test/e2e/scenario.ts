/**
 * Scenarios with real plugins and real packets. Each runs in namespaces of its own (network, mounts,
 * processes): the file that declares it is started once more inside, so that bridges, addresses
 * and reservations vanish with the scenario and no packet can leave.
 */

import tap, { type Test } from "tap";
import { Host } from "./host.ts";
import { mainPlugins, type Needs, namespaces, obstacle } from "./machine.ts";

/** Set inside: the name of the scenario that the namespaces were made for. */
const marker = "HOST_LOCAL_E2E_SCENARIO";

/**
 * Declares a scenario.
 *
 * @param name the behaviour
 * @param needs what it needs; where that is missing the test is skipped and says so
 * @param body the scenario, inside the namespaces
 */
export function scenario(name: string, needs: Needs, body: (t: Test, host: Host) => void): void {
  const inside = process.env[marker];
  if (inside === undefined) {
    startInNamespaces(name, needs);
  } else if (inside === name) {
    const directory = mainPlugins(needs) ?? "";
    tap.test(name, async (t) => body(t, new Host(directory)));
  }
}

function startInNamespaces(name: string, needs: Needs): void {
  const skip = obstacle(needs);
  if (skip !== undefined) {
    tap.test(name, { skip }, () => {});
    return;
  }
  const thisFile = process.argv[1] ?? "";
  const command = [...namespaces, process.execPath, thisFile];
  tap.spawn("unshare", command, { env: { ...process.env, [marker]: name } }, name);
}
