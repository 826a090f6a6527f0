import { test } from "tap";
import {
  allIn,
  heldIn,
  openAll,
  readAll,
  requireAll,
} from "../../../src/store/reservations/directory-scan.ts";
import { containerOf } from "../../../src/store/reservations/owner.ts";
import { refuse } from "../../harness/interruption.ts";
import { attachment, machineWith, open } from "../fixtures.ts";

const files = {
  "10.0.0.3": "c1\r\neth0",
  "10.0.0.2": "c1\r\neth1",
  "2001:db8::2": "c2\r\neth0",
  "10.0.0.4": "c1",
  "10.0.0.5": "",
  "10.0.0.6": " c3\r\neth0\n",
  lock: "",
  "last_reserved_ip.0": "10.0.0.3",
  "backup.txt": "c9\r\neth0",
  beef: "c9\r\neth0",
};

test("every reservation is found with its owner, in the order of names, and nothing else", async (t) => {
  const all = allIn(readAll(open(machineWith(files).start())));

  t.same(
    all.map(({ name, owner }) => [name, owner]),
    [
      ["10.0.0.2", { kind: "attachment", containerId: "c1", interfaceName: "eth1" }],
      ["10.0.0.3", { kind: "attachment", containerId: "c1", interfaceName: "eth0" }],
      ["10.0.0.4", { kind: "legacy", containerId: "c1" }],
      ["10.0.0.5", { kind: "unowned" }],
      ["10.0.0.6", { kind: "attachment", containerId: "c3", interfaceName: "eth0" }],
      ["2001:db8::2", { kind: "attachment", containerId: "c2", interfaceName: "eth0" }],
    ],
  );
});

test("an attachment holds what names it, and what names its container alone", async (t) => {
  const found = readAll(open(machineWith(files).start()));
  const names = (containerId: string, interfaceName = "eth0"): readonly string[] =>
    heldIn(found, attachment(containerId, interfaceName)).map(({ name }) => name);

  t.same(names("c1"), ["10.0.0.3", "10.0.0.4"]);
  t.same(names("c1", "eth1"), ["10.0.0.2", "10.0.0.4"]);
  t.same(names("c2"), ["2001:db8::2"]);
  t.same(names("c"), []);
});

test("each is opened with the status of its file, whatever its form", async (t) => {
  const machine = machineWith(files);
  const statusOf = (name: string) => {
    const { kind, inode, modified, changed } = machine.disk.linkStatus(`/data/net/${name}`);
    return { kind, inode, modified, changed, id: `${inode},${modified}`, writableMode: undefined };
  };

  const opened = openAll(open(machine.start())).map(({ name, owner, status }) => {
    const { kind, inode, modified, changed, id, writableMode } = status ?? {};
    return [name, containerOf(owner), { kind, inode, modified, changed, id, writableMode }];
  });

  const owners = { "10.0.0.2": "c1", "10.0.0.5": "", "10.0.0.6": "c3", "2001:db8::2": "c2" };
  for (const [name, container] of Object.entries(owners)) {
    const found = opened.find(([one]) => one === name);
    t.same(found, [name, container, statusOf(name)]);
  }
  t.equal(opened.length, 7);
});

test("a file that others can write to is opened with its mode", async (t) => {
  const machine = machineWith({});
  machine.disk.put("/data/net/10.0.0.2", "c1\r\neth0", 0o620);
  const [opened] = openAll(open(machine.start()));
  t.equal(opened?.status?.writableMode, 0o620);
  t.equal(opened?.owner.kind, "attachment");
});

test("where each is needed, one that cannot be read is an error", async (t) => {
  const interrupt = refuse("readFile", "EIO", "/data/net/10.0.0.3");
  const machine = machineWith(files);
  t.equal(requireAll(open(machine.start())).length, 7);
  t.equal(openAll(open(machine.start({ interrupt }))).length, 7);
  t.throws(() => requireAll(open(machine.start({ interrupt }))), { code: "EIO" });
});
