// test: each executable
/** A full range hands out the addresses of pods whose network namespace is gone, with real ones; containerd#12130. */

import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { networkFor } from "../harness/executable-network.ts";
import {
  mountNamespace,
  processWith,
  skipOutsideHost,
  takeNamespace,
  withHighNumber,
} from "../harness/network-namespaces.ts";

test("ADD in a full range takes the addresses of pods whose namespaces are gone, and no other", {
  skip: skipOutsideHost,
}, async (t) => {
  const three = { subnet: "10.7.40.0/24", rangeStart: "10.7.40.2", rangeEnd: "10.7.40.4" };
  const network = networkFor(t, three);
  const namespaces = scratchDirectory(t);
  const pathOf = (id: string): string => join(namespaces, id);
  const mount = (id: string): void => withHighNumber(() => mountNamespace(t, pathOf(id)));
  const add = (id: string, netns = pathOf(id)) =>
    network.add(id, { netns, cniArgs: `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${id}` });
  for (const id of ["a", "b", "d", "e", "none"]) mount(id);
  add("a");
  add("b");
  t.same(add("c", `/proc/${await processWith(t)}/ns/net`).addresses, ["10.7.40.4"]);
  t.match(add("none").error?.msg, "no IP addresses available", "all live");

  for (const [gone, next, address] of [
    ["b", "d", "10.7.40.3"],
    ["a", "e", "10.7.40.2"],
  ] as const) {
    takeNamespace(pathOf(gone));
    t.same(add(next).addresses, [address]);
    t.match(add("none").error?.msg, "no IP addresses available", "all live again");
  }
});
