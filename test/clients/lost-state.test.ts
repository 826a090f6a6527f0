// test: each executable, full extent only, slow
/** The state of a runtime is lost in one boot: nobody sends DEL for the sandboxes that are gone. */

import { addressesInTwo } from "../e2e/node-namespaces.ts";
import { holdLowNumbers } from "../harness/network-namespaces.ts";
import { clientScenario, printedVersion } from "./client-scenario.ts";
import { Containerd, needsOfContainerd } from "./containerd.ts";
import { Cri } from "./cri.ts";
import { networkOf } from "./range-life.ts";

for (const [release, pods, subnet] of [
  ["1.6", 5, "10.67.0.0/29"],
  ["2", 1, "10.67.0.0/30"],
  ["2", 5, "10.67.0.0/29"],
  ["2", 50, "10.67.0.0/26"],
] as const) {
  clientScenario(
    {
      name: `containerd ${release}, ${pods} lost pods`,
      scenario:
        "its state is lost with a full range: the next pods get the addresses of those that are gone",
      needs: { ...needsOfContainerd(release), seesProcesses: true },
      version: () => printedVersion(["containerd", "--version"]),
    },
    async (t, host) => {
      const network = networkOf(subnet);
      host.configure(network);
      const containerd = await Containerd.start(t, host);
      const cri = new Cri(containerd);
      const count = () => Object.keys(host.reservations(network.name)).length;
      // No process of another test may get one of their numbers.
      const giveBack = holdLowNumbers();
      for (let at = 0; at < pods; at++) await cri.start(`lost-${at}`);
      const free = Number(2 ** (32 - Number(subnet.split("/")[1]))) - 3 - pods;
      // What is left of the range: other pods, which are lost as well.
      for (let at = 0; at < free; at++) await cri.start(`other-${at}`);
      giveBack();
      const full = count();

      await containerd.loseState(t);
      t.equal(count(), full, "their addresses stay reserved");
      for (const name of ["first", "second"].slice(0, pods)) await cri.start(name);
      t.same(addressesInTwo(), [], "no address is in two network namespaces");
      t.equal(count(), full, "each new pod has the address of one that is gone");
    },
  );
}
