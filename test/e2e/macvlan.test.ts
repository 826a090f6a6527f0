// test: each executable, one if short
/** The `macvlan` plugin: pods beside the host on its own subnet. */

import { loadExample } from "./example.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["macvlan"], cniVersion: "1.0.0" };

scenario("macvlan: two pods reach each other on the host's card", needs, (t, host) => {
  const network = loadExample("macvlan.conflist");
  host.plugInCard("eth0");
  const [first, second] = [new Pod("pod-1"), new Pod("pod-2")];

  host.runtime.add(network, first);
  host.runtime.add(network, second);

  t.same(first.addresses(), ["192.168.1.200/24"], "the first pod has its address");
  t.ok(first.reaches("192.168.1.201"), "the first pod reaches the second");
  t.doesNotThrow(() => host.runtime.check(network, first), "CHECK passes");

  host.runtime.del(network, first);
  t.same(host.reservations("macvlan"), { "192.168.1.201": "pod-2\r\neth0" }, "DEL frees");
  t.same(host.calls(), [
    "macvlan: ADD pod-1 eth0 /run/netns/pod-1: exit 0",
    "macvlan: ADD pod-2 eth0 /run/netns/pod-2: exit 0",
    "macvlan: CHECK pod-1 eth0 /run/netns/pod-1: exit 0",
    "macvlan: DEL pod-1 eth0 /run/netns/pod-1: exit 0",
  ]);
});
