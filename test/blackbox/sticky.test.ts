// test: each executable, one if short
/** `sticky` and `reuseDelaySeconds` by the machine's own clocks. */

import { setTimeout as pause } from "node:timers/promises";
import { test } from "tap";
import { networkFor } from "../harness/executable-network.ts";

/** Five addresses, 198.51.100.2 to 198.51.100.6. */
const subnet = "198.51.100.0/29";

const pod = { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0" };

test("ADD takes an address for any other after stickySeconds, and once it has rested", async (t) => {
  const network = networkFor(t, {
    subnet,
    sticky: "pod",
    stickySeconds: 0.3,
    reuseDelaySeconds: 0.3,
  });
  network.add("a1", pod);
  network.del("a1", pod);
  await pause(310);

  t.same(network.add("a2", pod).addresses, ["198.51.100.3"]);
  t.same(network.fill(), ["198.51.100.4", "198.51.100.5", "198.51.100.6", "198.51.100.2"]);
  network.del("filler-3");
  network.del("filler-1");
  await pause(310);
  t.same(
    network.fill("next"),
    ["198.51.100.5", "198.51.100.2"],
    "in turn, not the longest released",
  );
});
