// test: each executable, full extent only, slow, makes namespaces, mounts
/** apptainer with `--net`. */

import { NetworkNamespace } from "../e2e/network-namespace.ts";
import { Apptainer } from "./apptainer.ts";
import { clientScenario, printedVersion } from "./client-scenario.ts";
import { lifeOfARange, network, rangeLife } from "./range-life.ts";

clientScenario(
  {
    name: "apptainer 1, --net",
    scenario: rangeLife,
    needs: { plugins: ["bridge"], cniVersion: "1.0.0", layers: ["apptainer", "runc"] },
    version: () => printedVersion(["apptainer", "--version"]),
  },
  async (t, host) => {
    host.configure(network);
    const apptainer = new Apptainer(host);

    await lifeOfARange(t, host, apptainer);

    await apptainer.start("chosen", "IP=10.61.0.6");
    const chosen = new NetworkNamespace(apptainer.netnsOf("chosen"));
    t.same(chosen.addresses(), ["10.61.0.6/29"], "a requested address is given");
    await apptainer.stop("chosen");
  },
);
