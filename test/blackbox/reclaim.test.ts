// test: each executable
/** A full range hands out the addresses of pods whose network namespace is gone, with real ones; containerd#12130. */

import { rmSync } from "node:fs";
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
  const add = (id: string, netns: string) =>
    network.add(id, { netns, cniArgs: `IgnoreUnknown=1;K8S_POD_INFRA_CONTAINER_ID=${id}` });
  const run = (id: string) => {
    withHighNumber(() => mountNamespace(t, pathOf(id)));
    return add(id, pathOf(id));
  };
  const lose = (id: string): void => {
    takeNamespace(pathOf(id));
    rmSync(pathOf(id));
  };
  run("a");
  run("b");
  t.same(add("c", `/proc/${await processWith(t)}/ns/net`).addresses, ["10.7.40.4"]);
  t.match(run("none").error?.msg, "no IP addresses available", "all live");
  lose("none");
  lose("b");

  t.same(run("d").addresses, ["10.7.40.3"]);
  t.match(run("no").error?.msg, "no IP addresses available", "all live again");
  lose("no");
  takeNamespace(pathOf("a"));
  t.same(run("e").addresses, ["10.7.40.2"], "the path is a plain file");
});
