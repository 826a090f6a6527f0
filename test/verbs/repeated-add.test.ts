import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";

const subnet = "10.0.0.0/29";
const dualStack = { ranges: [[{ subnet }], [{ subnet: "2001:db8::/125" }]] };

/** A network that answers a repeated ADD as the first one. */
function repeating(ipam: object = { subnet }): Network {
  return new Network(new MemoryMachine(), { repeatedAdd: "same", ...ipam });
}

test("a repeated ADD takes the lock once, and makes each file of its own anew", async (t) => {
  const network = repeating(dualStack);
  network.add("c1");
  const files = ["10.0.0.2", "2001:db8::2"].map((name) => `${network.directory}/${name}`);
  const inodes = (): readonly bigint[] =>
    files.map((path) => network.machine.disk.linkStatus(path).inode);
  const before = inodes();

  const { calls } = network.add("c1");

  t.equal(calls.filter(({ operation }) => operation === "lock").length, 1);
  for (const [at, inode] of inodes().entries()) t.not(inode, before[at]);
  const own = calls.filter(({ path }) => files.includes(path));
  t.notOk(
    own.some(({ operation }) => operation === "unlink"),
    "at no time is one missing",
  );
});

test("a repeated ADD fails where it cannot make its files anew, and leaves them", async (t) => {
  const network = repeating();
  network.add("c1");
  const path = `${network.directory}/10.0.0.2`;

  const { exitCode } = network.add("c1", { interrupt: refuse("rename", "EIO", path) });

  t.equal(exitCode, 1);
  t.same(network.reservations(), { "10.0.0.2": "c1\r\neth0" });
});

test("an answer that cannot be delivered leaves the addresses with the attachment", async (t) => {
  const network = repeating();
  network.add("c1");

  const answer = network.add("c1", { interrupt: refuse("writeStandardOutput", "EPIPE") });

  t.equal(answer.exitCode, 1);
  t.equal(answer.calls.filter(({ operation }) => operation === "lock").length, 1, "no UNDO");
  t.same(network.reservations(), { "10.0.0.2": "c1\r\neth0" });
});

test("a repeated ADD leaves what a process without its lock has given to another meanwhile", async (t) => {
  const network = repeating();
  network.add("c1");
  const path = `${network.directory}/10.0.0.2`;
  let isFirst = true;
  const meanwhile = (): void => {
    network.machine.disk.unlink(path);
    network.put("10.0.0.2", "other\r\neth0");
  };

  const { error } = network.add("c1", {
    interrupt: ({ operation }) => {
      if (operation !== "createFile" || !isFirst) return undefined;
      isFirst = false;
      return { kind: "pause", meanwhile };
    },
  });

  t.match(error, {
    code: 11,
    msg: `${path} has changed meanwhile`,
    details: "it is held by container other, interface eth0",
  });
  t.same(network.reservations(), { "10.0.0.2": "other\r\neth0" });
});

test("a repeated ADD that cannot read what it holds gets no second address", async (t) => {
  const network = repeating();
  network.add("c1");
  const path = `${network.directory}/10.0.0.2`;

  const { error } = network.add("c1", { interrupt: refuse("readFile", "EIO", path) });

  t.equal(error?.code, 999);
  t.equal(error?.msg, "cannot read the reservations of c1 eth0");
  t.match(error?.details, path);
  t.same(Object.keys(network.reservations()), ["10.0.0.2"]);
});
