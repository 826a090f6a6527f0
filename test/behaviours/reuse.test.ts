// test: each executable, one if short, sees the node
/**
 * With `"sticky": "pod"` a pod that comes back gets its address; with `reuseDelaySeconds` addresses rest.
 * test/verbs/reuse.test.ts tests what time changes in that.
 */

import { behaviour, dualStack, fails, five, pod } from "./behaviour.ts";

const sticky = { ...five, sticky: "pod" };

behaviour(
  "ADD of a pod that comes back gets its address, which others take only if nothing else is free",
  { ipam: sticky },
  (t, network) => {
    network.add("other");
    t.same(network.add("a1", pod("web-0")).addresses, ["198.51.100.3"]);
    network.add("b1", pod("web-1"));
    network.del("a1", pod("web-0"));
    network.del("b1", pod("web-1"));

    t.same(network.add("a2", pod("web-0")).addresses, ["198.51.100.3"]);
    t.same(network.fill(), ["198.51.100.5", "198.51.100.6", "198.51.100.4"]);
    fails(t, network.add("b2", pod("web-1")), 999, "no IP addresses available");
  },
);

behaviour(
  "ADD of a pod that comes back gets its addresses of all range sets, also after a GC",
  { ipam: { ...dualStack, sticky: "pod" }, needs: ["sees the node"] },
  (t, network) => {
    network.add("other");
    const { addresses } = network.add("a1", pod("web-0"));
    network.gc([]);
    network.add("next");

    t.same(network.add("a2", pod("web-0")).addresses, addresses);
    t.equal(addresses.length, 2);
  },
);

behaviour(
  "ADD takes another pod, interface or namespace for another one",
  { ipam: sticky },
  (t, network) => {
    network.add("a1", pod("web-0"));
    network.del("a1");

    t.same(network.add("b", pod("web")).addresses, ["198.51.100.3"]);
    t.same(network.add("c", { ...pod("web-0"), interfaceName: "eth1" }).addresses, [
      "198.51.100.4",
    ]);
    const cniArgs = "IgnoreUnknown=1;K8S_POD_NAMESPACE=other;K8S_POD_NAME=web-0";
    t.same(network.add("d", { cniArgs }).addresses, ["198.51.100.5"]);
    t.same(network.add("e").addresses, ["198.51.100.6"]);
  },
);

behaviour(
  "ADD takes the longest released if none has rested, but a pod's own or a requested one at once",
  { ipam: { ...sticky, reuseDelaySeconds: 600 } },
  (t, network) => {
    network.add("a1", pod("web-0"));
    network.add("b1", pod("web-1"));
    const others = network.fill();
    for (const at of [2, 0, 1]) network.del(`filler-${at}`);
    network.del("b1", pod("web-1"));
    network.del("a1", pod("web-0"));

    t.same(network.add("a2", pod("web-0")).addresses, ["198.51.100.2"]);
    t.same(network.add("c", { cniArgs: `IP=${others[1]}` }).addresses, [others[1]]);
    t.same(network.fill(), [others[2], others[0], "198.51.100.3"]);
  },
);

/** The options of a call for the virtual machine of this name, in a pod of any name. */
function vm(name: string, round = 0) {
  return pod(`virt-launcher-${name}-${round}`, `VM=${name}`);
}

for (const [where, by, callFor] of [
  ["CNI_ARGS", ["VM"], vm],
  [
    "args.cni",
    ["K8S_POD_NAMESPACE", "vm"],
    (name: string) => ({ ...pod("any"), top: { args: { cni: { vm: name } } } }),
  ],
  ["runtimeConfig", ["mac"], (mac: string) => ({ ...pod("any"), top: { runtimeConfig: { mac } } })],
] as const) {
  behaviour(
    `ADD gives an address back by members of ${where}`,
    { ipam: { ...five, sticky: { by } } },
    (t, network) => {
      network.add("a1", callFor("52:54:00:aa:00:01"));
      network.add("b1", callFor("52:54:00:aa:00:02"));
      network.del("b1");
      network.del("a1");

      t.same(network.add("c", pod("any")).addresses, ["198.51.100.4"], "of nobody");
      t.same(network.add("b2", callFor("52:54:00:aa:00:02")).addresses, ["198.51.100.3"]);
      t.same(network.add("a2", callFor("52:54:00:aa:00:01")).addresses, ["198.51.100.2"]);
    },
  );
}
