// test: each executable, one if short, slow
/** GC and STATUS of specification 1.1.0 on their way through the `bridge` plugin. */

import { setTimeout as sleep } from "node:timers/promises";
import { takeNamespace, withHighNumber } from "../harness/network-namespaces.ts";
import { loadExample } from "./example.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["bridge"], cniVersion: "1.1.0" };

const seesProcesses = { ...needs, seesProcesses: true };

scenario(
  "GC reaches the chained host-local and frees what is not valid",
  seesProcesses,
  async (t, host) => {
    const network = loadExample("gc-only-chain.conflist");
    const [kept, lost] = [new Pod("pod-1"), withHighNumber(() => new Pod("pod-2"))];
    host.runtime.add(network, kept);
    host.runtime.add(network, lost);
    t.doesNotThrow(() => host.runtime.check(network, kept), "CHECK passes along the chain");

    host.runtime.gc(network, []);
    t.equal(Object.keys(host.reservations("gc-only-chain")).length, 2, "both namespaces live");
    const waitUntilGone = takeNamespace(lost.netns, () => lost.remove());
    // GC keeps what is young.
    await sleep(2100);
    waitUntilGone();
    host.runtime.gc(network, []);
    t.same(host.reservations("gc-only-chain"), { "10.30.0.2": "pod-1\r\neth0" });
    t.ok(kept.reaches("10.30.0.1"), "the kept pod still reaches the gateway");

    host.runtime.del(network, kept);
    t.same(host.reservations("gc-only-chain"), {}, "DEL through the chain frees");
    t.same(host.calls(), [
      "bridge: ADD pod-1 eth0 /run/netns/pod-1: exit 0",
      "node: ADD pod-1 eth0 /run/netns/pod-1: exit 0",
      "bridge: ADD pod-2 eth0 /run/netns/pod-2: exit 0",
      "node: ADD pod-2 eth0 /run/netns/pod-2: exit 0",
      "bridge: CHECK pod-1 eth0 /run/netns/pod-1: exit 0",
      "node: CHECK pod-1 eth0 /run/netns/pod-1: exit 0",
      "node: GC: exit 0",
      "node: GC: exit 0",
      "node: DEL pod-1 eth0 /run/netns/pod-1: exit 0",
      "bridge: DEL pod-1 eth0 /run/netns/pod-1: exit 0",
    ]);
  },
);

scenario(
  "bridge forwards STATUS, and a full range is unavailable if so configured",
  needs,
  (t, host) => {
    const network = loadExample("status-and-lock.conflist");
    t.doesNotThrow(() => host.runtime.status(network), "there is room");
    host.runtime.add(network, new Pod("pod-1"));

    t.throws(() => host.runtime.status(network), { plugin: "bridge", code: 50 });

    t.match(host.calls().at(-1), "bridge: STATUS: exit 1");
  },
);
