import { test } from "tap";
import { makerOf } from "../../../src/operator/configured/maker.ts";

const bridge = (name: string) => ({ bridge: { name, isForced: false } });

for (const [of, network, expected] of [
  ["podman's file", { source: "/etc/cni/net.d/87-podman.conflist" }, "podman"],
  ["podman's bridge", bridge("cni-podman0"), "podman"],
  ["nerdctl's file", { source: "/etc/cni/net.d/nerdctl-bridge.conflist" }, "nerdctl"],
  ["nerdctl's bridge", bridge("nerdctl0"), "nerdctl"],
  ["another file", { source: "/etc/cni/net.d/10-mynet.conflist" }, undefined],
  ["another bridge", bridge("cni0"), undefined],
] as const) {
  test(`a network is ${expected ?? "nobody"}'s own by ${of}`, async (t) => {
    t.equal(makerOf({ source: undefined, bridge: undefined, ...network }), expected);
  });
}
