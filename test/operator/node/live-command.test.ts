import { test } from "tap";
import { liveCommandOf } from "../../../src/operator/node/live-command.ts";
import { attachment } from "../../store/fixtures.ts";
import { networkIn, reservationOf } from "./reservation.ts";

const namespaced = "ctr -n default containers ls -q | sed s/^/default-/";
const bridge = (name: string) => ({ bridge: { name, isForced: false } });

for (const [of, network, containerId, expected] of [
  ["nothing else", {}, "c1", "crictl pods -q"],
  [
    "podman's file",
    { source: "/etc/cni/net.d/87-podman.conflist" },
    "c1",
    "podman ps -aq --no-trunc",
  ],
  ["podman's bridge", bridge("cni-podman0"), "c1", "podman ps -aq --no-trunc"],
  ["nerdctl's file", { source: "/etc/cni/net.d/nerdctl-bridge.conflist" }, "c1", namespaced],
  ["nerdctl's bridge", bridge("nerdctl0"), "c1", namespaced],
  ["an id with containerd's namespace", {}, `default-${"4f1d6e0c".repeat(8)}`, namespaced],
] as const) {
  test(`the list is ${expected.split(" ")[0]}'s by ${of}`, (t) => {
    const reservation = reservationOf({ kind: "attachment", ...attachment(containerId) });
    t.equal(liveCommandOf(networkIn("/data", network), [reservation]), expected);
    t.end();
  });
}
