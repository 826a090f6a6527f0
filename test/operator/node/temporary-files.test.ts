/** temporary-files.ts: what killed installations leave. */

import { test } from "tap";
import { removeAbandoned } from "../../../src/operator/node/temporary-files.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

const BIN = "/opt/cni/bin";
const TEMPORARY = ".host-local.01234567-89ab-4cde-8f01-23456789abcd";

test("a temporary file goes after ten minutes, whoever made it, and no other file does", async (t) => {
  const machine = new MemoryMachine();
  const system = machine.start();
  system.makeDirectories(BIN);
  const others = [".host-local.77.new", ".host-local.note", "host-local", `x${TEMPORARY}`];
  for (const name of [TEMPORARY, ...others]) system.createFile(`${BIN}/${name}`, "", 0o755);
  const names = (): readonly string[] => [...system.list(BIN)].sort();

  machine.wait(599_000);
  removeAbandoned(system, BIN);
  t.same(names(), [TEMPORARY, ...others].sort());

  machine.wait(2_000);
  removeAbandoned(system, BIN);
  t.same(names(), others.sort());
});
