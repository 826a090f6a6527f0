// test: each executable, one if short
/** What flannel's plugin passes on to `bridge`, of which host-local sees the ranges. */

import { execFileSync } from "node:child_process";
import { loadExample } from "./example.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["bridge"], cniVersion: "0.3.1" };

scenario("flannel's delegate: pods of a node reach each other, and DEL frees", needs, (t, host) => {
  const network = loadExample("flannel-delegate.conf");
  const [first, second] = [new Pod("pod-1"), new Pod("pod-2")];

  for (const pod of [first, second]) host.runtime.add(network, pod);

  t.same(first.addresses(), ["10.244.1.2/24"]);
  t.same(second.addresses(), ["10.244.1.3/24"]);
  t.ok(first.reaches("10.244.1.3"), "the first pod reaches the second");
  const routes = execFileSync("ip", ["-n", "pod-1", "route"], { encoding: "utf8" });
  t.match(routes, "10.244.0.0/16 via 10.244.1.1 dev eth0", "flannel's route leads to other nodes");
  t.match(routes, "default via 10.244.1.1 dev eth0");

  host.runtime.del(network, first);
  t.same(host.reservations("cbr0"), { "10.244.1.3": "pod-2\r\neth0" });
  host.runtime.del(network, second);
  t.same(host.reservations("cbr0"), {}, "nothing is left");
  t.same(
    host.calls().map((call) => call.split(" ").slice(0, 3).join(" ")),
    ["bridge: ADD pod-1", "bridge: ADD pod-2", "bridge: DEL pod-1", "bridge: DEL pod-2"],
  );
});
