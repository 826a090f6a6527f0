// test: native executable, makes namespaces, mounts
/** A bridge that has wrong addresses in place of the gateway, with the `bridge` plugin. An earlier gateway: more-addresses.test.ts. */

import { execFileSync } from "node:child_process";
import type { Test } from "tap";
import { tool } from "../harness/tool.ts";
import type { PrintedFinding } from "../operator/node.ts";
import { add, configure, end } from "./bridge-node.ts";
import type { Host } from "./host.ts";
import type { Network } from "./libcni.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["bridge"], cniVersion: "1.0.0" };

const network = (subnet: string): Network => configure({ ranges: [[{ subnet }]] });

/** The findings on bridges; of others only what else a bridge has of the range is a problem here. */
function findings(t: Pick<Test, "equal">): readonly PrintedFinding[] {
  const { exitCode, stdout } = tool(["check", "--json"]);
  const found: readonly PrintedFinding[] = JSON.parse(stdout).findings;
  const onBridges = found.filter(({ code }) => code.startsWith("bridge-"));
  const others = found.filter(({ code }) => code === "node-address");
  t.equal(exitCode, onBridges.length + others.length > 0 ? 1 : 0);
  return onBridges;
}

function fails(t: Test, host: Host, network: Network): void {
  const pod = new Pod("failing");
  t.throws(() => host.runtime.add(network, pod), /already has an IP address different from/);
  host.runtime.del(network, pod);
  pod.remove();
}

function runAll(commands: readonly string[] = []): void {
  for (const command of commands) execFileSync("sh", ["-c", command]);
}

scenario(
  "a wrong address in place of the gateway goes once nobody is at the bridge",
  needs,
  (t, host) => {
    const own = network("10.255.0.0/24");
    const pod = add(host, own, "pod");
    for (const words of ["del 10.255.0.1/24", "add 10.255.0.254/24", "add 10.255.0.253/24"])
      runAll([`ip addr ${words} dev cni0`]);
    fails(t, host, own);

    const [wrong, lost] = findings(t);
    t.match(wrong, {
      code: "bridge-address",
      message: / at cni0 may need it$/,
    });
    t.same(wrong?.commands, [], "it is not the pod's by what libcni knows, but it may be");
    t.equal(lost?.code, "bridge-without-address");
    runAll(lost?.commands);
    t.ok(pod.pod.reaches("10.255.0.1"));

    runAll(["ip addr del 10.255.0.1/24 dev cni0"]);
    end(host, own, pod);
    const commands = findings(t).flatMap((finding) => finding.commands);
    t.equal(commands.length, 2);
    runAll(commands);
    t.ok(add(host, own, "next").pod.reaches("10.255.0.1"));
    t.same(findings(t), []);
  },
);
