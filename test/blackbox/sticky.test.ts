// test: each executable, one if short, Go plugin
/** `sticky` and `reuseDelaySeconds` beside the Go plugin, and by the machine's own clocks. */

import { setTimeout as pause } from "node:timers/promises";
import { test } from "tap";
import { isNative } from "../harness/executable.ts";
import { type ExecutableNetwork, networkFor } from "../harness/executable-network.ts";
import { extent } from "../harness/extent.ts";
import { byGoPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";

/** Five addresses, 10.49.0.2 to 10.49.0.6. */
const subnet = "10.49.0.0/29";

const pod = { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0" };

/** No range here has more addresses. */
const ENOUGH = 10;

/** Adds containers of no pod until the range is full. */
function fill(network: ExecutableNetwork, id = "filler"): readonly string[] {
  const given: string[] = [];
  while (given.length < ENOUGH) {
    const [address] = network.add(`${id}-${given.length}`).addresses;
    if (address === undefined) return given;
    given.push(address);
  }
  throw new Error(`the range is never full: ${given.join(" ")}`);
}

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

  t.same(network.add("a2", pod).addresses, ["10.49.0.3"]);
  t.same(fill(network), ["10.49.0.4", "10.49.0.5", "10.49.0.6", "10.49.0.2"]);
  network.del("filler-3");
  network.del("filler-1");
  await pause(310);
  t.same(fill(network, "next"), ["10.49.0.5", "10.49.0.2"], "in turn, not the longest released");
});

/** The calls of an executable that is started in a tenth of a second are fewer. */
const rounds = isNative && extent !== "short" ? 100 : 10;

test(`ten virtual machines that are stopped and started ${rounds} times keep their addresses`, (t) => {
  const network = networkFor(t, {
    subnet: "10.48.0.0/26",
    sticky: { by: ["K8S_POD_NAMESPACE", "VM"] },
  });
  const addresses = new Map<string, Set<string | undefined>>();
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < 10; at++) {
      // In another order each time.
      const machine = `vm-${(at * 7 + round) % 10}`;
      const pod = `virt-launcher-${machine}-${round}`;
      const cniArgs = `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod};VM=${machine}`;
      const [address] = network.add(pod, { cniArgs }).addresses;
      addresses.set(machine, new Set([...(addresses.get(machine) ?? []), address]));
    }
    for (let at = 0; at < 10; at++) network.del(`virt-launcher-vm-${at}-${round}`);
    // Pods come and go meanwhile, thirty at a time.
    network.add(`pod-${round}`);
    if (round >= 30) network.del(`pod-${round - 30}`);
  }
  t.same(
    [...addresses.values()].map(({ size }) => size),
    Array(10).fill(1),
  );
  t.equal(new Set([...addresses.values()].flatMap((all) => [...all])).size, 10);
  t.end();
});

test("ADD gives a pod its address that the Go plugin released", {
  skip: skipWithoutGoPlugin,
}, (t) => {
  const network = networkFor(t, { subnet, sticky: "pod" });
  network.add("a1", pod);
  network.del("a1", { ...byGoPlugin, ...pod });
  network.add("other");

  t.same(network.add("a2", pod).addresses, ["10.49.0.2"]);
  t.end();
});

test("ADD counts a release by the Go plugin from when it is noticed", {
  skip: skipWithoutGoPlugin,
}, (t) => {
  const network = networkFor(t, { subnet, reuseDelaySeconds: 600 });
  network.add("c0");
  network.add("c1");
  network.del("c0", byGoPlugin);
  t.same(fill(network), ["10.49.0.4", "10.49.0.5", "10.49.0.6", "10.49.0.2"]);

  network.del("filler-2");
  network.del("filler-0", byGoPlugin);
  t.same(network.add("d0").addresses, ["10.49.0.6"], "released before");
  t.same(network.add("d1").addresses, ["10.49.0.4"], "and no ADD fails");
  t.end();
});
