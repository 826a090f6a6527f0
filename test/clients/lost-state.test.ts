// test: each executable, full extent only, slow, sees the node, makes namespaces, mounts
/** The state of a runtime is lost within one boot: nobody sends DEL for the sandboxes that are gone. */

import { addressesInTwo } from "../e2e/node-namespaces.ts";
import { holdLowNumbers } from "../harness/network-namespaces.ts";
import { clientScenario, printedVersion } from "./client-scenario.ts";
import { Containerd, needsOfContainerd, newestRelease } from "./containerd.ts";
import { Cri } from "./cri.ts";
import { networkOf } from "./range-life.ts";

for (const release of ["1.6", newestRelease]) {
  clientScenario(
    {
      name: `containerd ${release}, 5 lost pods`,
      scenario:
        "its state is lost with a full range: the next pods get the addresses of those that are gone",
      needs: { ...needsOfContainerd(release), seesProcesses: true },
      version: () => printedVersion(["containerd", "--version"]),
    },
    async (t, host) => {
      const network = networkOf("10.67.0.0/29");
      host.configure(network);
      const containerd = await Containerd.start(t, host);
      const pods = new Cri(containerd);
      const count = () => Object.keys(host.reservations(network.name)).length;
      // No process of another test may get a number of the namespaces that are gone.
      const giveBack = holdLowNumbers();
      for (let at = 0; at < 5; at++) await pods.start(`lost-${at}`);
      giveBack();

      await containerd.loseState(t);
      t.equal(count(), 5, "their addresses stay reserved");
      for (const name of ["first", "second"]) await pods.start(name);
      t.same(addressesInTwo(), [], "no address is in two network namespaces");
      t.equal(count(), 5, "each new pod has the address of one that is gone");
    },
  );
}
