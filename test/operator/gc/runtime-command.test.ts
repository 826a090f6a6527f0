import { spawnSync } from "node:child_process";
import { test } from "tap";
import { CONTAINERD_LIST, liveCommandOf } from "../../../src/operator/gc/runtime-command.ts";
import { attachment } from "../../store/fixtures.ts";
import { networkIn, reservationOf } from "../held/reservation.ts";

const namespaced = CONTAINERD_LIST;
const namespacedId = `default-${"4f1d6e0c".repeat(8)}`;
const sandbox = "4f1d6e0c".repeat(8);
const bridge = (name: string) => ({ bridge: { name, isForced: false, isDefault: false } });

for (const [of, network, containerId, expected] of [
  ["the form of the id", {}, sandbox, "crictl pods -q"],
  [
    "podman's file",
    { source: "/etc/cni/net.d/87-podman.conflist" },
    "c1",
    "podman ps -aq --no-trunc",
  ],
  ["podman's bridge", bridge("cni-podman0"), "c1", "podman ps -aq --no-trunc"],
  ["nerdctl's file", { source: "/etc/cni/net.d/nerdctl-bridge.conflist" }, "c1", namespaced],
  ["nerdctl's bridge", bridge("nerdctl0"), "c1", namespaced],
  ["an id with containerd's namespace", {}, namespacedId, namespaced],
] as const) {
  test(`the list is ${expected.split(" ")[0]}'s by ${of}`, async (t) => {
    const reservation = reservationOf({ kind: "attachment", ...attachment(containerId) });
    t.equal(liveCommandOf(networkIn("/data", network), [reservation]), expected);
  });
}

test("ids that no runtime makes are in no list of one: none is asked for", async (t) => {
  for (const id of ["c1", "cnitool-77383ca0a0715733ca6f", "4f1d6e0c", "tap"]) {
    const reservation = reservationOf({ kind: "attachment", ...attachment(id) });
    t.equal(liveCommandOf(networkIn("/data", {}), [reservation]), undefined, id);
  }
});

test("the list is that of both where two runtimes use the network", async (t) => {
  const reservations = [namespacedId, sandbox].map((id) =>
    reservationOf({ kind: "attachment", ...attachment(id) }),
  );

  t.equal(
    liveCommandOf(networkIn("/data", {}), reservations),
    `crictl pods -q && ${CONTAINERD_LIST}`,
  );
});

for (const [what, script, expected] of [
  [
    "has the containers of all namespaces",
    'if [ "$1" = -n ]; then echo "web-$2"; else echo a; echo b; fi',
    [0, "a-web-a\nb-web-b\n"],
  ],
  ["fails if the namespaces cannot be listed", "exit 3", [3, ""]],
  [
    "fails if the containers of one cannot be listed",
    'if [ "$2" = b ]; then return 4; elif [ "$1" = -n ]; then echo "web-$2"; else echo a; echo b; echo c; fi',
    [4, "a-web-a\n"],
  ],
  [
    "passes over a namespace without containers",
    'if [ "$2" = a ]; then :; elif [ "$1" = -n ]; then echo "web-$2"; else echo a; echo b; fi',
    [0, "b-web-b\n"],
  ],
] as const) {
  test(`the list of containerd ${what}`, async (t) => {
    const command = `ctr() { ${script}; }; ${CONTAINERD_LIST}`;
    const { status, stdout } = spawnSync("/bin/sh", ["-c", command], { encoding: "utf8" });
    t.same([status, stdout], expected);
  });
}
