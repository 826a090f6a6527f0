import { test } from "tap";
import type { FileId } from "../../../src/store/files/fingerprint.ts";
import {
  carriedOver,
  formatRecord,
  isAsRecorded,
  recordIn,
} from "../../../src/store/journal/record.ts";
import { machineWith, open } from "../fixtures.ts";

const file = "12,1700000000000000000" as FileId;
const namespace = { inode: "4026532001", path: "/run/netns/pod", isPodSandbox: false };

test("a record is read as it was written", async (t) => {
  for (const isPodSandbox of [false, true]) {
    const written = `c1 eth0 10.0.0.2${formatRecord(file, { ...namespace, isPodSandbox })}`;
    t.same(recordIn(written, 5n), {
      name: "10.0.0.2",
      key: "c1 eth0",
      containerId: "c1",
      file,
      changedBefore: 5n,
      namespace: { ...namespace, isPodSandbox },
    });
  }
  t.equal(formatRecord(undefined, namespace), "");
  t.equal(formatRecord(file, undefined), "");
});

test("a line that is cut off, or has anything else, has no record", async (t) => {
  const whole = `c1 eth0 10.0.0.2${formatRecord(file, namespace)}`;
  for (const line of [
    "",
    "c1 eth0",
    "c1 eth0 10.0.0.2",
    "c1 eth0 -10.0.0.2",
    "c1 eth0 10.0.0.2 12 4026532001 /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5 net /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5 4026532001 relative",
    "c1 eth0 10.0.0.2 12,5 4026532001",
    `${whole} other`,
    `${whole} pod more`,
  ]) {
    t.equal(recordIn(line, undefined), undefined, line);
  }
});

test("a record that is carried over is of a file that has not changed since; the first time counts", async (t) => {
  const line = `c1 eth0 10.0.0.2${formatRecord(file, namespace)}`;
  const carried = carriedOver(line, 7n);
  t.equal(recordIn(carried, undefined)?.changedBefore, 7n);
  t.equal(recordIn(carriedOver(carried, 9n), 8n)?.changedBefore, 7n);
  t.equal(recordIn(carried, undefined)?.file, file);
  t.equal(carriedOver("c1 eth0 -10.0.0.2", 7n), "c1 eth0 -10.0.0.2");
});

test("a record is of the file with this inode, time and owner, and of no other", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  const files = open(machine.start());
  const { inode, modified, changed } = machine.disk.linkStatus("/data/net/10.0.0.2");
  const record = (changedBefore: bigint | undefined, id = `${inode},${modified}`) => {
    const line = `c1 eth0 10.0.0.2${formatRecord(id as FileId, namespace)}`;
    const found = recordIn(line, changedBefore);
    if (found === undefined) throw new Error("there is one");
    return found;
  };

  t.equal(isAsRecorded(files, record(undefined)), true);
  t.equal(isAsRecorded(files, record(changed + 1n)), true);
  t.equal(isAsRecorded(files, record(changed)), undefined, "changed in the tick of the seal");
  t.equal(isAsRecorded(files, record(undefined, `${inode},${modified + 1n}`)), false, "its time");
  t.equal(isAsRecorded(files, record(undefined, `${inode + 1n},${modified}`)), false, "its inode");
  machine.disk.write("/data/net/10.0.0.2", "c2\r\neth0");
  machine.disk.setModified("/data/net/10.0.0.2", modified);
  t.equal(isAsRecorded(files, record(undefined)), false, "its owner");
  machine.disk.unlink("/data/net/10.0.0.2");
  t.equal(isAsRecorded(files, record(undefined)), false, "it is gone");
});
