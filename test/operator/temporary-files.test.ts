/** temporary-files.ts: what killed processes leave. */

import { test } from "tap";
import { removeAbandoned, replaceFile } from "../../src/operator/temporary-files.ts";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";

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

test("a file is replaced in one step, without what a killed process has left: whoever reads the old one reads all of it", async (t) => {
  const machine = new MemoryMachine();
  machine.disk.put("/metrics/x.prom", "old");
  machine.disk.put(`/metrics/${TEMPORARY}`, "half");
  machine.wait(601_000);
  const system = machine.start();
  const { inode } = system.status("/metrics/x.prom");

  replaceFile(system, "--output", "/metrics/x.prom", "new");

  t.same(machine.disk.filesUnder("/metrics"), { "x.prom": "new" });
  t.not(system.status("/metrics/x.prom").inode, inode);
  t.equal(machine.disk.modeOf("/metrics/x.prom"), 0o644);
});

test("what is no regular file stays, and a file that cannot be written is named", async (t) => {
  const machine = new MemoryMachine();
  machine.disk.makeDirectories("/metrics/taken");
  machine.disk.putLink("/metrics/link", "/dev/null");
  for (const path of ["/metrics/taken", "/metrics/link"]) {
    t.throws(() => replaceFile(machine.start(), "--output", path, "new"), {
      message: `--output: ${path} exists and is not a regular file`,
    });
  }
  t.throws(() => replaceFile(machine.start(), "--output", "/none/x", "new"), {
    message: "open /none/x: no such file or directory",
  });
  t.throws(
    () => {
      const system = machine.start({ interrupt: refuse("rename", "EIO", "/metrics/x.prom") });
      replaceFile(system, "--output", "/metrics/x.prom", "new");
    },
    { message: "open /metrics/x.prom: input/output error" },
  );
  t.same(machine.disk.filesUnder("/metrics"), { link: "/dev/null" }, "nothing is left");
});
