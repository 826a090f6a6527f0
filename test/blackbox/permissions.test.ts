// test: each executable
/** Directories that the caller may not write. */

import { chmodSync, chownSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { type ExecutableNetwork, networkFor } from "../harness/executable-network.ts";
import { handOver, isRoot, withoutPrivileges } from "../harness/unprivileged.ts";

const five = { subnet: "10.0.0.0/29" };

/** Four attachments of two containers, one of them noted in the old way without its interface. */
const held = {
  "10.0.0.2": "c1\r\neth0",
  "10.0.0.3": "c1\r\neth0",
  "10.0.0.4": "c2\r\neth0",
  "10.0.0.5": "c3",
};

/** A network with these reservations, all of them the caller's, who may read its directory alone. */
function readOnly(t: Test, files: Readonly<Record<string, string>> = held): ExecutableNetwork {
  const network = networkFor(t, five, [{ path: "net/" }]);
  for (const [name, content] of Object.entries({ ...files, lock: "" })) network.put(name, content);
  for (const { path } of [{ path: "" }, ...network.tree()]) {
    handOver(join(network.machine.dataDirectory, path));
  }
  setMode(t, network, "net", 0o555);
  return network;
}

function setMode(t: Test, { machine }: ExecutableNetwork, path: string, mode: number): void {
  const directory = join(machine.dataDirectory, path);
  chmodSync(directory, mode);
  t.teardown(() => chmodSync(directory, 0o755));
}

test("CHECK works in a directory that it may only read", (t) => {
  const network = readOnly(t);
  setMode(t, network, "", 0o555);
  const options = withoutPrivileges(t);

  for (const containerId of ["c1", "c3"]) {
    const { exitCode, stdout, stderr } = network.check(containerId, options);
    t.same([exitCode, stdout, stderr], [0, "", ""]);
  }
  t.equal(network.check("c9", options).error?.code, 999);
  t.end();
});

for (const [command, kept, left] of [
  ["DEL", [], ["10.0.0.2", "10.0.0.3"]],
  ["GC", ["c1 eth0"], ["10.0.0.4", "10.0.0.5"]],
] as const) {
  test(`${command} reports together every address that it could not free`, (t) => {
    const network = readOnly(t);
    const options = withoutPrivileges(t);

    const { error } = command === "GC" ? network.gc(kept, options) : network.del("c1", options);

    t.equal(error?.code, 5);
    for (const address of Object.keys(held)) {
      const isNamed = `${error?.msg} ${error?.details}`.includes(address);
      t.equal(isNamed, (left as readonly string[]).includes(address), address);
    }
    t.strictSame(network.reservations(), held);
    t.end();
  });
}

test("DEL frees the addresses after the one that it could not free", {
  skip: isRoot ? false : "only root can make a file that its caller cannot remove",
}, (t) => {
  const network = readOnly(t);
  const directory = join(network.machine.dataDirectory, "net");
  // In a sticky directory of root's, a user may remove only their own files.
  chmodSync(directory, 0o1777);
  for (const name of ["", "10.0.0.2"]) chownSync(join(directory, name), 0, 0);
  chmodSync(join(directory, "10.0.0.2"), 0o644);

  t.equal(network.del("c1", withoutPrivileges(t)).error?.code, 5);
  t.same(network.reserved(), ["10.0.0.2", "10.0.0.4", "10.0.0.5"]);
  t.end();
});

test("GC that may not read a reservation of its own releases the others, and fails until it may", (t) => {
  const network = networkFor(t, five);
  handOver(network.machine.dataDirectory);
  const options = withoutPrivileges(t);
  for (const containerId of ["c1", "c2", "c3"]) network.add(containerId, options);
  const path = join(network.directory, "10.0.0.2");
  chmodSync(path, 0);

  const { error } = network.gc(["c3 eth0"], options);

  t.equal(error?.code, 5);
  t.match(error?.details, `open ${path}: permission denied`);
  t.same(network.reserved(), ["10.0.0.2", "10.0.0.4"]);
  chmodSync(path, 0o600);
  t.equal(network.gc(["c3 eth0"], options).exitCode, 0);
  t.same(network.reserved(), ["10.0.0.4"]);
  t.end();
});

test("STATUS is error 50 where the network's directory may not be written", (t) => {
  const network = readOnly(t);

  const { error } = network.status(withoutPrivileges(t));

  t.equal(error?.code, 50);
  t.match(`${error?.msg} ${error?.details}`, network.directory);
  t.end();
});

test("STATUS is error 50 where the network's directory could not be created", (t) => {
  const network = networkFor(t, five);
  handOver(network.machine.dataDirectory);
  setMode(t, network, "", 0o555);

  t.equal(network.status(withoutPrivileges(t)).error?.code, 50);
  t.same(network.tree(), []);
  t.end();
});
