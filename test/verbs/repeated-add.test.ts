import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "./network.ts";

const subnet = "10.0.0.0/29";
const dualStack = { ranges: [[{ subnet }], [{ subnet: "2001:db8::/125" }]] };

/** A network that answers a repeated ADD as the first one. */
function repeating(ipam: object = { subnet }): Network {
  return new Network(new MemoryMachine(), { repeatedAdd: "same", ...ipam });
}

/** Everything on the disk, and the order of allocation. */
function everything(network: Network): unknown {
  return network.machine.disk.filesUnder("/");
}

test("a repeated ADD gets the result of the first", (t) => {
  const network = repeating({
    ...dualStack,
    routes: [{ dst: "0.0.0.0/0" }],
    resolvConf: "/etc/resolv.conf",
  });
  network.machine.disk.put("/etc/resolv.conf", "nameserver 192.0.2.53\n");
  const first = network.add("c1");
  network.add("c2");
  const before = network.reservations();

  const again = network.add("c1");

  t.equal(again.exitCode, 0);
  t.equal(again.stdout, first.stdout);
  t.same(network.reservations(), before);
  t.same([network.cursor(0), network.cursor(1)], ["10.0.0.3", "2001:db8::3"], "the cursors stay");
  t.same(network.add("c3").addresses, ["10.0.0.4/29", "2001:db8::4/125"]);
  t.end();
});

test("a repeated ADD takes the lock once, and makes each file of its own anew", (t) => {
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
  t.end();
});

test("a repeated ADD fails where it cannot make its files anew, and leaves them", (t) => {
  const network = repeating();
  network.add("c1");
  const path = `${network.directory}/10.0.0.2`;

  const { exitCode } = network.add("c1", { interrupt: refuse("rename", "EIO", path) });

  t.equal(exitCode, 1);
  t.same(network.reservations(), { "10.0.0.2": "c1\r\neth0" });
  t.end();
});

test("by default a repeated ADD is the reference's error", (t) => {
  for (const ipam of [{ repeatedAdd: undefined }, { repeatedAdd: "error" }]) {
    const network = repeating({ subnet, ...ipam });
    network.add("c1");
    t.match(network.add("c1").error?.msg, "duplicate allocation is not allowed");
  }
  t.end();
});

test("another interface of the container is another attachment", (t) => {
  const network = repeating();
  network.add("c1");
  t.same(network.add("c1", { interfaceName: "eth1" }).addresses, ["10.0.0.3/29"]);
  t.same(network.add("c1", { interfaceName: "eth1" }).addresses, ["10.0.0.3/29"]);
  t.end();
});

test("an attachment with addresses in some of the sets gets the reference's error, and keeps them", (t) => {
  for (const [address, index] of [
    ["10.0.0.5", 0],
    ["2001:db8::5", 1],
  ] as const) {
    const network = repeating(dualStack);
    network.put(address, "c1\r\neth0");

    t.equal(
      network.add("c1").error?.msg,
      `failed to allocate for range ${index}: ${address} has been allocated to c1, duplicate allocation is not allowed`,
    );
    t.same(network.reservations(), { [address]: "c1\r\neth0" });
  }
  t.end();
});

test("a reservation without an interface is not taken for the attachment's own", (t) => {
  const network = repeating();
  network.put("10.0.0.5", "c1");
  t.match(network.add("c1").error?.msg, "10.0.0.5 has been allocated to c1");
  t.end();
});

test("of several addresses in a set the first by name is the answer", (t) => {
  const network = repeating({ subnet: "10.0.0.0/24" });
  network.put("10.0.0.9", "c1\r\neth0");
  network.put("10.0.0.10", "c1\r\neth0");
  t.same(network.add("c1").addresses, ["10.0.0.10/24"]);
  t.end();
});

test("prefix length and gateway are those of the range as it is now", (t) => {
  const network = repeating();
  network.add("c1");
  const now = { subnet: "10.0.0.0/16", gateway: "10.0.0.9", exclude: ["10.0.0.2"] };
  t.same(JSON.parse(network.add("c1", { ipam: now }).stdout).ips, [
    { address: "10.0.0.2/16", gateway: "10.0.0.9" },
  ]);
  t.end();
});

test("an address outside the ranges, or that is the gateway by now, is not the answer", (t) => {
  const network = repeating();
  network.add("c1");
  t.same(network.add("c1", { ipam: { subnet: "10.1.0.0/24" } }).addresses, ["10.1.0.2/24"]);

  const other = repeating();
  other.add("c1");
  t.match(
    other.add("c1", { ipam: { gateway: "10.0.0.2" } }).error?.msg,
    "10.0.0.2 has been allocated to c1, duplicate allocation is not allowed",
  );
  t.end();
});

test("requested addresses that the attachment holds are the answer", (t) => {
  const network = repeating(dualStack);
  const first = network.addRequested("c1", ["10.0.0.4", "2001:db8::4"]);
  const before = network.reservations();

  t.equal(network.addRequested("c1", ["10.0.0.4", "2001:db8::4"]).stdout, first.stdout);
  t.equal(network.add("c1", { args: "IP=2001:db8::4" }).stdout, first.stdout);
  t.same(network.reservations(), before);
  t.end();
});

test("of several addresses in a set the requested one is the answer", (t) => {
  const network = repeating();
  network.put("10.0.0.4", "c1\r\neth0");
  network.put("10.0.0.5", "c1\r\neth0");
  t.same(network.add("c1", { args: "IP=10.0.0.5" }).addresses, ["10.0.0.5/29"]);
  t.end();
});

test("a requested address that the attachment does not hold is refused, even a free one", (t) => {
  const network = repeating(dualStack);
  network.add("c1");
  const before = everything(network);

  t.same(network.add("c1", { args: "IP=2001:db8::5" }).error, {
    code: 999,
    msg: "failed to allocate for range 1: requested IP address 2001:db8::5 is not available in range set 2001:db8::1-2001:db8::7",
    details:
      'c1 eth0 already holds 2001:db8::2 of it, and a repeated ADD gets no other address ("repeatedAdd": "same")',
  });
  t.equal(
    network.add("c1", { args: "IP=10.9.9.9" }).error?.msg,
    "failed to allocate all requested IPs: 10.9.9.9",
  );
  t.strictSame(everything(network), before);
  t.end();
});

test("an answer that cannot be delivered leaves the addresses with the attachment", (t) => {
  const network = repeating();
  network.add("c1");

  const answer = network.add("c1", { interrupt: refuse("writeStandardOutput", "EPIPE") });

  t.equal(answer.exitCode, 1);
  t.same(network.reservations(), { "10.0.0.2": "c1\r\neth0" });
  t.end();
});

test("a repeated ADD needs no free address, and after DEL an ADD is a first one again", (t) => {
  const network = repeating({ subnet: "10.0.0.0/30" });
  network.add("c1");
  t.same(network.add("c1").addresses, ["10.0.0.2/30"]);

  network.del("c1");
  network.add("c2");

  t.match(network.add("c1").error?.msg, "no IP addresses available");
  t.end();
});
