// test: each executable, one if short, makes namespaces, mounts
/**
 * Two pods of a node, in the forms of the specification, reach each other until they end. test/clients has each main plugin.
 */

import { loadExample } from "./example.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const ipv4 = { start: "10.23.0.", length: 24 };
const ipv6 = { start: "fd00:10:23::", length: 64 };

for (const { plugin, file, cniVersion, subnets } of [
  {
    plugin: "bridge",
    file: "kubenet-29.conf",
    cniVersion: "0.1.0",
    subnets: [{ start: "10.255.0.", length: 29 }],
  },
  { plugin: "bridge", file: "dual-stack.conflist", cniVersion: "1.0.0", subnets: [ipv4, ipv6] },
  { plugin: "bridge", file: "dual-stack.conflist", cniVersion: "1.1.0", subnets: [ipv4, ipv6] },
  {
    plugin: "ptp",
    file: "ptp.conflist",
    cniVersion: "1.0.0",
    subnets: [{ start: "10.26.0.", length: 24 }],
  },
]) {
  const needs = { plugins: [plugin], cniVersion };

  scenario(`${plugin} of ${cniVersion}: two pods talk until they go`, needs, (t, host) => {
    const network = { ...loadExample(file), cniVersion };
    const { runtime } = host;
    const [first, second] = [new Pod("pod-1"), new Pod("pod-2")];
    const addressesOf = (at: number) => subnets.map(({ start }) => `${start}${at}`);
    const onInterface = (at: number) =>
      subnets.map(({ start, length }) => `${start}${at}/${length}`);

    runtime.add(network, first);
    runtime.add(network, second);
    t.same(first.addresses(), onInterface(2), "the first pod has its addresses");
    t.same(second.addresses(), onInterface(3), "the second pod has its addresses");
    for (const address of [...addressesOf(3), ...addressesOf(1)]) {
      t.ok(first.reaches(address), `the first pod reaches ${address}`);
    }
    for (const address of addressesOf(2)) t.ok(second.reaches(address), "and is reached");

    runtime.del(network, first);
    t.same(
      host.reservations(network.name),
      Object.fromEntries(addressesOf(3).map((address) => [address, "pod-2\r\neth0"])),
      "DEL frees the addresses of the first pod and no other",
    );
    t.same(first.addresses(), [], "the first pod has no address any more");
    runtime.del(network, second);
    runtime.del(network, { ...second, netns: "" });
    t.same(host.reservations(network.name), {}, "nothing is left");
  });
}
