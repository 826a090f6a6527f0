import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";

const subnet = { subnet: "10.0.0.0/29" };

function networkWith(reservations: Readonly<Record<string, string>> = {}): Network {
  const network = new Network(new MemoryMachine(), subnet);
  for (const [address, content] of Object.entries(reservations)) network.put(address, content);
  return network;
}

test("ADD, CHECK and DEL fail where the directory cannot be listed", async (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0" });
  const options = { interrupt: refuse("readFiles", "EACCES") };
  const msg = `open ${network.directory}: permission denied`;

  t.same(network.add("c1", options).error, { code: 999, msg });
  t.same(network.check("c1", options).error, { code: 999, msg });
  t.same(network.del("c1", options).error, { code: 5, msg });
});

test("DEL that finds nothing names the files that it could not read", async (t) => {
  const network = networkWith({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2\r\neth0" });
  const interrupt = refuse("readFile", "EIO", `${network.directory}/10.0.0.2`);

  const unread = network.del("c1", { interrupt });

  t.equal(unread.exitCode, 0);
  t.equal(
    unread.stderr,
    "host-local: open /var/lib/cni/networks/net/10.0.0.2: input/output error; it may be a reservation of c1\n",
  );
  t.equal(network.del("c2", { interrupt }).stderr, "", "one that finds something does not");
});

test("DEL fails if a reservation that the journal lists for it is unreadable, and frees others", async (t) => {
  const network = networkWith();
  network.add("c1");
  network.put("10.0.0.4", "c1\r\neth0");
  network.add("c2");
  const interrupt = refuse("readFile", "EIO", `${network.directory}/10.0.0.2`);

  const { error } = network.del("c1", { interrupt });

  t.same(error, {
    code: 5,
    msg: "cannot read 1 of the reservations of c1 eth0",
    details: "open /var/lib/cni/networks/net/10.0.0.2: input/output error",
  });
  t.same(Object.keys(network.reservations()), ["10.0.0.2", "10.0.0.3"]);
});

test("containers whose ids end alike have their own addresses, and each DEL releases its own", async (t) => {
  const network = networkWith();
  const ids = ["0", "1", "2"].map((begin) => `${begin}${"f".repeat(63)}`);
  const given = ids.map((id) => network.add(id).addresses[0]);
  t.equal(new Set(given).size, 3);

  for (const [at, id] of ids.entries()) {
    for (const _ of ["DEL", "DEL again"]) t.equal(network.del(id).exitCode, 0);
    t.same(network.reserved(), given.slice(at + 1));
    t.equal(network.check(id).exitCode, 1);
    for (const other of ids.slice(at + 1)) t.equal(network.check(other).exitCode, 0);
  }
});
