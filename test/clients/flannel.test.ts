// test: each executable, full extent only, slow, sees the node, makes namespaces, mounts
/** flannel's CNI plugin, which delegates to `bridge`: which calls reach the plugin, and which do not. */

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Network } from "../e2e/libcni.ts";
import { clientScenario, versionIn } from "./client-scenario.ts";
import { Cnitool } from "./cnitool.ts";

/** The path of flannel's CNI plugin; empty if nobody has given one. */
const { HOST_LOCAL_FLANNEL: flannelPath = "" } = process.env;

/** The subnet.env that flanneld writes on a dual-stack node. */
const subnetEnv = `FLANNEL_NETWORK=10.244.0.0/16
FLANNEL_SUBNET=10.244.7.1/24
FLANNEL_IPV6_NETWORK=fd00:10:244::/48
FLANNEL_IPV6_SUBNET=fd00:10:244:7::1/64
FLANNEL_MTU=1450
FLANNEL_IPMASQ=true
`;

/** The network of kube-flannel's manifest, followed by the entry that gets CHECK and GC. */
const network: Network = {
  cniVersion: "1.1.0",
  name: "cbr0",
  plugins: [
    { type: "flannel", delegate: { hairpinMode: true, isDefaultGateway: true } },
    { type: "host-local", gcOnly: true, ipam: { type: "host-local" } },
  ],
};

clientScenario(
  {
    name: "flannel",
    scenario:
      "delegates to bridge, dual stack. DEL without its own note calls nothing. GC releases",
    needs: {
      plugins: ["bridge"],
      cniVersion: "1.1.0",
      programs: ["cnitool", "libcni-gc"],
      given: [{ option: "--flannel", path: flannelPath }],
      seesProcesses: true,
    },
    version: () => versionIn(spawnSync(flannelPath, { encoding: "utf8" }).stderr),
    fixture: "flannel",
  },
  async (t, host) => {
    mkdirSync("/run/flannel");
    writeFileSync("/run/flannel/subnet.env", subnetEnv);
    host.install("flannel", flannelPath);
    host.configure(network);
    const cnitool = new Cnitool(host, "cnitool", network);
    const held = (): readonly string[] => Object.keys(host.reservations(network.name));

    const kept = ["10.244.7.2", "fd00:10:244:7::2"];
    const lost = ["10.244.7.3", "fd00:10:244:7::3"];
    for (const name of ["kept", "lost"]) await cnitool.start(name);
    t.same(held().toSorted(), [...kept, ...lost].sort());
    const [id = ""] = host.reservations(network.name)["10.244.7.2"]?.split("\r\n") ?? [];

    rmSync("/var/lib/cni/flannel", { recursive: true });
    await cnitool.stop("lost");
    t.same(held().length, 4, "without its note of the container flannel's DEL calls nothing");
    // GC keeps what is young.
    await sleep(2100);
    cnitool.collectGarbage(`${id}:eth0`);
    t.same(held(), kept, "GC reaches the entry behind flannel");

    await cnitool.start("third");
    await cnitool.stop("third");
    t.same(held(), kept, "DEL with the note releases both");
  },
);
