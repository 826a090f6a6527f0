// test: each executable, full extent only, slow
/**
 * dranet, Kubernetes' driver for network devices by DRA, calls IPAM plugins itself, without a main plugin and without libcni
 * (cmd/webhook-whereabouts in kubernetes-sigs/dranet). These are its calls, and what it reads of the answers.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Host } from "../e2e/host.ts";
import { clientScenario } from "./client-scenario.ts";

/** The commit whose calls these are, of 2026-08-21. */
const commit = "f258477";

/** The id of a ResourceClaim, in the place of a container's. */
const claim = "0b2b6f3e-7f5c-4e43-9d4e-0f6f4c1c2f7a";

/** What dranet takes from an answer: these members of a result of 1.0.0, or standard error. */
interface Read {
  readonly exitCode: number | null;
  readonly addresses: readonly string[];
  readonly gateways: readonly string[];
  readonly reason: string;
}

/** A profile: a configuration without `type`, read as it is from a file. */
function profile(cniVersion: string | undefined) {
  const routes = [{ dst: "0.0.0.0/0" }, { dst: "10.99.0.0/16", gw: "10.68.0.6" }];
  return {
    cniVersion,
    name: "dranet",
    ipam: { type: "host-local", subnet: "10.68.0.0/29", routes },
  };
}

/** One of its calls for a device, which has a short name such as `0000-8a-00-0`. */
function call(host: Host, verb: "ADD" | "DEL", device: string, configuration: object): Read {
  const args = ["IgnoreUnknown=1", "K8S_POD_NAMESPACE=default", "K8S_POD_NAME=pod-whereabouts"];
  const { status, stdout, stderr } = spawnSync(join(host.pluginDirectory, "host-local"), {
    env: {
      PATH: process.env.PATH,
      CNI_COMMAND: verb,
      CNI_CONTAINERID: claim,
      CNI_NETNS: "/dev/null",
      CNI_IFNAME: device,
      CNI_PATH: host.pluginDirectory,
      CNI_ARGS: [...args, `K8S_POD_INFRA_CONTAINER_ID=${claim}`].join(";"),
    },
    input: JSON.stringify(configuration),
    encoding: "utf8",
  });
  const result = status === 0 && verb === "ADD" ? JSON.parse(stdout) : {};
  const { ips = [], routes = [] } = result as {
    readonly ips?: readonly { readonly address: string }[];
    readonly routes?: readonly { readonly gw?: string }[];
  };
  return {
    exitCode: status,
    addresses: ips.map(({ address }) => address),
    gateways: routes.map(({ gw = "" }) => gw),
    reason: stderr,
  };
}

clientScenario(
  {
    name: "dranet",
    scenario: "its calls, not the program: devices of a claim in order, a full range; see below",
    needs: { plugins: [], cniVersion: "1.0.0" },
    version: () => commit,
  },
  async (t, host) => {
    const current = profile("0.3.0");
    const devices = [2, 3, 4, 5, 6].map((last) => `0000-8a-00-${last}`);
    for (const [at, device] of devices.entries()) {
      const { exitCode, addresses } = call(host, "ADD", device, current);
      t.same([exitCode, addresses], [0, [`10.68.0.${at + 2}/29`]], device);
    }
    const full = call(host, "ADD", "eth9", current);
    t.same(
      [full.exitCode, full.reason],
      [1, ""],
      "the reason is on standard output, which it does not read",
    );
    for (const device of [...devices, "0000-8a-00-2"]) {
      t.equal(call(host, "DEL", device, current).exitCode, 0, `the end of ${device}`);
    }
    t.same(host.reservations("dranet"), {}, "nothing stays");

    t.same(
      call(host, "ADD", "eth1", current).gateways,
      ["", "10.68.0.6"],
      "the gateway of an address is not read",
    );
    call(host, "DEL", "eth1", current);

    const old = profile(undefined);
    const { exitCode, addresses } = call(host, "ADD", "eth1", old);
    t.same([exitCode, addresses], [0, []], "without cniVersion it finds no address in the answer");
    t.equal(Object.keys(host.reservations("dranet")).length, 1, "and one is reserved");
    t.equal(call(host, "DEL", "eth1", old).exitCode, 0);
    t.same(host.reservations("dranet"), {}, "which DEL frees");
  },
);
