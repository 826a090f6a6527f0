/** What is found of the files of reservations. */

import { test } from "tap";
import { refuse } from "../../harness/interruption.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import type { Machine } from "../../harness/proc.ts";
import type { CacheEntry } from "../../harness/results-cache.ts";
import { configureNet, findingsOn, memoryNode, RESULTS, remember } from "../memory-node.ts";

const ADDRESS = "10.0.0.2";
const FILE = `/data/net/${ADDRESS}`;
const EMPTY = "the file is empty, so no DEL can release it";
const place = "--conf-dir /conf --data-dir /data --cache-dir /cache";
const process: Machine = { processes: { 7: { namespace: 70, addresses: [ADDRESS] } } };
const mounted: Machine = { mounted: { "/run/netns/c1": 50 } };

/** A node with an empty reservation, since a minute, and what libcni's cache has of the container `c1`. */
function nodeWithEmpty(entry?: CacheEntry): MemoryMachine {
  const machine = memoryNode({ [ADDRESS]: "" });
  configureNet(machine, "10.0.0.0/28");
  const own = { pod: "default/c1", addresses: [`${ADDRESS}/28`] };
  if (entry !== undefined) remember(machine, "c1", { ...own, ...entry });
  machine.wait(60_000);
  return machine;
}

/** What libcni's cache has, the node, what is found, and whether `--repair` removes the file. */
const emptied: Readonly<
  Record<
    string,
    readonly [entry: CacheEntry | undefined, kernel: Machine, found: object, isRepaired: boolean]
  >
> = {
  "nobody uses": [
    undefined,
    {},
    {
      severity: "warning",
      message: EMPTY,
      commands: [`host-local check net --repair ${place}`],
    },
    true,
  ],
  "a pod uses": [
    { netns: "/run/netns/c1" },
    mounted,
    {
      severity: "error",
      message: `${EMPTY}; the address is in use by default/c1 (container c1)`,
      remedy: "restart the pod that has the address, then run check again",
      commands: [],
    },
    false,
  ],
  "a process has, and no container": [
    undefined,
    process,
    {
      severity: "error",
      message: `${EMPTY}; the address is in use in the network namespace of process 7`,
      commands: [],
    },
    false,
  ],
  "a container has that may live": [
    {},
    {},
    {
      severity: "warning",
      message: `${EMPTY}; whether a living container has the address is not known, so it is not repaired`,
      commands: [`host-local release ${ADDRESS} --network net ${place}`],
    },
    false,
  ],
  "a container had whose namespace is gone": [
    { netns: "/run/netns/c1" },
    {},
    { message: EMPTY },
    true,
  ],
};

for (const [what, [entry, kernel, expected, isRepaired]] of Object.entries(emptied)) {
  test(`an empty reservation of an address that ${what}: ${isRepaired ? "it goes" : "it stays"}`, async (t) => {
    const machine = nodeWithEmpty(entry);
    const [finding, ...others] = findingsOn(machine, { kernel });
    t.same(others, []);
    t.match(finding, { code: "empty-reservation", path: FILE, ...expected });
    findingsOn(machine, { kernel, options: { "--repair": "" } });
    t.equal(machine.disk.has(FILE), !isRepaired);
  });
}

test("an empty reservation stays where libcni's cache cannot be read", async (t) => {
  const machine = nodeWithEmpty();
  const interrupt = refuse("list", "EIO", RESULTS);
  const found = findingsOn(machine, { interrupt, options: { "--repair": "" } });
  t.match(found, [
    {
      message: /is not known, so it is not repaired$/,
      remedy: "release the address if no container has it",
      commands: [`host-local release ${ADDRESS} --network net ${place}`],
    },
  ]);
  t.ok(machine.disk.has(FILE));
});
