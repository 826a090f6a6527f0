// test: each executable, acts as others
/** STATUS and check foretell the files that ADD cannot open: they open the same files in the same way, and change none. */

import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Test, test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { type ExecutableNetwork, networkFor } from "../harness/executable-network.ts";
import { bindsCalls, handOver, withoutPrivileges } from "../harness/unprivileged.ts";

/** Puts a socket at a path, which nobody can open on any file system. */
async function putSocket(t: Test, path: string): Promise<void> {
  rmSync(path);
  const server = createServer();
  await new Promise<void>((listens) => server.listen(path, listens));
  t.teardown(() => server.close());
}

/** Sets an attribute of a file for this test, see chattr(1). */
function setAttribute(t: Test, attribute: string, path: string): void {
  execFileSync("chattr", [`+${attribute}`, path]);
  t.teardown(() => execFileSync("chattr", [`-${attribute}`, path]));
}

/** Whether an attribute cannot be set, for lack of a privilege, or on this file system. */
function lacksAttributes(t: Test): boolean {
  const path = join(scratchDirectory(t), "file");
  writeFileSync(path, "");
  const isSet = spawnSync("chattr", ["+i", path]).status === 0;
  if (isSet) execFileSync("chattr", ["-i", path]);
  return !isSet;
}

function expectRefusal(t: Test, network: ExecutableNetwork, name: string, reason: string): void {
  const path = join(network.directory, name);
  const refusal = `open ${path}: ${reason}`;
  const before = stateOf(path);

  t.match(network.status().error, { code: 50, msg: refusal });
  t.match(network.add("c2").stdout, refusal);
  t.same(stateOf(path), before, "neither changes it");
}

/** The numbers that change when somebody writes a file, or puts another one in its place. */
function stateOf(path: string): readonly bigint[] {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return [ino, size, mtimeNs];
}

test("a lock that is a socket cannot be opened", async (t) => {
  const network = networkFor(t, { subnet: "203.0.113.0/29" });
  network.add("c1");
  await putSocket(t, join(network.directory, "lock"));

  expectRefusal(t, network, "lock", "no such device or address");
});

test("a lock that is a link to a directory can be opened", async (t) => {
  const network = networkFor(t, { subnet: "203.0.113.0/29" });
  network.add("c1");
  const lock = join(network.directory, "lock");
  rmSync(lock);
  mkdirSync(join(network.directory, "elsewhere"));
  symlinkSync("elsewhere", lock);

  t.equal(network.status().exitCode, 0);
  t.equal(network.add("c2").exitCode, 0);
});

for (const attribute of ["i", "a"]) {
  test(`a cursor with the attribute ${attribute} of chattr cannot be written`, async (t) => {
    if (lacksAttributes(t)) return t.pass("Nobody sets attributes here.");
    const network = networkFor(t, { subnet: "203.0.113.0/29" });
    network.add("c1");
    setAttribute(t, attribute, join(network.directory, "last_reserved_ip.0"));

    expectRefusal(t, network, "last_reserved_ip.0", "operation not permitted");
  });
}

for (const [name, mode] of [
  ["last_reserved_ip.0", 0o400],
  ["lock", 0o200],
] as const) {
  test(`${name} with mode ${mode.toString(8)} cannot be opened by a caller whom that binds`, {
    skip: bindsCalls() ? false : "Permissions bind nobody here.",
  }, async (t) => {
    const network = networkFor(t, { subnet: "203.0.113.0/29" });
    handOver(network.machine.dataDirectory);
    const caller = withoutPrivileges(t);
    t.equal(network.add("c1", caller).exitCode, 0);
    const path = join(network.directory, name);
    const content = readFileSync(path, "utf8");
    chmodSync(path, mode);

    const refusal = `open ${path}: permission denied`;
    t.match(network.status(caller).error, { code: 50, msg: refusal });
    t.match(network.add("c2", caller).stdout, refusal);
    chmodSync(path, 0o600);
    t.equal(readFileSync(path, "utf8"), content);
  });
}
