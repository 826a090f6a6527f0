// test: each executable
/** A full range hands out the addresses of pods whose network namespace is gone, with real ones; containerd#12130. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { type CallOptions, networkFor } from "../harness/executable-network.ts";
import {
  mountNamespace,
  processWith,
  skipOutsideHost,
  takeNamespace,
  withHighNumber,
} from "../harness/network-namespaces.ts";

/** Three addresses. */
const three = { subnet: "10.7.40.0/24", rangeStart: "10.7.40.2", rangeEnd: "10.7.40.4" };

/** A network, and pods with namespaces as a runtime mounts them. */
function nodeFor(t: Test) {
  const namespaces = scratchDirectory(t);
  const network = networkFor(t, three);
  const pathOf = (id: string): string => join(namespaces, id);
  const add = (id: string, netns: string, options: CallOptions = {}) =>
    network.add(id, {
      netns,
      cniArgs: `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${id}`,
      ...options,
    });
  return {
    network,
    add,
    run: (id: string, options?: CallOptions) => {
      withHighNumber(() => mountNamespace(t, pathOf(id)));
      return add(id, pathOf(id), options);
    },
    lose: (id: string) => {
      takeNamespace(pathOf(id));
      rmSync(pathOf(id));
    },
    leavePath: (id: string) => {
      takeNamespace(pathOf(id));
    },
  };
}

test("ADD in a full range takes the addresses of pods whose namespaces are gone, and no other", {
  skip: skipOutsideHost,
}, async (t) => {
  const { run, add, lose, leavePath } = nodeFor(t);
  run("a");
  run("b");
  const process = await processWith(t);
  t.same(add("c", `/proc/${process}/ns/net`).addresses, ["10.7.40.4"]);
  t.match(run("none").error?.msg, "no IP addresses available", "all live");
  lose("none");
  lose("b");

  t.same(run("d").addresses, ["10.7.40.3"]);
  t.match(run("no").error?.msg, "no IP addresses available", "all live again");
  lose("no");
  leavePath("a");
  t.same(run("e").addresses, ["10.7.40.2"], "the path is a plain file");
});

test("ADD takes a requested address from a pod whose namespace is gone, and a container its own", {
  skip: skipOutsideHost,
}, async (t) => {
  const { run, lose, network } = nodeFor(t);
  run("a");
  run("b", { cniArgs: "" });
  lose("a");
  const cniArgs = "IgnoreUnknown=1;IP=10.7.40.2";
  t.same(network.add("c", { cniArgs }).addresses, ["10.7.40.2"]);
  lose("b");
  t.same(run("b").addresses, ["10.7.40.3"]);
});

test("ADD reclaims nothing of a container that is no pod's sandbox, nor with reclaim never", {
  skip: skipOutsideHost,
}, async (t) => {
  const { run, lose, network } = nodeFor(t);
  run("a", { cniArgs: "" });
  network.add("b", { netns: "/dev/null", cniArgs: "" });
  run("c");
  lose("a");
  t.match(run("none").error?.msg, "no IP addresses available");
  lose("none");
  lose("c");
  t.match(run("no", { ipam: { reclaim: "never" } }).error?.msg, "no IP addresses available");
  lose("no");
  t.same(run("d").addresses, ["10.7.40.4"]);
});
