// test: each executable
/** The lock of a network: waiting is bounded, and a dead holder is no holder. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { stopObstacle } from "../faults/executables/stopped-call.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable, start } from "../harness/executable.ts";
import { networkFor } from "../harness/executable-network.ts";
import { holdLock } from "../harness/held-lock.ts";
import { grantedAddresses } from "../harness/network.ts";
import { readError } from "../harness/printed-error.ts";
import { attachmentCall, configuration, networkCall } from "../harness/runtime-call.ts";

const five = { subnet: "10.0.0.0/29" };
const short = { ...five, lockTimeoutSeconds: 0.3 };
const nothingValid = { "cni.dev/valid-attachments": [], "cni.dev/attachments": [] };
const c1 = { containerId: "c1" };

/** Shorter than the time-out that holds where none is asked for, in milliseconds. */
const shorterThanDefault = 25_000;

for (const command of ["ADD", "DEL", "GC"] as const) {
  test(`${command} gives up with code 11 while another holds the lock, and changes nothing`, async (t) => {
    const network = networkFor(t, short, [{ path: "net/10.0.0.5", content: "c1\r\neth0" }]);
    await holdLock(t, network.machine.dataDirectory);
    const before = network.tree();
    const document = configuration(network.machine.dataDirectory, short, nothingValid);
    const call =
      command === "GC" ? networkCall(command, document) : attachmentCall(command, c1, document);
    const began = performance.now();

    const outcome = await start(executable, call);

    t.equal(outcome.exitCode, 1);
    t.equal(readError(outcome.stdout)?.code, 11);
    t.match(readError(outcome.stdout)?.details, "lockTimeoutSeconds");
    t.ok(performance.now() - began < shorterThanDefault, "in the time asked for");
    t.same(network.tree(), before);
  });
}

test("no journal is kept where another machine may write, since the lock may not exclude it", {
  skip: stopObstacle() ?? false,
}, (t) => {
  const network = networkFor(t, five);
  const log = join(scratchDirectory(t), "log");
  // Stands for a network file system: that the type is not known is no reason to believe anything.
  const program = join(scratchDirectory(t), "host-local");
  const command = `strace -f -o '${log}' -e inject=statfs,fstatfs:error=EIO '${executable}'`;
  writeFileSync(program, `#!/bin/sh\nexec ${command}\n`, { mode: 0o755 });

  t.equal(network.add("c1", { program }).exitCode, 0);

  const journal = join(network.machine.dataDirectory, ".host-local/net/journal");
  t.match(readFileSync(log, "utf8"), /statfs/);
  t.notOk(existsSync(journal));
  t.equal(network.add("c2").exitCode, 0);
  t.ok(existsSync(journal), "and is where that is known");
  t.end();
});

test("details end with the trace of the call; the holder's is named, too, if /proc shows the holder", async (t) => {
  const [own, other] = ["4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"];
  const network = networkFor(t, short);
  await holdLock(t, network.machine.dataDirectory, {
    TRACEPARENT: `00-${other}-b7ad6b7169203331-01`,
  });
  const { environment, stdin } = attachmentCall(
    "ADD",
    c1,
    configuration(network.machine.dataDirectory, short),
  );

  const { stdout } = await start(executable, {
    environment: { ...environment, TRACEPARENT: `00-${own}-00f067aa0ba902b7-01` },
    stdin,
  });

  const details = readError(stdout)?.details ?? "";
  t.ok(details.endsWith(`; trace ${own}`), details);
  t.match(details, `(flock), trace ${other}; nothing was changed`);
  t.end();
});

test("CHECK and STATUS do not wait for the lock", async (t) => {
  const network = networkFor(t, short, [{ path: "net/10.0.0.5", content: "c1\r\neth0" }]);
  await holdLock(t, network.machine.dataDirectory);
  const document = configuration(network.machine.dataDirectory, short);
  const silent = { exitCode: 0, stdout: "", stderr: "" };

  t.same(await start(executable, attachmentCall("CHECK", c1, document)), silent);
  t.same(await start(executable, networkCall("STATUS", document)), silent);
});

test("the lock of one network does not stop another", async (t) => {
  const network = networkFor(t, short);
  await holdLock(t, network.machine.dataDirectory);
  const document = configuration(network.machine.dataDirectory, short, { name: "other" });

  const outcome = await start(executable, attachmentCall("ADD", c1, document));

  t.same(grantedAddresses(outcome), ["10.0.0.2"]);
});

test("an ADD that waited gets its address once the lock is free", async (t) => {
  const network = networkFor(t, { ...five, lockTimeoutSeconds: 60 });
  const release: (() => void)[] = [];
  await holdLock(
    { teardown: (free) => release.push(() => free?.()) },
    network.machine.dataDirectory,
  );

  const waiting = network.begin("ADD", "c1");
  t.same(network.reserved(), []);
  for (const free of release) {
    free();
  }

  t.same(grantedAddresses(await waiting), ["10.0.0.2"]);
});

test("the lock of a killed process does not stop the next call", async (t) => {
  const network = networkFor(t, five);
  const kill = await holdLock(t, network.machine.dataDirectory);

  await kill();

  t.same(grantedAddresses(network.add("c1")), ["10.0.0.2"]);
});
