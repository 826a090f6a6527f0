import { test } from "tap";
import { makerOf } from "../../../src/operator/configured/maker.ts";

test("a network is podman's own by podman's file", async (t) => {
  t.equal(makerOf({ source: "/etc/cni/net.d/87-podman.conflist", bridge: undefined }), "podman");
});

test("a network is nerdctl's own by nerdctl's bridge", async (t) => {
  const bridge = { name: "nerdctl0", isForced: false };
  t.equal(makerOf({ source: undefined, bridge }), "nerdctl");
});
