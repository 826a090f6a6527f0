import { test } from "tap";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";

const subnet = { subnet: "10.0.0.0/29" };

test("CHECK changes nothing and takes no lock", async (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  network.add("c1");
  const files = network.machine.disk.filesUnder("/");

  const { calls } = network.check("c1");

  t.same(
    new Set(calls.map(({ operation }) => operation)),
    new Set(["readStandardInput", "status", "permissions", "findLines", "readFile"]),
  );
  t.same(network.machine.disk.filesUnder("/"), files);
});
