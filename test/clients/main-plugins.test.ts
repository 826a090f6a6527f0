// test: each executable, full extent only, slow
/** The main plugins of the CNI project in front of the IPAM plugin: those of Debian, and the newest. */

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

/** A main plugin: its own keys, which may differ from pod to pod. */
interface MainPlugin {
  readonly type: string;
  readonly keysFor: (host: Host, pod: string) => Omit<PluginConfiguration, "type">;
  /** Whether only the newest have it. */
  readonly isNew?: boolean;
}

const card = (host: Host) => {
  if (!host.interfaces().includes("card")) host.plugInCard("card");
  return { master: "card" };
};

const mainPlugins: readonly MainPlugin[] = [
  { type: "bridge", keysFor: () => ({ bridge: "cni-main", isGateway: true }) },
  { type: "ptp", keysFor: () => ({}) },
  { type: "macvlan", keysFor: card },
  { type: "ipvlan", keysFor: card },
  { type: "vlan", keysFor: (host, pod) => ({ ...card(host), vlanId: pod.length }) },
  { type: "host-device", keysFor: deviceOf },
  { type: "tap", keysFor: () => ({}), isNew: true },
  { type: "dummy", keysFor: () => ({}), isNew: true },
];

const ages = [
  { age: "oldest", name: "Debian's", cniVersion: "1.0.0", version: installedVersion },
  { age: "newest", name: "newest", cniVersion: "1.1.0", version: fetchedVersion },
] as const;

for (const { age, name, cniVersion, version } of ages) {
  for (const { type, keysFor, isNew = false } of mainPlugins) {
    if (isNew && age === "oldest") continue;
    const client = {
      name: `${type}, ${name}`,
      scenario: "a main plugin",
      needs: { plugins: [type], cniVersion, age },
      version,
    };
    clientScenario(client, async (t, host) => {
      const networkOf = (pod: string): Network => ({
        cniVersion,
        name: "main",
        plugins: [
          {
            type,
            ...keysFor(host, pod),
            capabilities: { ips: true },
            ipam: { type: "host-local", ranges: [[{ subnet: "10.64.0.0/29" }]] },
          },
        ],
      });
      const { runtime } = host;
      const [one, two, third] = [new Pod("a"), new Pod("bb"), new Pod("ccc")];
      const networks = new Map([one, two, third].map((pod) => [pod, networkOf(pod.containerId)]));
      const network = (pod: Pod): Network => networks.get(pod) ?? networkOf(pod.containerId);

      if (isAtLeast(cniVersion, "1.1.0")) {
        t.doesNotThrow(() => runtime.status(network(one)), "STATUS says ready");
      }
      runtime.add(network(one), one);
      t.same(one.addresses(), ["10.64.0.2/29"], "the first pod gets the first address");
      runtime.add(network(two), two);
      t.same(two.addresses(), ["10.64.0.3/29"], "the second pod gets the next address");
      runtime.del(network(two), two);
      runtime.add(network(third), third, { ips: ["10.64.0.6"] });
      t.same(third.addresses(), ["10.64.0.6/29"], "a requested address is given");
      t.same(
        host.reservations("main"),
        { "10.64.0.2": "a\r\neth0", "10.64.0.6": "ccc\r\neth0" },
        "DEL frees the address of its pod",
      );

      t.doesNotThrow(() => runtime.check(network(one), one), "CHECK is content");
      host.forget("main");
      t.throws(() => runtime.check(network(one), one), "CHECK misses the reservation");

      for (const pod of [one, third]) runtime.del(network(pod), pod);
      t.same(host.reservations("main"), {}, "nothing stays reserved");
    });
  }
}

clientScenario(
  {
    name: "host-device, namespace gone",
    scenario: "DEL fails before it calls the IPAM plugin; GC through the `gcOnly` entry releases",
    needs: {
      plugins: ["host-device"],
      cniVersion: "1.1.0",
      age: "newest",
      seesProcesses: true,
    },
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

    t.throws(() => host.runtime.del(network, pod), "its DEL fails");
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

/** Its own output says that the version is unknown. */
function fetchedVersion(): string {
  const changelog = "usr/share/doc/containernetworking-plugins/changelog.Debian.gz";
  return versionIn(
    gunzipSync(readFileSync(inRepository(`build/go-plugins/${changelog}`))).toString(),
  );
}
