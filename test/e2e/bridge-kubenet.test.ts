// test: each executable, one if short
/** kubenet's configuration, cniVersion 0.1.0, with the `bridge` plugin. */

import { loadExample } from "./example.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["bridge"], cniVersion: "0.1.0" };

scenario("kubenet: two pods reach each other and the gateway, and DEL frees", needs, (t, host) => {
  const network = loadExample("kubenet-29.conf");
  const [first, second] = [new Pod("pod-1"), new Pod("pod-2")];

  const results = [first, second].map((pod) => host.runtime.add(network, pod).ip4);

  const common = { gateway: "10.255.0.1", routes: [{ dst: "0.0.0.0/0" }] };
  t.same(results, [
    { ip: "10.255.0.2/29", ...common },
    { ip: "10.255.0.3/29", ...common },
  ]);
  t.same(first.addresses(), ["10.255.0.2/29"], "the first pod has its address");
  t.same(second.addresses(), ["10.255.0.3/29"], "the second pod has its address");
  t.ok(first.reaches("10.255.0.3"), "the first pod reaches the second");
  t.ok(second.reaches("10.255.0.2"), "the second pod reaches the first");
  t.ok(first.reaches("10.255.0.1"), "the first pod reaches the gateway");
  t.same(host.reservations("kubenet-29"), {
    "10.255.0.2": "pod-1\r\neth0",
    "10.255.0.3": "pod-2\r\neth0",
  });

  host.runtime.del(network, first);
  t.same(
    host.reservations("kubenet-29"),
    { "10.255.0.3": "pod-2\r\neth0" },
    "DEL frees the address of the first pod and no other",
  );
  t.same(first.addresses(), [], "the first pod has no address any more");

  host.runtime.del(network, second);
  host.runtime.del(network, { ...second, netns: "" });
  t.same(host.reservations("kubenet-29"), {}, "nothing is left");
  t.same(host.calls(), [
    "bridge: ADD pod-1 eth0 /run/netns/pod-1: exit 0",
    "bridge: ADD pod-2 eth0 /run/netns/pod-2: exit 0",
    "bridge: DEL pod-1 eth0 /run/netns/pod-1: exit 0",
    "bridge: DEL pod-2 eth0 /run/netns/pod-2: exit 0",
    "bridge: DEL pod-2 eth0: exit 0",
  ]);
});
