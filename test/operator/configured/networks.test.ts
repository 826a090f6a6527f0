/** Which networks are found: by the configurations, and by the directories of their reservations. */

import { test } from "tap";
import { formatRangeSet } from "../../../src/ipam/range-set.ts";
import { ResultsCache } from "../../../src/operator/alive/cache/results-cache.ts";
import type { FoundNetwork } from "../../../src/operator/configured/found-network.ts";
import { findNetworks } from "../../../src/operator/configured/networks.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { contextOf, memoryNode, places, startOperator } from "../memory-node.ts";

/** Configures the network `net`. */
function configure({ disk }: MemoryMachine, ipam: object, file = "a.conf"): void {
  const document = { name: "net", type: "bridge", ipam: { type: "host-local", ...ipam } };
  disk.put(`/conf/${file}`, JSON.stringify(document));
}

const subnet = "10.0.0.0/29";
const RANGE = "10.0.0.1-10.0.0.6";

/** What was found. */
interface Found {
  /** The networks, each as `NAME FILE DIRECTORY RANGES`. */
  readonly networks: readonly string[];
  readonly unused: readonly string[];
  readonly problems: readonly string[];
}

function lineOf({ files: { network, directory }, source = "-", rangeSets }: FoundNetwork): string {
  return `${network} ${source} ${directory} ${rangeSets.map(formatRangeSet).join(" ")}`;
}

/** The networks of a machine, and what is wrong with their configurations. */
function foundOn(
  machine: MemoryMachine,
  options: Readonly<Record<string, string>> = places,
  name?: string,
): Found {
  const context = contextOf(startOperator(machine).system, options);
  const { found, unused, problems } = findNetworks(context, new ResultsCache(context), name);
  return {
    networks: found.map(lineOf),
    unused: unused.map(lineOf),
    problems: problems.map(({ source, problem }) => `${source}: ${problem}`),
  };
}

test("the data directory of a file that nobody uses is one without a configuration", async (t) => {
  const machine = memoryNode({});
  configure(machine, { subnet, dataDir: "/srv" });
  configure(machine, { subnet, dataDir: "/former" }, "b.conf");
  machine.disk.put("/former/net/10.0.0.2", "c1\r\neth0");
  const { "--data-dir": _, ...others } = places;
  t.strictSame(foundOn(machine, others).networks, [
    "net - /former/net ",
    `net /conf/a.conf /srv/net ${RANGE}`,
  ]);
});

test("a directory that a plugin has used is a network, and no other one unless it is asked for", async (t) => {
  const machine = memoryNode({ lock: "" });
  machine.disk.makeDirectories("/data/empty");
  machine.disk.put("/data/file", "");
  machine.disk.putLink("/data/broken", "nowhere");

  t.strictSame(foundOn(machine).networks, ["net - /data/net "]);
  t.strictSame(foundOn(machine, places, "empty").networks, [
    "empty - /data/empty ",
    "net - /data/net ",
  ]);
});

test("a relative data directory is resolved in the working directory, with a warning", async (t) => {
  const machine = memoryNode({});
  configure(machine, { subnet, dataDir: "networks/." });

  t.strictSame(foundOn(machine, { "--conf-dir": "/conf", "--cache-dir": "/cache" }), {
    networks: [`net /conf/a.conf networks/net ${RANGE}`],
    unused: [],
    problems: [
      "/conf/a.conf: ipam.dataDir is relative (networks): the plugin resolves it in the runtime's working directory, this command in its own; set --data-dir",
    ],
  });
  machine.disk.makeDirectories("networks");
  t.strictSame(foundOn(machine, { ...places, "--data-dir": "networks" }).problems, []);
});

test("an unknown network is an error that lists known networks and invalid configurations", async (t) => {
  const machine = memoryNode({ lock: "" });
  machine.disk.put("/data/another/10.1.0.2", "c1\r\neth0");
  machine.disk.put("/conf/a.conf", "{");

  t.throws(() => foundOn(machine, places, "three"), {
    message: 'unknown network "three"; known networks: another, net',
    lines: [
      "host-local: /conf/a.conf: invalid JSON at line 1, column 2: unexpected end of JSON input",
    ],
  });
});
