// test: each executable, one if short
/** A current dual-stack configuration with the `bridge` plugin. */

import type { Test } from "tap";
import { loadExample } from "./example.ts";
import type { Host } from "./host.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

for (const cniVersion of ["1.0.0", "1.1.0"]) {
  const needs = { plugins: ["bridge"], cniVersion };

  scenario(`dual stack, ${cniVersion}: two pods talk until they go`, needs, (t, host) => {
    twoPodsTalk(t, host, cniVersion);
  });
}

function twoPodsTalk(t: Test, host: Host, cniVersion: string): void {
  const network = { ...loadExample("dual-stack.conflist"), cniVersion };
  const [first, second] = [new Pod("pod-1"), new Pod("pod-2")];

  const result = host.runtime.add(network, first);
  host.runtime.add(network, second);

  t.match(result.ips, [
    { address: "10.23.0.2/24", gateway: "10.23.0.1" },
    { address: "fd00:10:23::2/64", gateway: "fd00:10:23::1" },
  ]);
  t.same(first.addresses(), ["10.23.0.2/24", "fd00:10:23::2/64"], "the first pod has both");
  t.same(second.addresses(), ["10.23.0.3/24", "fd00:10:23::3/64"], "the second pod has both");
  for (const target of ["10.23.0.3", "10.23.0.1", "fd00:10:23::3", "fd00:10:23::1"]) {
    t.ok(first.reaches(target), `the first pod reaches ${target}`);
  }
  t.same(host.reservations("dual-stack"), {
    "10.23.0.2": "pod-1\r\neth0",
    "10.23.0.3": "pod-2\r\neth0",
    "fd00:10:23::2": "pod-1\r\neth0",
    "fd00:10:23::3": "pod-2\r\neth0",
  });
  t.doesNotThrow(() => host.runtime.check(network, first), "CHECK passes");

  host.runtime.del(network, first);
  t.same(
    host.reservations("dual-stack"),
    { "10.23.0.3": "pod-2\r\neth0", "fd00:10:23::3": "pod-2\r\neth0" },
    "DEL frees both addresses of the first pod and no other",
  );
  t.throws(
    () => host.runtime.check(network, first),
    { message: /Failed to find address added by container pod-1/ },
    "CHECK misses the address",
  );

  host.runtime.del(network, second);
  t.same(host.reservations("dual-stack"), {}, "nothing is left");
  t.same(host.calls(), [
    "bridge: ADD pod-1 eth0 /run/netns/pod-1: exit 0",
    "bridge: ADD pod-2 eth0 /run/netns/pod-2: exit 0",
    "bridge: CHECK pod-1 eth0 /run/netns/pod-1: exit 0",
    "bridge: DEL pod-1 eth0 /run/netns/pod-1: exit 0",
    "bridge: CHECK pod-1 eth0 /run/netns/pod-1: exit 1",
    "bridge: DEL pod-2 eth0 /run/netns/pod-2: exit 0",
  ]);
}
