// test: each executable, full extent only, slow, makes namespaces, mounts
/**
 * dranet, Kubernetes' driver for network devices by DRA, calls IPAM plugins itself, without a main plugin and without libcni
 * (cmd/webhook-whereabouts in kubernetes-sigs/dranet). The test makes its calls, and reads the same members of the answers.
 */

import { join } from "node:path";
import type { Host } from "../e2e/host.ts";
import type { Result } from "../e2e/libcni.ts";
import { run } from "../harness/executable.ts";
import { attachmentCall } from "../harness/runtime-call.ts";
import { clientScenario } from "./client-scenario.ts";

/** The commit with these calls, of 2026-08-21. */
const commit = "f258477";

/** The id of a ResourceClaim, in place of a container's. */
const claim = "0b2b6f3e-7f5c-4e43-9d4e-0f6f4c1c2f7a";

/** A profile: a configuration without `type`, read unchanged from a file. */
function profile(cniVersion: string | undefined) {
  const routes = [{ dst: "0.0.0.0/0" }, { dst: "10.99.0.0/16", gw: "10.68.0.6" }];
  const ipam = { type: "host-local", subnet: "10.68.0.0/29", routes };
  return { cniVersion, name: "dranet", ipam };
}

/** Makes dranet's call for a device with a short name such as `0000-8a-00-0`, and returns what dranet takes from the answer. */
function call(host: Host, verb: "ADD" | "DEL", device: string, configuration: object) {
  const args = ["IgnoreUnknown=1", "K8S_POD_NAMESPACE=default", "K8S_POD_NAME=pod-whereabouts"];
  const { environment, stdin } = attachmentCall(
    verb,
    {
      containerId: claim,
      netns: "/dev/null",
      interfaceName: device,
      cniArgs: [...args, `K8S_POD_INFRA_CONTAINER_ID=${claim}`].join(";"),
    },
    configuration,
  );
  const { exitCode, stdout, stderr } = run(join(host.pluginDirectory, "host-local"), {
    environment: { ...environment, PATH: process.env.PATH ?? "" },
    stdin,
  });
  // dranet reads these members of a result of 1.0.0, or standard error.
  const result: Result = exitCode === 0 && verb === "ADD" ? JSON.parse(stdout) : { cniVersion: "" };
  return {
    exitCode,
    addresses: result.ips?.map(({ address }) => address) ?? [],
    gateways: result.routes?.map(({ gw = "" }) => gw) ?? [],
    reason: stderr,
  };
}

clientScenario(
  {
    name: "dranet",
    scenario: "its calls, not the program: devices of a claim in order, a full range. See below",
    needs: { plugins: [], cniVersion: "1.0.0" },
    version: () => commit,
  },
  async (t, host) => {
    const current = profile("0.3.0");
    const devices = [2, 3, 4, 5, 6].map((last) => `0000-8a-00-${last}`);
    const given = devices.flatMap((device) => call(host, "ADD", device, current).addresses);
    t.same(
      given,
      [2, 3, 4, 5, 6].map((last) => `10.68.0.${last}/29`),
    );
    const { exitCode, reason } = call(host, "ADD", "eth9", current);
    t.same([exitCode, reason], [1, ""], "the reason is on standard output, which it does not read");
    for (const device of [...devices, "0000-8a-00-2"]) {
      t.equal(call(host, "DEL", device, current).exitCode, 0, `the end of ${device}`);
    }
    t.same(host.reservations("dranet"), {}, "nothing stays");

    const { gateways } = call(host, "ADD", "eth1", current);
    t.same(gateways, ["", "10.68.0.6"], "the gateway of an address is not read");
    call(host, "DEL", "eth1", current);

    const old = call(host, "ADD", "eth1", profile(undefined));
    t.same([old.exitCode, old.addresses], [0, []], "without cniVersion it finds no address");
    t.equal(Object.keys(host.reservations("dranet")).length, 1, "and one is reserved");
    t.equal(call(host, "DEL", "eth1", profile(undefined)).exitCode, 0);
    t.same(host.reservations("dranet"), {}, "which DEL frees");
  },
);
