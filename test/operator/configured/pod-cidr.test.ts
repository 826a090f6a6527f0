/** The podCIDR where a configuration of Calico only asks for it (replaceHostLocalIPAMPodCIDR of its plugin). */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { capacity } from "../../../src/operator/capacity/capacity.ts";
import { check } from "../../../src/operator/check/check.ts";
import { metrics } from "../../../src/operator/metrics/metrics.ts";
import { networks } from "../../../src/operator/networks/networks.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { contextOf, memoryNode, places, remember, startOperator } from "../memory-node.ts";

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

test("it is assumed to be of the usual size, around all reservations, and said to be so", async (t) => {
  const machine = calicoNode(DUAL, ["10.244.3.2", "10.244.3.77", "fd00:3::2"]);
  const { subnets, said } = shown(machine);
  t.strictSame(subnets, ["10.244.3.0/24", "fd00:3::/64"]);
  t.match(
    said,
    "10-canal.conflist: its ranges are the podCIDR of this node (usePodCidr): IPv4 is assumed to be 10.244.3.0/24, in which all its reservations are; IPv6 is assumed to be fd00:3::/64, in which all its reservations are; kubectl get node",
  );
  t.match(run(machine, capacity).document(), {
    networks: [{ pods: 253n, ranges: [{ used: 2n }, { used: 1n }] }],
  });
  const { document, logged } = run(machine, metrics);
  t.match(
    JSON.stringify(document(), (_, value) => `${typeof value === "bigint" ? value : ""}` || value),
    '"range":"10.244.3.1-10.244.3.254"',
  );
  t.match(logged.join(), "is assumed to be");
});

test("it is not published as the number of pods of a node", async (t) => {
  const machine = calicoNode({ subnet: "usePodCidr", gateway: null }, ["10.244.3.2"]);
  t.throws(() => run(machine, capacity, { "--max-pods": "" }).document(), {
    message:
      /^capacity: \/conf\/10-canal\.conflist: its ranges are the podCIDR .* IPv4 is assumed to be /,
  });
});

test("without a reservation, or with some that no subnet of the usual size has, it is not known", async (t) => {
  for (const reservations of [[], ["10.244.3.2", "10.244.4.2"]]) {
    const { subnets, said } = shown(calicoNode({ subnet: "usePodCidr" }, reservations));
    t.strictSame(subnets, []);
    t.match(said, "IPv4 is not known here; kubectl");
  }
  t.strictSame(shown(calicoNode(DUAL, ["10.244.3.2"])).subnets, ["10.244.3.0/24"]);
});

test("a result with the prefix length of the subnet tells it, and one without does not", async (t) => {
  const machine = calicoNode({ subnet: "USEPODCIDR" }, ["10.244.3.2"]);
  remember(machine, "c1", { addresses: ["10.244.3.2/25"] });
  t.strictSame(shown(machine), { subnets: ["10.244.3.0/25"], said: "" });
  t.strictSame(run(machine, capacity, { "--max-pods": "" }).document(), {
    maxPods: 125n,
    addresses: 125n,
    hostNetworkPods: 0n,
  });
  for (const address of ["10.244.3.2/32", "10.244.9.2/24"]) {
    remember(machine, "c1", { addresses: [address] });
    t.match(shown(machine).said, "is assumed", address);
  }
});

test("in Canal flannel's file tells it, if it has the reservations", async (t) => {
  const machine = calicoNode({ subnet: "usePodCidr" }, ["10.244.3.2"]);
  const write = (subnet: string) =>
    machine.disk.put("/run/flannel/subnet.env", `FLANNEL_SUBNET=${subnet}\n`);
  write("10.244.2.1/23");
  t.strictSame(shown(machine), { subnets: ["10.244.2.0/23"], said: "" });
  write("10.42.0.1/24");
  t.strictSame(shown(machine).subnets, ["10.244.3.0/24"]);
});

test("reservations of ranges that are configured do not count", async (t) => {
  const ranges = [[{ subnet: "10.9.0.0/28" }], [{ subnet: "usePodCidr" }]];
  const machine = calicoNode({ ranges }, ["10.9.0.2", "10.244.3.2"]);
  t.strictSame(shown(machine).subnets, ["10.9.0.0/28", "10.244.3.0/24"]);
  remember(machine, "c1", { addresses: ["10.9.0.2/28", "10.244.3.2/25"] });
  t.strictSame(shown(machine).subnets, ["10.9.0.0/28", "10.244.3.0/25"]);
});

test("check finds nothing wrong with a podCIDR that is unknown, assumed or wrongly assumed", async (t) => {
  for (const reservations of [[], ["10.244.3.2"], ["10.244.3.2", "10.244.9.2"]]) {
    const { document } = run(calicoNode(DUAL, reservations), check);
    const { findings } = document() as { findings: { code: string }[] };
    const codes = findings.map(({ code }) => code).filter((code) => code !== "leaks-unknown");
    t.strictSame(codes, []);
  }
});
