// test: each executable
/** The `ptp` plugin: every pod on a link of its own, the host in between. */

import { loadExample } from "./example.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["ptp"], cniVersion: "1.0.0" };

scenario("ptp: two pods reach each other through the host", needs, (t, host) => {
  const network = loadExample("ptp.conflist");
  const [first, second] = [new Pod("pod-1"), new Pod("pod-2")];

  host.runtime.add(network, first);
  host.runtime.add(network, second);

  t.same(first.addresses(), ["10.26.0.2/24"], "the first pod has its address");
  t.ok(first.reaches("10.26.0.3"), "the first pod reaches the second");
  t.ok(first.reaches("10.26.0.1"), "the first pod reaches the gateway");
  t.doesNotThrow(() => host.runtime.check(network, first), "CHECK passes");

  host.runtime.del(network, first);
  t.same(host.reservations("ptp"), { "10.26.0.3": "pod-2\r\neth0" }, "DEL frees");
  t.throws(
    () => host.runtime.check(network, first),
    { message: /Failed to find address added by container pod-1/ },
    "CHECK misses the address",
  );
  t.same(host.calls(), [
    "ptp: ADD pod-1 eth0 /run/netns/pod-1: exit 0",
    "ptp: ADD pod-2 eth0 /run/netns/pod-2: exit 0",
    "ptp: CHECK pod-1 eth0 /run/netns/pod-1: exit 0",
    "ptp: DEL pod-1 eth0 /run/netns/pod-1: exit 0",
    "ptp: CHECK pod-1 eth0 /run/netns/pod-1: exit 1",
  ]);
});
