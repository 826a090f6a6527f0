// test: each executable
/** The surroundings of a network's lock: other machines, traces. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { shellQuote } from "../../src/cli/output/shell-word.ts";
import { stopObstacle } from "../faults/executables/stopped-call.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { networkFor } from "../harness/executable-network.ts";
import { holdLock } from "../harness/held-lock.ts";

const five = { subnet: "198.51.100.0/29" };

test("no journal is kept where another machine may write, since the lock may not exclude it", {
  skip: stopObstacle() ?? false,
}, async (t) => {
  const network = networkFor(t, five);
  const log = join(scratchDirectory(t), "log");
  // The failing statfs stands for a network file system: an unknown type is no reason to believe anything.
  const program = join(scratchDirectory(t), "host-local");
  const words = ["strace", "-f", "-o", log, "-e", "inject=statfs,fstatfs:error=EIO", executable];
  const command = words.map(shellQuote).join(" ");
  writeFileSync(program, `#!/bin/sh\nexec ${command}\n`, { mode: 0o755 });

  t.equal(network.add("c1", { program }).exitCode, 0);

  const journal = join(network.machine.dataDirectory, ".host-local/net/journal");
  t.match(readFileSync(log, "utf8"), /statfs/);
  t.notOk(existsSync(journal));
  t.equal(network.add("c2").exitCode, 0);
  t.ok(existsSync(journal), "and is where that is known");
});

test("details end with the trace of the call; the holder's is named, too, if /proc shows it", async (t) => {
  const [own, holder] = ["4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"];
  const network = networkFor(t, { ...five, lockTimeoutSeconds: 0.3 });
  await holdLock(t, network.machine.dataDirectory, {
    TRACEPARENT: `00-${holder}-b7ad6b7169203331-01`,
  });

  const { error } = network.add("c1", { traceparent: `00-${own}-00f067aa0ba902b7-01` });

  const details = error?.details ?? "";
  t.ok(details.endsWith(`; trace ${own}`), details);
  t.match(details, `(flock), trace ${holder}; nothing was changed`);
});
