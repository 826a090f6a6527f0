// test: native executable, makes namespaces, mounts
/** The ways of docs/more-addresses.md, each on a bridge with living pods, with the `bridge` plugin. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Test } from "tap";
import { inRepository } from "../harness/repository.ts";
import { tool } from "../harness/tool.ts";
import type { PrintedFinding } from "../operator/node.ts";
import { type AddedPod, add, configure, end, findings } from "./bridge-node.ts";
import type { Host } from "./host.ts";
import type { Network } from "./libcni.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["bridge"], cniVersion: "1.0.0" };

const page = readFileSync(inRepository("docs/more-addresses.md"), "utf8");

function fails(t: Test, host: Host, network: Network, reason: RegExp): void {
  const pod = new Pod("failing");
  t.throws(() => host.runtime.add(network, pod), reason);
  host.runtime.del(network, pod);
  pod.remove();
}

/** The findings that are a problem. */
function problems(): readonly PrintedFinding[] {
  return findings().filter(({ severity }) => severity !== "info");
}

/** Runs commands of the page, each a line of it. */
function runPage(t: Test, ...lines: readonly string[]): void {
  for (const line of lines) {
    t.match(page, `\n$ ${line}`, "it is on the page");
    execFileSync("sh", ["-c", line], { stdio: "pipe" });
  }
}

function reach(t: Test, pods: readonly AddedPod[], gateway: string): void {
  for (const added of pods) {
    t.ok(added.pod.reaches(gateway), `${added.address} reaches its gateway`);
    for (const { address } of pods.filter((pod) => pod !== added))
      t.ok(added.pod.reaches(address), `${added.address} ${address}`);
  }
}

const ROUTES = { routes: [{ dst: "0.0.0.0/0" }] };

scenario("a subnet is widened in place", needs, (t, host) => {
  const former = configure({ ranges: [[{ subnet: "10.219.7.0/29" }]], ...ROUTES });
  const before = ["a", "b", "c", "d", "e"].map((name) => add(host, former, name));
  fails(t, host, former, /no IP addresses available in range set/);

  const network = configure({ ranges: [[{ subnet: "10.219.7.0/28" }]], ...ROUTES });
  fails(t, host, network, /already has an IP address different from 10\.219\.7\.1\/28/);
  const found = problems();
  t.match(found, [
    {
      code: "bridge-address",
      message: "cni0 has 10.219.7.1/29; expected the gateway 10.219.7.1/28",
    },
  ]);
  t.equal(found.length, 1);
  t.same(found[0]?.commands, [
    "ip addr add 10.219.7.1/28 dev cni0 && ip addr del 10.219.7.1/29 dev cni0",
  ]);
  runPage(t, ...(found[0]?.commands ?? []));

  const after = add(host, network, "after");
  reach(t, [before[0] ?? after, before[4] ?? after, after], "10.219.7.1");
  t.same(problems(), []);
});

scenario("an IPv6 subnet is widened in place", needs, (t, host) => {
  const ROUTES6 = { routes: [{ dst: "::/0" }] };
  const former = configure({ ranges: [[{ subnet: "fd00:219:1::/120" }]], ...ROUTES6 });
  const before = add(host, former, "before");
  const network = configure({ ranges: [[{ subnet: "fd00:219:1::/112" }]], ...ROUTES6 });
  fails(t, host, network, /already has an IP address different from fd00:219:1::1\/112/);
  const [found] = problems();
  t.match(found, { code: "bridge-address" });
  t.same(found?.commands, [
    "ip addr del fd00:219:1::1/120 dev cni0 && ip addr add fd00:219:1::1/112 dev cni0 nodad",
  ]);
  for (const command of found?.commands ?? []) execFileSync("sh", ["-c", command]);

  t.ok(before.pod.reaches("fd00:219:1::1"), "at once");
  const after = add(host, network, "after");
  reach(t, [before, after], "fd00:219:1::1");
  t.same(problems(), []);
});

const TWO = { ranges: [[{ subnet: "10.219.7.0/29" }, { subnet: "10.219.8.0/24" }]], ...ROUTES };

scenario("a second range needs its gateway on the bridge", needs, (t, host) => {
  const former = configure({ ranges: [[{ subnet: "10.219.7.0/29" }]], ...ROUTES });
  const before = ["a", "b", "c", "d", "e"].map((name) => add(host, former, name));
  const network = configure(TWO);
  fails(t, host, network, /already has an IP address different from 10\.219\.8\.1\/24/);
  t.same(problems(), [], "the plugin itself says it");

  const own = configure(TWO, { isGateway: false });
  runPage(t, "ip addr add 10.219.8.1/24 dev cni0", "echo 1 > /proc/sys/net/ipv4/ip_forward");
  const after = add(host, own, "after");
  t.match(after.address, /^10\.219\.8\./);
  t.ok(after.pod.reaches("10.219.8.1"));
  reach(t, [before[0] ?? after, after], "10.219.7.1");
  t.same(problems(), []);
});

scenario("a new subnet has a bridge of its own", needs, (t, host) => {
  const former = configure({ ranges: [[{ subnet: "10.219.7.0/29" }]], ...ROUTES });
  const before = add(host, former, "before");
  const ranges = [[{ subnet: "10.219.8.0/24" }]];
  const network = configure({ ranges, ...ROUTES }, { isGateway: true, bridge: "cni1" });
  const after = add(host, network, "after");
  t.ok(after.pod.reaches("10.219.8.1"));
  reach(t, [before, after], "10.219.7.1");
  t.match(problems(), [{ code: "out-of-range" }]);

  end(host, network, before);
  t.same(Object.keys(host.reservations("net")), [after.address], "a DEL needs no former bridge");
  execFileSync("ip", ["link", "delete", "cni0"]);
  t.ok(after.pod.reaches("10.219.8.1"));
  t.same(problems(), []);
});

scenario("a node has a new podCIDR after its drain", needs, (t, host) => {
  const former = configure({ ranges: [[{ subnet: "10.219.7.0/29" }]], ...ROUTES });
  const before = add(host, former, "before");
  const network = configure({ ranges: [[{ subnet: "10.219.8.0/24" }]], ...ROUTES });
  const printed = (): readonly string[] =>
    problems().flatMap(({ code, commands }) => (code === "bridge-address" ? commands : []));
  fails(t, host, network, /already has an IP address different from/);
  t.same(printed(), [], "not while the pod lives");
  const inUse = problems().find(({ code }) => code === "bridge-address");
  t.match(inUse?.message, /10\.219\.7\.1 is the gateway of 1 pod: default\/before/);
  t.notMatch(tool(["check"]).stdout, "ip addr del");
  t.ok(before.pod.reaches("10.219.7.1"));

  end(host, network, before);
  t.same(printed(), ["ip addr del 10.219.7.1/29 dev cni0"]);
  runPage(t, ...printed());
  const after = add(host, network, "after");
  reach(t, [after], "10.219.8.1");
  t.same(problems(), []);
});
