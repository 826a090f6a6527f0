// test: each executable, one if short
/** After a boot of the machine, reservations from before it are reclaimed where a range is otherwise full. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { stopObstacle } from "../faults/executables/stopped-call.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { type CallOptions, networkFor } from "../harness/executable-network.ts";
import { bootObstacle, Mounts } from "../harness/mounts.ts";
import { grantedAddresses } from "../harness/network.ts";
import { readError } from "../harness/printed-error.ts";

const subnet = "10.50.0.0/29";

const skip = bootObstacle() ?? false;

/** The executable under test on a machine that has just booted. */
async function booted(t: Test): Promise<CallOptions> {
  return inside(t, await Mounts.openOnMachine(t.teardown.bind(t), "0123456789abcdef".repeat(2)));
}

/** The executable under test in a mount namespace, run by further words. */
function inside(t: Test, { entry }: Mounts, ...words: readonly string[]): CallOptions {
  const program = join(scratchDirectory(t), "host-local");
  const command = [...entry, ...words, executable].map((word) => `'${word}'`).join(" ");
  writeFileSync(program, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  return { program };
}

test("another boot id alone is no boot: nothing that was reserved since the kernel's is reclaimed", {
  skip,
}, async (t) => {
  const network = networkFor(t, { subnet });
  for (let at = 0; at < 5; at++) network.add(`alive${at}`);
  const held = network.reservations();

  const other = inside(t, await Mounts.openUnderBootId(t.teardown.bind(t)));
  t.match(readError(network.add("new", other).stdout)?.msg, "no IP addresses available");
  t.same(network.reservations(), held);
});

test("a repeated ADD keeps an address for a container that is alive again, though it cannot tell the machine", {
  skip: skip || (stopObstacle() ?? false),
}, async (t) => {
  const network = networkFor(t, { subnet, repeatedAdd: "same" });
  const before = await booted(t);
  for (let at = 0; at < 5; at++) network.add(`old${at}`, before);
  const mounts = await Mounts.openOnMachine(t.teardown.bind(t), "0123456789abcdef".repeat(2));
  const now = inside(t, mounts);
  const log = join(scratchDirectory(t), "log");
  const refusal = ["-P", "/etc/machine-id", "-e", "inject=%file:error=EIO"];
  const blind = inside(t, mounts, "strace", "-f", "-o", log, ...refusal);

  t.same(grantedAddresses(network.add("old0", blind)), ["10.50.0.2"]);
  t.match(readFileSync(log, "utf8"), "INJECTED");
  for (let at = 0; at < 5; at++) network.add(`new${at}`, now);

  t.equal(network.reservations()["10.50.0.2"], "old0\r\neth0");
});
