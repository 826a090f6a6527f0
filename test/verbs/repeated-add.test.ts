import { test } from "tap";
import { formatAddress } from "../../src/ipam/address.ts";
import { parseOwner } from "../../src/store/reservations/owner.ts";
import { heldAllocation, holdsEverySet } from "../../src/verbs/repeated-add.ts";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";
import { address } from "../ipam/parsed.ts";
import { attachment, rangeSet } from "../store/fixtures.ts";

const subnet = "10.0.0.0/29";
const dualStack = { ranges: [[{ subnet }], [{ subnet: "2001:db8::/125" }]] };

/** A network that answers a repeated ADD as the first one. */
function repeating(ipam: object = { subnet }): Network {
  return new Network(new MemoryMachine(), { repeatedAdd: "same", ...ipam });
}

test("of what an attachment holds in a set, the requested address is the answer, or the first", async (t) => {
  const set = rangeSet(subnet, "10.1.0.0/24");
  const refusal = (held: string) => ({
    code: 999,
    message:
      "requested IP address 10.0.0.5 is not available in range set 10.0.0.1-10.0.0.6,10.1.0.1-10.1.0.254",
    details: `c1 eth0 already holds ${held} of it, and a repeated ADD gets no other address ("repeatedAdd": "same")`,
  });
  for (const [holds, requested, expected] of [
    ["10.0.0.4 10.0.0.2", undefined, "10.0.0.4/29"],
    ["10.0.0.4 10.0.0.2", "10.0.0.2", "10.0.0.2/29"],
    ["10.0.0.4 10.1.0.9", "10.1.0.9", "10.1.0.9/24"],
    ["10.0.0.4 10.0.0.2", "10.0.0.5", refusal("10.0.0.4, 10.0.0.2")],
    // One that is in no range, and that which is the gateway by now.
    ["10.9.9.9 10.0.0.1 10.0.0.4", undefined, "10.0.0.4/29"],
    ["10.9.9.9 10.0.0.1", undefined, undefined],
    // A file without an interface may be another interface's.
    ["10.0.0.4:c1", undefined, undefined],
  ] as const) {
    const held = holds.split(" ").map((text) => {
      const [name = "", content = "c1\r\neth0"] = text.split(":");
      return { name, address: address(name), owner: parseOwner(content) };
    });
    t.equal(holdsEverySet([set], held), expected !== undefined, holds);
    const answer = (): string => {
      const asked = requested && address(requested);
      const found = heldAllocation(set, held, asked, attachment("c1"));
      return `${formatAddress(found.address)}/${found.range.prefixLength}`;
    };
    if (typeof expected === "string") t.equal(answer(), expected, holds);
    else if (expected !== undefined) t.throws(answer, expected);
  }
});

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
