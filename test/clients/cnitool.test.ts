// test: each executable, full extent only, slow, sees the node, makes namespaces, mounts
/** cnitool of both libcni generations; GC and STATUS of the newer one. */

import { readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { takeNamespace, withHighNumber } from "../harness/network-namespaces.ts";
import { inRepository } from "../harness/repository.ts";
import { clientScenario } from "./client-scenario.ts";
import { Cnitool } from "./cnitool.ts";
import { lastAttached, lifeOfARange, network, rangeLife } from "./range-life.ts";

for (const [release, program] of [
  ["1.1", "cnitool-1.1"],
  ["1.3", "cnitool"],
] as const) {
  clientScenario(
    {
      name: `cnitool ${release}`,
      scenario: `${rangeLife}, CHECK`,
      needs: { plugins: ["bridge"], cniVersion: "1.0.0", programs: [program] },
      version: () => versionOf(program),
    },
    async (t, host) => {
      host.configure(network);
      const cnitool = new Cnitool(host, program, network);

      await lifeOfARange(t, host, cnitool);

      await cnitool.start("checked");
      t.doesNotThrow(() => cnitool.attachment("check", "checked"), "CHECK is content");
      host.forget(network.name);
      t.throws(
        () => cnitool.attachment("check", "checked"),
        /host-local: Failed to find address added by container cnitool-\w+; no file in/,
        "CHECK misses the reservation",
      );
    },
  );
}

/** The main plugin does not forward GC; the entry beside it receives it. */
const ipam = { type: "host-local", subnet: "10.63.0.0/29" };
const collected = {
  cniVersion: "1.1.0",
  name: "collected",
  plugins: [
    { type: "bridge", bridge: "cni-gc", isGateway: true, ipam },
    { type: "host-local", gcOnly: true, ipam },
  ],
};

clientScenario(
  {
    name: "libcni 1.3, GC and STATUS",
    scenario: "an address that never got a DEL is released by GC. STATUS through bridge",
    needs: {
      plugins: ["bridge"],
      cniVersion: "1.1.0",
      programs: ["cnitool", "libcni-gc"],
      seesProcesses: true,
    },
    version: () => versionOf("cnitool"),
  },
  async (t, host) => {
    host.configure(collected);
    const cnitool = new Cnitool(host, "cnitool", collected);
    await cnitool.start("kept");
    const kept = lastAttached(host);
    await withHighNumber(() => cnitool.start("lost"));
    const [keptId = ""] = Object.values(host.reservations("collected")).map((content) =>
      content.split("\r\n").at(0),
    );
    // The runtime knows nothing of the second namespace, as after a crash.
    rmSync("/var/lib/cni/results", { recursive: true });
    t.doesNotThrow(() => cnitool.attachment("status", "kept"), "STATUS says ready");

    const waitUntilGone = takeNamespace("/run/netns/lost", () => cnitool.removeNamespace("lost"));
    // GC keeps what is young.
    await sleep(2100);
    waitUntilGone();
    cnitool.collectGarbage(`${keptId}:eth0`);

    t.same(
      Object.keys(host.reservations("collected")),
      ["10.63.0.2"],
      "GC frees what is not valid, and nothing else",
    );
    t.ok(kept.reaches("10.63.0.1"), "the valid attachment still works");
    const collection = host
      .recordedCalls()
      .findLast(({ environment }) => environment.CNI_COMMAND === "GC");
    t.match(
      collection?.stdin,
      `"cni.dev/valid-attachments":[{"containerID":"${keptId}","ifname":"eth0"}]`,
      "libcni says which attachments are valid",
    );
  },
);

function versionOf(program: string): string {
  return readFileSync(inRepository(`build/${program}.version`), "utf8").trim();
}
