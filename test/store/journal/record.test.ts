import { test } from "tap";
import {
  type FileId,
  type Fingerprint,
  fingerprintOf,
} from "../../../src/store/files/fingerprint.ts";
import {
  formatRecorded,
  isAsRecorded,
  isOfRecord,
  recordIn,
} from "../../../src/store/journal/record.ts";
import { parseOwner } from "../../../src/store/reservations/owner.ts";
import type { FileStatus } from "../../../src/system/system.ts";
import { refuse } from "../../harness/interruption.ts";
import { machineWith, open } from "../fixtures.ts";

const file: Fingerprint = {
  id: "12,1700000000000000000" as FileId,
  changed: "1700000000000000007",
};
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
    const written = `c1 eth0 10.0.0.2${formatRecorded(file, given)}`;
    t.same(recordIn(written), {
      name: "10.0.0.2",
      key: "c1 eth0",
      containerId: "c1",
      file: file.id,
      changed: file.changed,
      namespace: given,
    });
  }
  t.equal(formatRecorded(undefined, namespace), "");
  t.equal(formatRecorded(file, undefined), "");
});

test("a line that is cut off, or has anything else, has no record", async (t) => {
  for (const other of [
    "",
    "c1 eth0",
    "c1 eth0 10.0.0.2",
    "c1 eth0 -10.0.0.2",
    "c1 eth0 10.0.0.2 12 4026532001 - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5 4026532001 - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5,7 net - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5,7 4026532001 - relative",
    "c1 eth0 10.0.0.2 12,5,7 4026532001 -",
    "c1 eth0 10.0.0.2 12,5,7 4026532001 /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5,7 4026532001 other /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5,7 4026532001, - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5,7 4026532001,x - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5,7 0 - /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5,7 1e3,7 pod /run/netns/pod",
    "c1 eth0 10.0.0.2 12,5,7 40265.2345,77 pod /run/netns/pod",
  ]) {
    t.equal(recordIn(other), undefined, other);
  }
});

test("a record is of the file with this inode, times and owner, and of no other", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  const files = open(machine.start());
  const status = machine.disk.linkStatus("/data/net/10.0.0.2");
  const { inode, modified, changed } = status;
  const record = (other: Partial<FileStatus> = {}) => {
    const fingerprint = fingerprintOf({ ...status, ...other });
    const found = recordIn(`c1 eth0 10.0.0.2${formatRecorded(fingerprint, namespace)}`);
    if (found === undefined) throw new Error("there is one");
    return found;
  };

  t.equal(isAsRecorded(files, record()), true);
  const found = { kind: "directory", changed, id: fingerprintOf(status).id } as const;
  t.equal(isOfRecord(record(), found, parseOwner("c1\r\neth0")), false, "no file");
  t.equal(isAsRecorded(files, record({ changed: changed - 1n })), undefined, "as of a backup");
  t.equal(isAsRecorded(files, record({ modified: modified + 1n })), false, "its time");
  t.equal(isAsRecorded(files, record({ inode: inode + 1n })), false, "its inode");
  for (const operation of ["linkStatus", "readFile"] as const) {
    const refused = machine.start({ interrupt: refuse(operation, "EIO", "/data/net/10.0.0.2") });
    t.equal(isAsRecorded(open(refused), record()), undefined, operation);
  }
  machine.disk.write("/data/net/10.0.0.2", "c2\r\neth0");
  machine.disk.setModified("/data/net/10.0.0.2", modified);
  t.equal(isAsRecorded(files, record()), false, "its owner");
  machine.disk.unlink("/data/net/10.0.0.2");
  t.equal(isAsRecorded(files, record()), false, "it is gone");
});
