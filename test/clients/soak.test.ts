// test: each executable, full extent only, slow, makes namespaces, mounts
/** A hundred sandboxes at a time, which the runtime makes and removes side by side. */

import { clientScenario, printedVersion } from "./client-scenario.ts";
import { Containerd, needsOfContainerd, newestRelease } from "./containerd.ts";
import { Cri } from "./cri.ts";
import { networkOf } from "./range-life.ts";

const network = networkOf("10.66.0.0/24");
const names = (wave: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${wave}-${index}`);

clientScenario(
  {
    name: "containerd 2, CRI, 100 sandboxes at a time",
    scenario: "no address twice, nothing stays. Half of them replaced while the others live",
    needs: needsOfContainerd(newestRelease),
    version: () => printedVersion(["containerd", "--version"]),
  },
  async (t, host) => {
    host.configure(network);
    const pods = new Cri(await Containerd.start(t, host));
    const addressesOf = async (living: readonly string[]) =>
      (await Promise.all(living.map((name) => pods.addressOf(name)))).sort();

    const first = names("first", 100);
    await Promise.all(first.map((name) => pods.start(name)));
    const atFirst = await addressesOf(first);
    t.equal(new Set(atFirst).size, 100, "a hundred pods have a hundred addresses");
    t.same(atFirst, Object.keys(host.reservations(network.name)).sort(), "those that are reserved");

    const [leaving, staying] = [first.slice(0, 50), first.slice(50)];
    const second = names("second", 50);
    await Promise.all([
      ...leaving.map((name) => pods.stop(name)),
      ...second.map((name) => pods.start(name)),
    ]);
    const living = [...staying, ...second];
    const then = await addressesOf(living);
    t.equal(new Set(then).size, 100, "also while pods come and go");
    t.same(then, Object.keys(host.reservations(network.name)).sort(), "those that are reserved");

    await Promise.all(living.map((name) => pods.stop(name)));
    t.same(host.reservations(network.name), {}, "nothing stays reserved");
    t.ok(
      host.recordedCalls().every(({ exitCode }) => exitCode === 0),
      "no call failed",
    );
  },
);
