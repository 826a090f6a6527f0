import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import type { MemoryDisk } from "../harness/memory-disk.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";

const CURSOR = "/var/lib/cni/networks/net/last_reserved_ip.0";
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

test("STATUS looks at what ADD would try, takes no lock and changes nothing", async (t) => {
  const network = networkWith(five.slice(1));
  const files = network.machine.disk.filesUnder("/");

  const { calls } = network.status();

  t.same(
    calls.map(({ operation }) => operation),
    [
      "readStandardInput",
      ...["permissions", "permissions", "permissions"],
      "status",
      "requireWritable",
      // The lock file, which is not there.
      "linkStatus",
      // The cursor, which addresses are in use, and the first address after the cursor.
      ...["linkStatus", "readFile", "linkedAddresses", "linkStatus"],
    ],
  );
  t.same(network.machine.disk.filesUnder("/"), files);
});

test("STATUS reports a directory that cannot be read", async (t) => {
  const { error } = networkWith(five).status({ interrupt: refuse("listAddresses", "EIO") });

  t.same(error, { code: 50, msg: "open /var/lib/cni/networks/net: input/output error" });
});

test("one range with room left makes STATUS list nothing", async (t) => {
  const ranges = [[{ subnet: "10.0.0.0/30" }, { subnet: "10.0.1.0/24" }]];
  const network = networkWith([], { ranges });
  network.add("c1");
  const operations = (answer: { readonly calls: readonly { readonly operation: string }[] }) =>
    answer.calls.map(({ operation }) => operation);

  const opening = ["readStandardInput", "permissions", "permissions", "permissions"];
  const opened = ["linkStatus", "requireOpenable"];
  const store = ["status", "requireWritable", ...opened, ...opened];
  t.same(operations(network.status()), [...opening, ...store], "lock and cursor");

  const strictly = operations(network.strictStatus());
  for (const operation of ["findLines", "listAddresses", "readFiles"]) {
    t.notOk(strictly.includes(operation), operation);
  }
});

test("a resolvConf that is missing counts where the runtime sends the ranges, too", async (t) => {
  const { error } = networkWith([], { resolvConf: "/none" }).status();

  t.match(error, { code: 50, msg: "open /none: no such file or directory", details: /resolvConf/ });
});

for (const [what, make] of [
  ["a directory", (disk: MemoryDisk, path: string) => disk.makeDirectories(path)],
  ["a link to one", (disk: MemoryDisk, path: string) => disk.putLink(path, "/var")],
] as const) {
  test(`with ${what} in the place of a cursor, STATUS fails exactly if ADD does`, async (t) => {
    const network = networkWith([]);
    network.add("c1");
    network.machine.disk.removeAll(CURSOR);
    make(network.machine.disk, CURSOR);

    const { error } = network.status();

    t.equal(error === undefined, network.add("c2").error === undefined);
    t.equal(error?.code, what === "a directory" ? 50 : undefined);
  });
}
