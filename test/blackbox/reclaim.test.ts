// test: each executable, sees the node, makes namespaces
/** A full range hands out the addresses of pods whose network namespace is gone, with real ones; containerd#12130. */

import { join } from "node:path";
import { test } from "tap";
import { injectionObstacle } from "../faults/executables/injection.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { MOST_ATTEMPTS, networkFor } from "../harness/executable-network.ts";
import { lacking } from "../harness/needs.ts";
import {
  mountNamespace,
  processWith,
  takeNamespace,
  withHighNumber,
} from "../harness/network-namespaces.ts";
import { withoutHandles } from "../harness/without-handles.ts";

for (const [kernel, skip] of [
  ["with the kernel's handles, where it gives them", false],
  ["as before Linux 6.18", injectionObstacle() ?? false],
] as const) {
  test(`a full range: ADD takes addresses of pods whose namespaces are gone, only these: ${kernel}`, {
    skip: lacking("sees the node", "makes namespaces") || skip,
  }, async (t) => {
    const program = kernel.startsWith("as") ? withoutHandles(t) : executable;
    const three = {
      subnet: "198.51.100.0/24",
      rangeStart: "198.51.100.2",
      rangeEnd: "198.51.100.4",
    };
    const network = networkFor(t, three);
    const namespaces = scratchDirectory(t);
    const pathOf = (id: string): string => join(namespaces, id);
    const mount = (id: string): void => withHighNumber(() => mountNamespace(t, pathOf(id)));
    const add = (id: string, netns = pathOf(id)) =>
      network.add(id, {
        program,
        netns,
        cniArgs: `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${id}`,
      });
    // No namespace is known to be gone while processes come and go, as on a busy machine.
    const addOnceSeen = (id: string): readonly string[] => {
      for (let left = MOST_ATTEMPTS; left > 0; left--) {
        const { addresses } = add(id);
        if (addresses.length > 0) return addresses;
      }
      return [];
    };
    for (const id of ["a", "b", "d", "e", "none"]) mount(id);
    add("a");
    add("b");
    t.same(add("c", `/proc/${await processWith(t)}/ns/net`).addresses, ["198.51.100.4"]);
    t.match(add("none").error?.msg, "no IP addresses available", "all live");

    for (const [gone, next, address] of [
      ["b", "d", "198.51.100.3"],
      ["a", "e", "198.51.100.2"],
    ] as const) {
      takeNamespace(pathOf(gone));
      t.same(addOnceSeen(next), [address]);
      t.match(add("none").error?.msg, "no IP addresses available", "all live again");
    }
  });
}
