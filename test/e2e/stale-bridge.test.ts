// test: each executable, one if short
/** A bridge that still has the gateway of an earlier configuration, with the `bridge` plugin. */

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { executable } from "../harness/executable.ts";
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

interface Found {
  readonly code: string;
  readonly commands: readonly string[];
}

function findings(): readonly Found[] {
  const script = `${executable} check --json || true`;
  return JSON.parse(execFileSync("sh", ["-c", script], { encoding: "utf8" })).findings;
}

scenario(
  "what check prints for a stale bridge repairs it, and pods keep their interfaces",
  needs,
  (t, host) => {
    const before = new Pod("before");
    host.runtime.add(configure("10.255.0.0/24"), before);
    const network = configure("10.255.9.0/24");
    const after = new Pod("after");
    t.throws(() => host.runtime.add(network, after), /already has an IP address different from/);
    host.runtime.del(network, after);

    const stale = findings().find(({ code }) => code === "bridge-address");
    t.same(stale?.commands, ["ip addr del 10.255.0.1/24 dev cni0"]);
    for (const command of stale?.commands ?? []) execFileSync("sh", ["-c", command]);

    t.notOk(
      findings().some(({ code }) => code === "bridge-address"),
      "a bridge without an address is not an error",
    );
    host.runtime.add(network, after);
    t.same(before.addresses(), ["10.255.0.2/24"]);
    t.ok(after.reaches("10.255.9.1"), "the next pod has its gateway");
    t.notOk(findings().some(({ code }) => code.startsWith("bridge-")));
  },
);
