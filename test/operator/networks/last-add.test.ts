/** What `networks` says of the last ADD, and of a runtime that calls another plugin. */

import { test } from "tap";
import { markerText } from "../../../src/operator/configured/plugin-directories.ts";
import { networks } from "../../../src/operator/networks/networks.ts";
import { Network } from "../../harness/network.ts";
import { location } from "../../store/fixtures.ts";
import { configureNet, memoryNode, runOn } from "../memory-node.ts";

test("networks tells of reservations after the installation that no call of this plugin has made", async (t) => {
  const machine = memoryNode({});
  configureNet(machine, "10.1.2.0/24");
  const net = new Network(machine, { dataDir: "/data", subnet: "10.1.2.0/24" });
  const { disk } = machine;
  disk.put("/opt/cni/bin/host-local.installed", markerText("host-local"));
  disk.put("/opt/cni/bin/host-local", "");
  disk.put("/usr/lib/cni/host-local", "");
  machine.wait(60_000);
  disk.put(`${location.directory}/10.1.2.9`, "g1\r\neth0");
  disk.put(`${location.directory}/last_reserved_ip.0`, "10.1.2.9");
  machine.wait(60_000);

  const other = runOn(machine, networks);
  t.match(other.text(), / 60s /);
  t.match(
    other.logged,
    /^net: no call of this plugin is on record .* 1 address .*; there is one in \/usr\/lib\/cni$/,
  );

  net.add("c1");
  machine.wait(60_000);
  t.equal(runOn(machine, networks).logged, "");
});
