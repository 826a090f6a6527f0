// test: native executable, makes namespaces, mounts
/** Subnets of two addresses with real packets. */

import { spawnSync } from "node:child_process";
import { loadExample } from "./example.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

scenario(
  "ptp: node and pod share a /31, whose other address is the gateway",
  { plugins: ["ptp"], cniVersion: "1.0.0" },
  (t, host) => {
    const network = loadExample("small-subnet.conflist");
    const pod = new Pod("pod-1");

    host.runtime.add(network, pod);

    t.same(pod.addresses(), ["10.37.0.1/31"]);
    t.ok(pod.reaches("10.37.0.0"), "the pod reaches the node");
    t.doesNotThrow(() => host.runtime.check(network, pod), "CHECK passes");

    host.runtime.del(network, pod);
    t.same(host.reservations("small-subnet"), {}, "DEL frees");
  },
);

scenario(
  "bridge: without a gateway in the result it takes the address after the subnet's first",
  { plugins: ["bridge"], cniVersion: "1.0.0" },
  (t, host) => {
    const ipam = { type: "host-local", subnet: "10.37.1.0/31" };
    const bridge = { type: "bridge", bridge: "small0", isGateway: true, ipam };
    const network = { name: "small-bridge", cniVersion: "1.0.0", plugins: [bridge] };

    host.runtime.add(network, new Pod("pod-1"));

    const { stdout } = spawnSync("ip", ["-brief", "-4", "address", "show", "dev", "small0"]);
    t.match(String(stdout), "10.37.1.1/31");
  },
);
