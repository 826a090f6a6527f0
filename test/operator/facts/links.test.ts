/** The links of the node, of which the kernel tells by its interfaces and `/sys/class/net`. */

import { test } from "tap";
import { readLinks } from "../../../src/operator/facts/links.ts";
import { SystemError } from "../../../src/system/system.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { networkIn } from "../held/reservation.ts";
import { startOperator } from "../memory-node.ts";

const bridged = (name: string) =>
  networkIn("/data", { bridgeName: name, bridge: { name, isForced: false } });

function linksOn(
  machine: MemoryMachine,
  lines: readonly string[] | Error,
  ...names: readonly string[]
) {
  const list = (): readonly string[] => {
    if (lines instanceof Error) throw lines;
    return lines;
  };
  return readLinks(startOperator(machine, undefined, list).system, names.map(bridged));
}

test("interfaces are told with their addresses, also one without any", async (t) => {
  const { interfaces } = linksOn(new MemoryMachine(), [
    "lo 127.0.0.1/8",
    "cni0",
    "cni0 10.1.2.1/24",
    "cni0 fd00::1/64",
  ]);
  t.same(
    [...(interfaces ?? [])].map(([name, all]) => [
      name,
      all.map(({ prefixLength }) => prefixLength),
    ]),
    [
      ["lo", [8]],
      ["cni0", [24, 64]],
    ],
  );
});

test("of a bridge the ports are told; of what is none, that it is another interface", async (t) => {
  const machine = new MemoryMachine();
  for (const directory of ["cni0/bridge", "cni0/brif", "eth0"]) {
    machine.disk.makeDirectories(`/sys/class/net/${directory}`);
  }
  machine.disk.put("/sys/class/net/cni0/brif/veth1", "");
  const { ports, otherInterfaces } = linksOn(machine, [], "cni0", "eth0", "missing0");
  t.same([...ports], [["cni0", ["veth1"]]]);
  t.same([...otherInterfaces], ["eth0"]);
});

test("where the kernel does not tell of interfaces, that is not that there are none", async (t) => {
  const refused = new SystemError("socket", "netlink", "EAFNOSUPPORT");
  t.equal(linksOn(new MemoryMachine(), refused, "cni0").interfaces, undefined);
});
