import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";

const subnet = { subnet: "10.0.0.0/29" };
const strict = { exhaustedStatus: "unavailable" };
const five = [2, 3, 4, 5, 6].map((last) => `10.0.0.${last}`);

function networkWith(
  addresses: readonly string[],
  ipam: object = { ...subnet, ...strict },
): Network {
  const network = new Network(new MemoryMachine(), ipam);
  for (const address of addresses) network.put(address, "c1\r\neth0");
  return network;
}

test("STATUS reads the directory once, takes no lock and changes nothing", (t) => {
  const network = networkWith(five.slice(1));
  const files = network.machine.disk.filesUnder("/");

  const { calls } = network.status();

  t.same(
    calls.map(({ operation }) => operation),
    [
      "readStandardInput",
      ...["linkStatus", "linkStatus", "linkStatus"],
      "status",
      "requireWritable",
      "findLines",
      "listAddresses",
    ],
  );
  t.same(network.machine.disk.filesUnder("/"), files);
  t.end();
});

test("by default an exhausted range set is not an error, and the directory is not read", (t) => {
  for (const ipam of [subnet, { ...subnet, exhaustedStatus: "ready" }]) {
    const { exitCode, calls } = networkWith(five, ipam).status();

    t.equal(exitCode, 0);
    t.notOk(calls.some(({ operation }) => operation === "list"));
  }
  t.end();
});

test("STATUS reports a directory in which nothing can be created", (t) => {
  const network = networkWith([]);
  const cases = [
    ["/var/lib/cni/networks/net", networkWith(five.slice(1))],
    ["/", network],
  ] as const;

  for (const [path, where] of cases) {
    const { error } = where.status({ interrupt: refuse("requireWritable", "EROFS", path) });

    t.same(error, { code: 50, msg: `access ${path}: read-only file system` });
  }
  t.end();
});

test("STATUS reports a directory that cannot be read", (t) => {
  const { error } = networkWith(five).status({ interrupt: refuse("listAddresses", "EIO") });

  t.same(error, { code: 50, msg: "open /var/lib/cni/networks/net: input/output error" });
  t.end();
});

test("one range set with room does not make up for another without, known from the journal or not", (t) => {
  const ranges = [[{ subnet: "10.0.1.0/24" }], [{ subnet: "10.0.0.0/30" }]];
  const network = networkWith([], { ...strict, ranges });
  network.add("c1");

  const { error, calls } = network.status();

  t.match(error, { code: 50, details: /1 of 1 address in use/ });
  t.ok(calls.some(({ operation }) => operation === "findLines"));
  t.end();
});

test("by default no journal is read, and one with room left makes STATUS list nothing", (t) => {
  const ranges = [[{ subnet: "10.0.0.0/30" }, { subnet: "10.0.1.0/24" }]];
  const network = networkWith([], { ranges });
  network.add("c1");
  const operations = (answer: { readonly calls: readonly { readonly operation: string }[] }) =>
    answer.calls.map(({ operation }) => operation);

  t.notOk(operations(network.status()).includes("findLines"));

  const strictly = operations(network.strictStatus());
  t.ok(strictly.includes("findLines"));
  t.notOk(strictly.includes("listAddresses"));
  t.end();
});
