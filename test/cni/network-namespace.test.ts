import { test } from "tap";
import { refuseOwnNetworkNamespace } from "../../src/cni/network-namespace.ts";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine, type MemoryProcess, type Start } from "../harness/memory-machine.ts";
import { refusalOf } from "./refusal.ts";

// A further name is on the same file system.
const own = "/proc/self/ns/own";

/** A process whose own namespace has the further name `own`. */
function processWith(start: Start = {}): MemoryProcess {
  const machine = new MemoryMachine();
  machine.disk.put("/proc/self/ns/net", "");
  machine.disk.put("/run/netns/pod", "");
  machine.disk.link("/proc/self/ns/net", own);
  return machine.start(start);
}

test("the plugin's own network namespace is refused, whatever its path", async (t) => {
  for (const path of [own, "/proc/self/ns/net"]) {
    t.strictSame(
      refusalOf(() => refuseOwnNetworkNamespace(processWith(), path)),
      {
        code: 8,
        message: "plugin's netns and netns from CNI_NETNS should not be the same",
        details: `CNI_NETNS is ${path}`,
      },
      path,
    );
  }
});

test("another namespace, or a path that stat(2) fails on, is not refused", async (t) => {
  for (const path of ["/run/netns/pod", "/run/netns", "/no/such", "", "relative"]) {
    t.doesNotThrow(() => refuseOwnNetworkNamespace(processWith(), path), path);
  }
  const blind = processWith({ interrupt: refuse("status", "EACCES", own) });
  t.doesNotThrow(() => refuseOwnNetworkNamespace(blind, own), "no permission");
});

test("CNI_NETNS_OVERRIDE allows it when it is 1 or true in any letter case", async (t) => {
  const ask = (override: string) => () =>
    refuseOwnNetworkNamespace(processWith({ environment: { CNI_NETNS_OVERRIDE: override } }), own);
  for (const override of ["1", "true", "TRUE", "True"]) t.doesNotThrow(ask(override), override);
  for (const override of ["", "0", "yes", "t", "01", " 1", "true "]) {
    t.match(refusalOf(ask(override)), { code: 8 }, override);
  }
});

test("the namespace is what the path leads to, if that is one and others can follow the path", async (t) => {
  const machine = new MemoryMachine();
  const seen = (path: string, environment = {}) =>
    refuseOwnNetworkNamespace(machine.start({ environment }), path);
  machine.namespaces.set("/run/netns/pod", 4026532001n);
  const found = { inode: "4026532001", path: "/run/netns/pod" };
  t.same(seen("/run/netns/pod"), found);
  for (const path of ["/run/my netns/a b", "/run/netns/\u00e4"]) {
    machine.namespaces.set(path, 4026532001n);
    t.same(seen(path), { ...found, path });
  }
  t.equal(seen("/run/netns/pod", { CNI_NETNS_OVERRIDE: "1" }), undefined, "not looked at");

  machine.disk.put("/dev/null", "");
  for (const path of ["", "/dev/null", "/run/netns/none"]) t.equal(seen(path), undefined, path);
  for (const path of [
    "run/netns/pod",
    "/run/netns/a\nb",
    "/run/netns/\ufffd",
    "/proc/self/fd/5",
    "/proc/thread-self/ns/net",
  ]) {
    machine.namespaces.set(path, 4026532002n);
    t.equal(seen(path), undefined, path);
  }
  machine.namespaces.set("/proc/7/fd/5", 4026532003n);
  t.same(seen("/proc/7/fd/5"), { inode: "4026532003", path: "/proc/7/fd/5" });
});
