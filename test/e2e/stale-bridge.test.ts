// test: native executable, makes namespaces, mounts
/** A bridge that still has the gateway of an earlier configuration, with the `bridge` plugin. */

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import type { Test } from "tap";
import { cacheEntry } from "../harness/results-cache.ts";
import { tool } from "../harness/tool.ts";
import type { PrintedFinding } from "../operator/node.ts";
import { type Network, readNetwork } from "./libcni.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["bridge"], cniVersion: "1.0.0" };

/** The network `net` with this subnet, in the configuration directory, too. */
function configure(subnet: string): Network {
  const ipam = { type: "host-local", ranges: [[{ subnet }]] };
  const bridge = { type: "bridge", bridge: "cni0", isGateway: true, ipam };
  const text = JSON.stringify({ cniVersion: "1.0.0", name: "net", plugins: [bridge] });
  mkdirSync("/etc/cni/net.d", { recursive: true });
  writeFileSync("/etc/cni/net.d/net.conflist", text);
  return readNetwork(text);
}

/** The findings on bridges; of others only what else a bridge has of the range is a problem here. */
function findings(t: Pick<Test, "equal">): readonly PrintedFinding[] {
  const { exitCode, stdout } = tool(["check", "--json"]);
  const found: readonly PrintedFinding[] = JSON.parse(stdout).findings;
  const onBridges = found.filter(({ code }) => code.startsWith("bridge-"));
  const others = found.filter(({ code }) => code === "node-address");
  t.equal(exitCode, onBridges.length + others.length > 0 ? 1 : 0);
  return onBridges;
}

/**
 * As libcni remembers an attachment: by that its namespace is known, and so that it lives.
 *
 * @param result its address and its gateway
 */
function remember({ containerId, netns }: Pod, result?: readonly [string, string]): void {
  mkdirSync("/var/lib/cni/results", { recursive: true });
  const known = result === undefined ? {} : { addresses: [result[0]], gateway: result[1] };
  const { name, text } = cacheEntry("net", containerId, { netns, ...known });
  writeFileSync(`/var/lib/cni/results/${name}`, text);
}

function runAll(commands: readonly string[] = []): void {
  for (const command of commands) execFileSync("sh", ["-c", command]);
}

scenario(
  "a stale bridge keeps the gateway of living pods, and loses it after them",
  needs,
  (t, host) => {
    const before = new Pod("before");
    const former = configure("10.255.0.0/24");
    host.runtime.add(former, before);
    remember(before);
    const network = configure("10.255.9.0/24");
    const after = new Pod("after");
    t.throws(() => host.runtime.add(network, after), /already has an IP address different from/);
    host.runtime.del(network, after);

    const inUse = findings(t);
    t.match(inUse, [{ code: "bridge-address", severity: "error" }]);
    t.same(inUse[0]?.commands, []);
    t.match(
      inUse[0]?.message,
      /10\.255\.0\.1 is the gateway of 1 living pod: before \(10\.255\.0\.2\)/,
    );
    t.match(inUse[0]?.remedy, /^correct the configuration/);
    const { exitCode, stdout } = tool(["check"]);
    t.equal(exitCode, 1);
    t.match(stdout, "bridge-address");
    t.notMatch(stdout, "ip addr del");

    host.runtime.del(former, before);
    const stale = findings(t);
    t.same(
      stale.map(({ commands }) => commands),
      [["ip addr del 10.255.0.1/24 dev cni0"]],
    );
    runAll(stale[0]?.commands);

    t.same(findings(t), [], "a bridge without an address and without pods is not an error");
    host.runtime.add(network, after);
    t.ok(after.reaches("10.255.9.1"), "the next pod has its gateway");
    t.same(findings(t), []);
  },
);

scenario(
  "a wrong address in place of the gateway goes once nobody is at the bridge",
  needs,
  (t, host) => {
    const network = configure("10.255.0.0/24");
    const pod = new Pod("pod");
    host.runtime.add(network, pod);
    remember(pod, ["10.255.0.2/24", "10.255.0.1"]);
    for (const words of ["del 10.255.0.1/24", "add 10.255.0.254/24", "add 10.255.0.253/24"])
      runAll([`ip addr ${words} dev cni0`]);
    const next = new Pod("next");
    t.throws(() => host.runtime.add(network, next), /already has an IP address different from/);
    host.runtime.del(network, next);

    const [wrong, lost] = findings(t);
    t.match(wrong, {
      code: "bridge-address",
      message: "10.255.0.2 may have the gateway 10.255.0.254",
    });
    t.same(wrong?.commands, [], "it is not the pod's by what libcni knows, but it may be");
    t.equal(lost?.code, "bridge-without-address");
    runAll(lost?.commands);
    t.ok(pod.reaches("10.255.0.1"));

    runAll(["ip addr del 10.255.0.1/24 dev cni0"]);
    host.runtime.del(network, pod);
    rmSync("/var/lib/cni/results", { recursive: true });
    const commands = findings(t).flatMap((one) => one.commands);
    t.equal(commands.length, 2);
    runAll(commands);
    host.runtime.add(network, next);
    t.ok(next.reaches("10.255.0.1"));
    t.same(findings(t), []);
  },
);
