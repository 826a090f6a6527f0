import { test } from "tap";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "./network.ts";

const subnet = { subnet: "10.0.0.0/29" };

test("CHECK succeeds if any reservation names the attachment or its container alone", (t) => {
  const cases = [
    ["10.0.0.2", "c1\r\neth0", 0],
    ["10.9.9.9", "c1\r\neth0\n", 0],
    ["10.0.0.2", "c1", 0],
    ["10.0.0.2", "c1\r\neth1", 1],
    ["10.0.0.2", "c10\r\neth0", 1],
    ["10.0.0.2", "", 1],
    ["other", "c1\r\neth0", 1],
  ] as const;

  for (const [name, content, exitCode] of cases) {
    const network = new Network(new MemoryMachine(), subnet);
    network.put(name, content);

    t.equal(network.check("c1").exitCode, exitCode, `${name} ${JSON.stringify(content)}`);
  }
  t.end();
});

test("a failed CHECK names the attachment and the directory", (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  network.add("c2");

  t.same(network.check("c1").error, {
    code: 999,
    msg: "host-local: Failed to find address added by container c1",
    details: "no file in /var/lib/cni/networks/net names c1 eth0",
  });
  t.end();
});

test("CHECK changes nothing and takes no lock", (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  network.add("c1");
  const files = network.machine.disk.filesUnder("/");

  const { calls } = network.check("c1");

  t.same(
    new Set(calls.map(({ operation }) => operation)),
    new Set(["readStandardInput", "status", "linkStatus", "findLines", "readFile"]),
  );
  t.same(network.machine.disk.filesUnder("/"), files);
  t.end();
});

test("CHECK where nothing was ever reserved creates nothing", (t) => {
  const network = new Network(new MemoryMachine(), subnet);

  t.equal(network.check("c1").exitCode, 1);

  t.same(network.machine.disk.list("/"), []);
  t.end();
});

test("CHECK is strict about the configuration", (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  network.add("c1");

  t.match(network.check("c1", { ipam: { subnet: "garbage" } }).error?.msg, "invalid CIDR address");
  t.match(network.check("c1", { args: "X=1" }).error?.msg, "unknown args");
  t.end();
});

test("in the chain after a main plugin, CHECK always succeeds", (t) => {
  const network = new Network(new MemoryMachine(), subnet);

  const { exitCode, stdout } = network.check("c1", { top: { gcOnly: true } });

  t.same([exitCode, stdout], [0, ""]);
  t.end();
});
