import { test } from "tap";
import { allIn, allOf, readAll } from "../../../src/store/reservations/directory-scan.ts";
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

test("for an attachment, all of its container are found, and those of no usual form", async (t) => {
  const found = readAll(open(machineWith(files).start()));
  const names = (containerId: string): readonly string[] =>
    allOf(attachment(containerId), found).map(({ name }) => name);

  t.same(names("c1"), ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"]);
  t.same(names("c2"), ["10.0.0.4", "10.0.0.5", "10.0.0.6", "2001:db8::2"]);
  t.same(names("c"), ["10.0.0.4", "10.0.0.5", "10.0.0.6"]);
});
