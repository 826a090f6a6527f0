import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "./network.ts";

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

test("STATUS succeeds if an ADD could succeed", (t) => {
  const { exitCode, stdout, stderr } = networkWith(five.slice(1)).status();

  t.same([exitCode, stdout, stderr], [0, "", ""]);
  t.end();
});

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

test("STATUS before the first ADD on a node succeeds and creates nothing", (t) => {
  const network = new Network(new MemoryMachine(), subnet);

  t.equal(network.status().exitCode, 0);

  t.same(network.machine.disk.list("/"), []);
  t.end();
});

test("STATUS reports an exhausted range set, with counts, where the configuration says so", (t) => {
  const { error } = networkWith(five).status();

  t.equal(error?.code, 50);
  t.equal(error?.msg, "no IP addresses available in range set: 10.0.0.1-10.0.0.6");
  t.match(error?.details, "10.0.0.1-10.0.0.6: 5 of 5 addresses in use");
  t.end();
});

test("one exhausted set is an error; one free range in each set is success", (t) => {
  const full = subnet;
  const free = { subnet: "10.1.0.0/29" };

  t.equal(networkWith(five, { ...strict, ranges: [[free], [full]] }).status().error?.code, 50);
  t.equal(networkWith(five, { ...strict, ranges: [[full, free]] }).status().exitCode, 0);
  t.end();
});

test("by default an exhausted range set is no error, and the directory is not read", (t) => {
  for (const ipam of [subnet, { ...subnet, exhaustedStatus: "ready" }]) {
    const { exitCode, calls } = networkWith(five, ipam).status();

    t.equal(exitCode, 0);
    t.notOk(calls.some(({ operation }) => operation === "list"));
  }
  t.end();
});

test("STATUS reports a range set of which every address is excluded", (t) => {
  const { error } = networkWith([], { ...subnet, exclude: ["10.0.0.0/29"] }).status();

  t.equal(error?.code, 50);
  t.match(error?.details, "10.0.0.1-10.0.0.6: 0 of 0 addresses in use");
  t.end();
});

test("debris that the next ADD reclaims counts as free", (t) => {
  const network = networkWith(five.slice(1));
  network.put("10.0.0.2", "");
  t.equal(network.status().error?.code, 50, "it has not settled yet");

  network.machine.wait(10_001);

  t.equal(network.status().exitCode, 0);
  t.equal(network.add("c2").exitCode, 0);
  t.end();
});

test("debris at an address that is never handed out does not count as free", (t) => {
  const network = networkWith(five);
  network.put("10.0.0.1", "");
  network.machine.wait(10_001);

  t.equal(network.status().error?.code, 50);
  t.equal(network.add("c2").exitCode, 1);
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

test("STATUS needs no ranges, since a runtime sends some only with an ADD", (t) => {
  for (const ipam of [{ subnet: null }, { subnet: null, ranges: [] }]) {
    t.equal(networkWith(five).status({ ipam }).exitCode, 0);
  }
  t.end();
});

test("STATUS reports a configuration that an ADD would refuse", (t) => {
  const cases = [
    [{ ipam: { subnet: "garbage" } }, "invalid CIDR address: garbage"],
    [{ ipam: { subnet: null, dataDir: 5 } }, "json: cannot unmarshal number into ipam.dataDir"],
    [{ top: { ipam: null } }, "IPAM config missing 'ipam' key"],
  ] as const;

  for (const [options, msg] of cases) {
    const { error } = networkWith([]).status(options);

    t.equal(error?.code, 50);
    t.match(error?.msg, msg);
  }
  t.end();
});

test("in the chain after a main plugin, STATUS checks the store", (t) => {
  t.equal(networkWith(five).status({ top: { gcOnly: true } }).error?.code, 50);
  t.end();
});
