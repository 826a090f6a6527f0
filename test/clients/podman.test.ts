// test: each executable, full extent only, slow, makes namespaces, mounts
/** podman and buildah with their CNI backend. */

import { clientScenario, printedVersion } from "./client-scenario.ts";
import { Buildah, Podman } from "./podman.ts";
import { lastAttached, lifeOfARange, network, rangeLife } from "./range-life.ts";

const needs = { plugins: ["bridge"], cniVersion: "1.0.0", layers: ["podman", "runc"] };

clientScenario(
  {
    name: "podman 4, CNI",
    fixture: "podman",
    scenario: rangeLife,
    needs,
    version: () => printedVersion(["podman", "--version"]),
  },
  async (t, host) => {
    host.configure(network);
    const podman = new Podman(host);

    await lifeOfARange(t, host, podman);

    await podman.start("chosen", "--ip", "10.61.0.6");
    t.same(lastAttached(host).addresses(), ["10.61.0.6/29"], "a requested address is given");
    t.equal(podman.addressOf("chosen"), "10.61.0.6", "podman reports it");
    await podman.stop("chosen");
  },
);

clientScenario(
  {
    name: "buildah 1",
    scenario: rangeLife,
    needs,
    version: () => printedVersion(["buildah", "--version"]),
  },
  async (t, host) => {
    host.configure(network);
    await lifeOfARange(t, host, new Buildah(t, host));
  },
);
