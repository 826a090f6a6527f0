import { test } from "tap";
import type { FileId } from "../../../src/store/files/fingerprint.ts";
import {
  carriedOver,
  formatRecord,
  isAsRecorded,
  isOfRecord,
  recordIn,
} from "../../../src/store/journal/record.ts";
import { parseOwner } from "../../../src/store/reservations/owner.ts";
import { refuse } from "../../harness/interruption.ts";
import { machineWith, open } from "../fixtures.ts";

const file = "12,1700000000000000000" as FileId;
const namespace = { inode: "4026532001", path: "/run/netns/pod", isPodSandbox: false };

test("a record is read as it was written, whatever the path", async (t) => {
  for (const other of [
    {},
    { isPodSandbox: true },
    { id: "18446744073709551615" },
    { path: "/run/my netns/a  b " },
    { path: "/run/netns/\u00e4 pod" },
  ]) {
    const given = { ...namespace, id: undefined, ...other };
    const written = `c1 eth0 10.0.0.2${formatRecord(file, given)}`;
    t.same(recordIn(written, 5n), {
      name: "10.0.0.2",
      key: "c1 eth0",
      containerId: "c1",
      file,
      changedBefore: 5n,
      namespace: given,
    });
  }
  t.equal(formatRecord(undefined, namespace), "");
  t.equal(formatRecord(file, undefined), "");
});

test("a line that is cut off, or has anything else, has no record", async (t) => {
  for (const other of [
    "",
    "c1 eth0",
    "c1 eth0 10.0.0.2",
    "c1 eth0 -10.0.0.2",
    "c1 eth0 10.0.0.2 12 4026532001 - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5 net - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5 4026532001 - relative",
    "c1 eth0 10.0.0.2 12,5 4026532001 -",
    "c1 eth0 10.0.0.2 12,5 4026532001 /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5 4026532001 other /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5 4026532001, - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5 4026532001,x - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5 0 - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5,x7 4026532001 - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5,7x 4026532001 - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5 1e3,7 pod /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5 40265.2345,77 pod /run/netns/pod",
  ]) {
    t.equal(recordIn(other, undefined), undefined, other);
  }
});

test("a record carried over is of a file that has not changed since; the first time counts", async (t) => {
  const written = `c1 eth0 10.0.0.2${formatRecord(file, namespace)}`;
  const carried = carriedOver(written, 7n);
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
    const written = `c1 eth0 10.0.0.2${formatRecord(id as FileId, namespace)}`;
    const found = recordIn(written, changedBefore);
    if (found === undefined) throw new Error("there is one");
    return found;
  };

  t.equal(isAsRecorded(files, record(undefined)), true);
  const found = { kind: "directory", changed, id: `${inode},${modified}` as FileId } as const;
  t.equal(isOfRecord(record(undefined), found, parseOwner("c1\r\neth0")), false, "no file");
  t.equal(isAsRecorded(files, record(changed + 1n)), true);
  t.equal(isAsRecorded(files, record(changed)), undefined, "changed in the tick of the seal");
  t.equal(isAsRecorded(files, record(undefined, `${inode},${modified + 1n}`)), false, "its time");
  t.equal(isAsRecorded(files, record(undefined, `${inode + 1n},${modified}`)), false, "its inode");
  for (const operation of ["linkStatus", "readFile"] as const) {
    const refused = machine.start({ interrupt: refuse(operation, "EIO", "/data/net/10.0.0.2") });
    t.equal(isAsRecorded(open(refused), record(undefined)), undefined, operation);
  }
  machine.disk.write("/data/net/10.0.0.2", "c2\r\neth0");
  machine.disk.setModified("/data/net/10.0.0.2", modified);
  t.equal(isAsRecorded(files, record(undefined)), false, "its owner");
  machine.disk.unlink("/data/net/10.0.0.2");
  t.equal(isAsRecorded(files, record(undefined)), false, "it is gone");
});
