// test: each executable, full extent only, slow, sees the node, makes namespaces, mounts
/** The main plugins of the CNI project in front of the IPAM plugin: Debian's, and the newest. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import type { Host } from "../e2e/host.ts";
import { isAtLeast, type Network, type PluginConfiguration } from "../e2e/libcni.ts";
import { Pod } from "../e2e/pod.ts";
import { takeNamespace, withHighNumber } from "../harness/network-namespaces.ts";
import { inRepository } from "../harness/repository.ts";
import { clientScenario, versionIn } from "./client-scenario.ts";

const card = (host: Host) => {
  if (!host.interfaces().includes("card")) host.plugInCard("card");
  return { master: "card" };
};

/** The own keys of each main plugin, which may differ from pod to pod. */
const mainPlugins: Readonly<
  Record<string, (host: Host, pod: string) => Omit<PluginConfiguration, "type">>
> = {
  bridge: () => ({ bridge: "cni-main", isGateway: true }),
  ptp: () => ({}),
  macvlan: card,
  ipvlan: card,
  vlan: (host, pod) => ({ ...card(host), vlanId: pod.length }),
  "host-device": deviceOf,
  tap: () => ({}),
  dummy: () => ({}),
};

/** The plugins that Debian's package does not have. */
const newPlugins = ["tap", "dummy"];

for (const { age, name, cniVersion, version } of [
  { age: "oldest", name: "Debian's", cniVersion: "1.0.0", version: installedVersion },
  { age: "newest", name: "newest", cniVersion: "1.1.0", version: fetchedVersion },
] as const) {
  for (const [type, keysFor] of Object.entries(mainPlugins)) {
    if (age === "oldest" && newPlugins.includes(type)) continue;
    const client = {
      name: `${type}, ${name}`,
      scenario: "a main plugin",
      needs: { plugins: [type], cniVersion, age },
      version,
    };
    clientScenario(client, async (t, host) => {
      const { runtime } = host;
      const podIn = (id: string): readonly [network: Network, pod: Pod] => {
        const ipam = { type: "host-local", ranges: [[{ subnet: "10.64.0.0/29" }]] };
        const plugin = { type, ...keysFor(host, id), capabilities: { ips: true }, ipam };
        return [{ cniVersion, name: "main", plugins: [plugin] }, new Pod(id)];
      };
      const [first, second, third] = [podIn("a"), podIn("bb"), podIn("ccc")];

      if (isAtLeast(cniVersion, "1.1.0")) {
        t.doesNotThrow(() => runtime.status(first[0]), "STATUS says ready");
      }
      runtime.add(...first);
      t.same(first[1].addresses(), ["10.64.0.2/29"], "the first pod gets the first address");
      runtime.add(...second);
      t.same(second[1].addresses(), ["10.64.0.3/29"], "the second pod gets the next address");
      runtime.del(...second);
      runtime.add(...third, { ips: ["10.64.0.6"] });
      t.same(third[1].addresses(), ["10.64.0.6/29"], "a requested address is given");
      t.same(
        host.reservations("main"),
        { "10.64.0.2": "a\r\neth0", "10.64.0.6": "ccc\r\neth0" },
        "DEL frees the address of its pod",
      );

      t.doesNotThrow(() => runtime.check(...first), "CHECK is content");
      host.forget("main");
      t.throws(
        () => runtime.check(...first),
        /host-local: Failed to find address added by container a$/,
        "CHECK misses the reservation",
      );

      for (const attached of [first, third]) runtime.del(...attached);
      t.same(host.reservations("main"), {}, "nothing stays reserved");
    });
  }
}

clientScenario(
  {
    name: "host-device, namespace gone",
    scenario: "DEL fails before it calls the IPAM plugin. GC through the `gcOnly` entry releases",
    needs: { plugins: ["host-device"], cniVersion: "1.1.0", age: "newest", seesProcesses: true },
    version: fetchedVersion,
  },
  async (t, host) => {
    const pod = withHighNumber(() => new Pod("pod"));
    const ipam = { type: "host-local", subnet: "10.65.0.0/29" };
    const network: Network = {
      cniVersion: "1.1.0",
      name: "device",
      plugins: [
        { type: "host-device", ...deviceOf(host, "pod"), ipam },
        { type: "host-local", gcOnly: true, ipam },
      ],
    };
    host.runtime.add(network, pod);
    const waitUntilGone = takeNamespace(pod.netns, () => pod.remove());

    t.throws(
      () => host.runtime.del(network, pod),
      /failed to open netns "\/run\/netns\/pod"/,
      "its DEL fails",
    );
    t.notOk(
      host.calls().some((call) => call.startsWith("host-device: DEL")),
      "and does not call the IPAM plugin",
    );
    t.same(Object.keys(host.reservations("device")), ["10.65.0.2"], "the address stays reserved");
    // GC keeps what is young.
    await sleep(2100);
    waitUntilGone();
    host.runtime.gc(network);
    t.same(host.reservations("device"), {}, "GC releases it");
  },
);

function deviceOf(_host: Host, pod: string): { readonly device: string } {
  const device = `dev-${pod}`;
  execFileSync("ip", ["link", "add", device, "type", "veth", "peer", "name", `far-${pod}`]);
  return { device };
}

function installedVersion(): string {
  return versionIn(
    execFileSync("dpkg-query", ["-W", "containernetworking-plugins"], { encoding: "utf8" }),
  );
}

/** The version of the fetched plugins, whose own output says that it is unknown. */
function fetchedVersion(): string {
  const changelog = "usr/share/doc/containernetworking-plugins/changelog.Debian.gz";
  return versionIn(
    gunzipSync(readFileSync(inRepository(`build/go-plugins/${changelog}`))).toString(),
  );
}
