/** Networks that have a directory and, as far as can be read, no configuration. */

import { test } from "tap";
import { DEFAULT_DATA_DIR } from "../../../src/ipam/config.ts";
import { networks } from "../../../src/operator/networks/networks.ts";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import {
  configure,
  configureNet,
  findingsOn,
  type MemoryRun,
  memoryNode,
  remember,
  runOn,
} from "../memory-node.ts";
import type { PrintedFinding } from "../node.ts";

const WEB = { pod: "default/web", netns: "/run/netns/web", addresses: ["10.0.0.2/29"] };
const alive = { kernel: { mounted: { "/run/netns/web": 50 }, addresses: { 50: ["10.0.0.2"] } } };

/** A node with the pod `default/web`, of the network `net`. */
function nodeWithPod(): MemoryMachine {
  const machine = memoryNode({ "10.0.0.2": "c1\r\neth0" });
  remember(machine, "c1", WEB);
  machine.wait(60_000);
  return machine;
}

/** What is found there, but for what is about the pod alone. */
function codesOn(machine: MemoryMachine, run: MemoryRun = alive): readonly string[] {
  return findingsOn(machine, run).map(({ code }) => code);
}

test("nor is one whose file the disk does not show, or no runtime can use", async (t) => {
  const machine = nodeWithPod();
  configureNet(machine, "10.0.0.0/29");
  const lost = { ...alive, interrupt: refuse("readFile", "EIO", "/conf/net.conf") };
  t.strictSame(codesOn(machine, lost), ["unreadable-configuration"]);

  const refused = nodeWithPod();
  configure(refused, "a.conf", { name: "net", type: "bridge", ipam: [{ type: "host-local" }] });
  t.strictSame(codesOn(refused), ["unreadable-configuration"]);
});

test("a file that names another network is none of it", async (t) => {
  const machine = nodeWithPod();
  machine.disk.put("/conf/a.conf", '{"name": "other"');
  t.strictSame(codesOn(machine), ["unreadable-configuration", "unconfigured-network"]);
});

test("nor is one where the runtime reads a directory that was not read", async (t) => {
  const machine = nodeWithPod();
  machine.disk.makeDirectories("/srv/net.d");
  machine.disk.put("/etc/crio/crio.conf", '[crio.network]\nnetwork_dir = "/srv/net.d"');
  const found = findingsOn(machine, alive).filter(({ code }) => code === "unconfigured-network");
  t.match(found, [
    {
      severity: "info",
      path: "/data/net",
      message:
        "no configuration that was read names this network, but CRI-O reads /srv/net.d, which was not read",
      remedy: /--conf-dir/,
    },
  ]);
});

test("that another network hands out its addresses is an error, whatever the file has", async (t) => {
  const machine = nodeWithPod();
  machine.disk.put("/conf/a.conf", "{");
  const ipam = { type: "host-local", subnet: "10.0.0.0/29" };
  configure(machine, "b.conf", { name: "other", type: "ptp", ipam });
  const [, finding] = findingsOn(machine, alive);
  t.match(finding, {
    code: "unconfigured-network",
    severity: "error",
    message:
      "no configuration that can be read names this network, but other hands out its addresses, too: 10.0.0.2 (default/web)",
    remedy: /^correct the configuration that cannot be read\. Unless/,
  });
});

/** The network `net` in the default data directory, with a running pod, and its configuration with another one. */
function movedNode(subnet: string): MemoryMachine {
  const machine = nodeWithPod();
  const { disk } = machine;
  disk.put(`${DEFAULT_DATA_DIR}/net/10.0.0.2`, disk.readFile("/data/net/10.0.0.2", 100));
  disk.unlink("/data/net/10.0.0.2");
  const ipam = { type: "host-local", subnet, dataDir: "/srv/cni" };
  configure(machine, "net.conf", { name: "net", type: "ptp", ipam });
  return machine;
}

/** The options without --data-dir. */
const configured: MemoryRun = { ...alive, without: ["--data-dir"] };

function movedIn(machine: MemoryMachine, run: MemoryRun = configured): PrintedFinding | undefined {
  return findingsOn(machine, run).find(({ code }) => code === "unconfigured-network");
}

test("a data directory that has changed is called that", async (t) => {
  const about = { network: "net", path: `${DEFAULT_DATA_DIR}/net` };
  const message = "ipam.dataDir of this network is /srv/cni now";
  t.match(movedIn(movedNode("10.9.0.0/29")), {
    ...about,
    severity: "warning",
    message: `${message}; it has 1 running pod: default/web`,
    remedy:
      /Otherwise restart these pods, .* If the change was a mistake, and no pod got an address by it/,
    commands: ["host-local gc net --conf-dir /conf --cache-dir /cache"],
  });
  t.match(movedIn(movedNode("10.0.0.0/29")), {
    ...about,
    severity: "error",
    message: `${message}, but net hands out its addresses, too: 10.0.0.2 (default/web)`,
    remedy:
      /Otherwise restart these pods now, .* If the change was a mistake, and no pod got an address by it/,
  });
  const empty = movedNode("10.9.0.0/29");
  empty.disk.unlink(`${DEFAULT_DATA_DIR}/net/10.0.0.2`);
  empty.disk.put(`${DEFAULT_DATA_DIR}/net/lock`, "");
  t.equal(movedIn(empty), undefined, "nothing is left there to be done");
});

test("of two configurations of a network, networks says which one is used", async (t) => {
  const machine = memoryNode({});
  const plugin = (subnet: string) => ({ type: "ptp", ipam: { type: "host-local", subnet } });
  configure(machine, "10-net.conf", { name: "net", ...plugin("10.0.0.0/29") });
  configure(machine, "20-net.conf", { name: "net", ...plugin("10.9.0.0/29") });
  const { document, logged } = runOn(machine, networks);
  t.match(document(), {
    networks: [
      { configuration: "/conf/10-net.conf", shadowedBy: null },
      { configuration: "/conf/20-net.conf", shadowedBy: "/conf/10-net.conf" },
    ],
  });
  t.equal(
    logged,
    "/conf/20-net.conf: no runtime uses it: /conf/10-net.conf configures net, too, and comes first",
  );
});

test("without --conf-dir all directories were read, and pods are to be restarted", async (t) => {
  const machine = nodeWithPod();
  const found = findingsOn(machine, { ...alive, without: ["--conf-dir"] });
  t.match(found, [{ code: "unconfigured-network", remedy: /^restart these pods, then run gc/ }]);
});
