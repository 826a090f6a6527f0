import { test } from "tap";
import type { FileId } from "../../../src/store/files/fingerprint.ts";
import {
  carriedOver,
  formatRecord,
  isAsRecorded,
  isOfRecord,
  recordIn,
  withWholePath,
} from "../../../src/store/journal/record.ts";
import { parseOwner } from "../../../src/store/reservations/owner.ts";
import { refuse } from "../../harness/interruption.ts";
import { line } from "../../harness/journal-line.ts";
import { machineWith, open } from "../fixtures.ts";

const file = "12,1700000000000000000" as FileId;
const namespace = { inode: "4026532001", path: "/run/netns/pod", isPodSandbox: false };

test("a record is read as it was written", async (t) => {
  for (const isPodSandbox of [false, true]) {
    const written =
      line("c1 eth0 10.0.0.2") + formatRecord("c1", file, { ...namespace, isPodSandbox });
    t.same(recordIn(written, 5n), {
      name: "10.0.0.2",
      key: line("c1 eth0"),
      idEnd: line("c1"),
      file,
      changedBefore: 5n,
      namespace: { ...namespace, isPodSandbox },
    });
  }
  t.equal(formatRecord("c1", undefined, namespace), "");
  t.equal(formatRecord("c1", file, undefined), "");
});

test("a line that is cut off, or has anything else, has no record", async (t) => {
  const whole = line("c1 eth0 10.0.0.2") + formatRecord("c1", file, namespace);
  for (const other of [
    "",
    line("c1 eth0"),
    line("c1 eth0 10.0.0.2"),
    line("c1 eth0 -10.0.0.2"),
    line("c1 eth0 10.0.0.2 12 4026532001 /run/netns/pod"),
    line("c1 eth0 10.0.0.2 12,5 net /run/netns/pod"),
    line("c1 eth0 10.0.0.2 12,5 4026532001 relative"),
    line("c1 eth0 10.0.0.2 12,5 4026532001"),
    line("c1 eth0 10.0.0.2 12,5 0 /run/netns/pod"),
    line("c1 eth0 10.0.0.2 12,5,x7 4026532001 /run/netns/pod"),
    line("c1 eth0 10.0.0.2 12,5,7x 4026532001 /run/netns/pod"),
    `${whole} other`,
    `${whole} pod more`,
  ]) {
    t.equal(recordIn(other, undefined), undefined, other);
  }
});

test("a record that is carried over is of a file that has not changed since; the first time counts", async (t) => {
  const written = line("c1 eth0 10.0.0.2") + formatRecord("c1", file, namespace);
  const carried = carriedOver(written, 7n);
  t.equal(recordIn(carried, undefined)?.changedBefore, 7n);
  t.equal(recordIn(carriedOver(carried, 9n), 8n)?.changedBefore, 7n);
  t.equal(recordIn(carried, undefined)?.file, file);
  t.equal(carriedOver(line("c1 eth0 -10.0.0.2"), 7n), line("c1 eth0 -10.0.0.2"));
});

test("a record is of the file with this inode, time and owner, and of no other", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  const files = open(machine.start());
  const { inode, modified, changed } = machine.disk.linkStatus("/data/net/10.0.0.2");
  const record = (changedBefore: bigint | undefined, id = `${inode},${modified}`) => {
    const written = line("c1 eth0 10.0.0.2") + formatRecord("c1", id as FileId, namespace);
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

test("a path with the container's id is recorded without it, and whole again by its reservation", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  const files = open(machine.start());
  const recordOf = (path: string) => {
    const text = formatRecord("c1", file, { ...namespace, path });
    const record = recordIn(line("c1 eth0 10.0.0.2") + text, undefined);
    return { text, path: record && withWholePath(files, record)?.namespace.path };
  };

  for (const path of ["/run/netns/c1", "/run/c1/c1-eth0", "/run/netns/pod"]) {
    const { text, path: whole } = recordOf(path);
    t.notMatch(text, "c1");
    t.equal(whole, path);
  }
  t.equal(recordOf("/run/netns/*").text, "", "no path that would be read as another");
  machine.disk.write("/data/net/10.0.0.2", "c2\r\neth0");
  t.equal(recordOf("/run/netns/c1").path, undefined, "it is another's");
  machine.disk.unlink("/data/net/10.0.0.2");
  t.equal(recordOf("/run/netns/c1").path, undefined, "it is gone");
  t.equal(recordOf("/run/netns/pod").path, "/run/netns/pod");
});
