// test: each executable, one if short, mounts
/** After a boot of the machine, reservations from before it are reclaimed where a range is otherwise full. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { shellQuote } from "../../src/cli/output/shell-word.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { networkFor } from "../harness/executable-network.ts";
import { Mounts } from "../harness/mounts.ts";
import { lacking } from "../harness/needs.ts";

test("a full range: ADD takes what is reserved from before this boot, oldest first, nothing else", {
  skip: lacking("mounts"),
}, async (t) => {
  const network = networkFor(t, { subnet: "198.51.100.0/29" });
  const given = [0, 1, 2, 3, 4].flatMap((at) => network.add(`old${at}`).addresses);
  t.match(network.add("refused").error?.msg, "no IP addresses available");

  const { entry } = await Mounts.openAfterBoot(t.teardown.bind(t));
  const program = join(scratchDirectory(t), "host-local");
  const command = [...entry, executable].map(shellQuote).join(" ");
  writeFileSync(program, `#!/bin/sh\nexec ${command}\n`, { mode: 0o755 });
  const next = [0, 1, 2, 3, 4].flatMap((at) => network.add(`new${at}`, { program }).addresses);

  t.equal(given.length, 5);
  t.same(next, given);
  t.match(network.add("late", { program }).error?.msg, "no IP addresses available");
});
