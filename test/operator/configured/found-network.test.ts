/** Networks whose ranges are not known: given by the runtime, or a podCIDR that Calico's configuration only asks for. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { capacity } from "../../../src/operator/capacity/capacity.ts";
import type { check } from "../../../src/operator/check/check.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import { networks } from "../../../src/operator/networks/networks.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import {
  configure,
  contextOf,
  findingsOn,
  memoryNode,
  places,
  startOperator,
} from "../memory-node.ts";

/** A node of Calico's, with these reservations. */
function calicoNode(ipam: JsonObject, reservations: readonly string[] = []): MemoryMachine {
  const machine = memoryNode(Object.fromEntries(reservations.map((name) => [name, "c1\r\neth0"])));
  const calico = { type: "calico", ipam: { type: "host-local", ...ipam } };
  const plugins = [calico, { type: "portmap" }];
  machine.disk.put(
    "/conf/10-canal.conflist",
    JSON.stringify({ name: "net", cniVersion: "0.3.1", plugins }),
  );
  return machine;
}

const DUAL = { ranges: [[{ subnet: "usePodCidr" }], [{ subnet: "usePodCidrIPv6" }]] };

function run(machine: MemoryMachine, command: typeof check, options = {}) {
  const logged: string[] = [];
  const { system } = startOperator(machine);
  const context = contextOf(system, { ...places, ...options });
  const document = () =>
    command.run({ ...context, log: (message) => logged.push(message) }).document();
  return { document, logged };
}

/** The subnets that `networks` shows, and what it says of them. */
function shown(machine: MemoryMachine): { readonly subnets: readonly string[]; said: string } {
  const { document, logged } = run(machine, networks);
  const found = document() as { networks: { ranges: { subnet: string }[] }[] };
  const subnets = found.networks.flatMap(({ ranges }) => ranges.map(({ subnet }) => subnet));
  return { subnets, said: logged.join("\n") };
}

const UNKNOWN =
  /10-canal\.conflist: its ranges are the podCIDR of this node \(usePodCidr\), .*kubectl get node NODE /;

test("it is not known, and said to be so, with the command that shows it", async (t) => {
  const machine = calicoNode(DUAL, ["10.244.3.2"]);
  const { subnets, said } = shown(machine);
  t.strictSame(subnets, []);
  t.match(said, UNKNOWN);
  t.match(run(machine, capacity).document(), { networks: [{ ranges: [] }] });
  const { document, logged } = run(machine, metrics);
  document();
  t.match(logged.join(), UNKNOWN);
});

test("no number of pods is published for it", async (t) => {
  const machine = calicoNode({ subnet: "usePodCidr", gateway: null }, ["10.244.3.2"]);
  t.throws(() => run(machine, capacity, { "--max-pods": "" }).document(), { message: UNKNOWN });
});

for (const [name, found] of [
  ["ipRanges", []],
  ["IPRANGES", ["out-of-range"]],
] as const) {
  test(`with the capability ${name} ${found.length} addresses are outside of all ranges`, async (t) => {
    const machine = memoryNode({ "203.0.113.9": "c9\r\neth0" });
    const ipam = { type: "host-local", subnet: "198.51.100.0/28" };
    const capabilities = { [name]: true };
    configure(machine, "net.conf", {
      cniVersion: "1.0.0",
      name: "net",
      type: "ptp",
      capabilities,
      ipam,
    });
    const codes = findingsOn(machine).map(({ code }) => code);
    t.strictSame(
      codes.filter((code) => code === "out-of-range"),
      found,
    );
  });
}
