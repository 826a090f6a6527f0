/** place.ts: the plugin directory of the node, where install is given none. */

import { test } from "tap";
import { CommandError } from "../../../src/cli/command/command.ts";
import { chosenDirectory } from "../../../src/operator/install/place.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { contextOf, startOperator } from "../memory-node.ts";

/** The directory that is chosen on a node with these files, or why there is none and what can be done. */
function chosen(files: readonly string[], options = {}): string | readonly string[] {
  const machine = new MemoryMachine();
  for (const file of files) machine.disk.put(file, "");
  try {
    return chosenDirectory(contextOf(startOperator(machine).system, options));
  } catch (error) {
    if (error instanceof CommandError) return [error.message, ...error.lines];
    throw error;
  }
}

const LOOK =
  "Name the one that the runtime uses (host-local install DIR): bin_dir or bin_dirs in the configuration of containerd, plugin_dirs in that of CRI-O.";

test("the only one with a host-local is taken, without any /opt/cni/bin", async (t) => {
  t.equal(chosen(["/opt/cni/bin/bridge", "/run/cni/bin/host-local"]), "/run/cni/bin");
  t.equal(chosen(["/opt/cni/bin/bridge", "/run/cni/bin/bridge"]), "/opt/cni/bin");
});

test("of several none is taken: they are listed, with what was asked", async (t) => {
  const node = ["/opt/cni/bin/host-local", "/run/cni/bin/host-local", "/usr/lib/cni/bridge"];
  const lines = (options: string) => [
    `install: there is a host-local in several plugin directories. ${LOOK}`,
    `  host-local install /opt/cni/bin${options}    # containerd, CRI-O, RKE2, k0s, Flatcar`,
    `  host-local install /run/cni/bin${options}    # MicroShift`,
  ];
  t.same(chosen(node), lines(""));
  t.same(chosen(node, { "--uninstall": "" }), lines(" --uninstall"));
});

test("if there is no /opt/cni/bin either, the directories of the node are named", async (t) => {
  t.same(chosen(["/run/cni/bin/bridge"]), [
    `install: there is no directory /opt/cni/bin, and no host-local in another plugin directory. ${LOOK}`,
    "  host-local install /run/cni/bin    # MicroShift",
  ]);
});
