/** Which lists are not believed in a network: nothing is released by these, and what the node shows is released beside them. */

import { test } from "tap";
import { gc } from "../../../src/operator/gc/gc.ts";
import type { Machine } from "../../harness/proc.ts";
import { filesOf } from "../../store/fixtures.ts";
import { memoryNode, remember, runOn } from "../memory-node.ts";

interface Case {
  /** The containers that hold 10.0.0.2, 10.0.0.3 and so on, since an hour; by default c1, c2 and c3. */
  readonly holders?: readonly string[];
  readonly kernel?: Machine;
  /** The containers whose network namespaces are gone, by libcni's cache. */
  readonly gone?: readonly string[];
  readonly list: readonly string[];
  /** Why the list is not believed; `undefined` where it is. */
  readonly doubt?: string;
  /** The containers whose addresses are released; by default none. */
  readonly released?: readonly string[];
  /** The containers whose addresses `--force` releases although the list is not believed; `undefined` if it changes nothing. */
  readonly forced?: readonly string[];
}

/** A namespace of which nothing tells whose it is: only a list shows who is dead. */
const stranger = { namespace: 80, addresses: ["172.17.0.2"] };
const strange: Machine = { processes: { 8: stranger } };

/** A namespace of which nothing tells whose it is, without a process. */
const idle: Machine = {
  mounted: { "/run/netns/any": 80 },
  addresses: { 80: stranger.addresses },
};

/** Containers of other networks, so that the list has enough for all namespaces. */
const others = ["o1", "o2"];

const ofC2 = (...addresses: readonly string[]): Machine => {
  return { processes: { 7: { namespace: 70, addresses }, 8: stranger } };
};

const wrong =
  "net: the list lacks a running container: default/c2 (container c2) with 10.0.0.3: process 7 runs in a network namespace with this address. It is that of another runtime, cut off, or its runtime has lost its state: nothing is released by it there. Give the lists of all runtimes that use net";

const complete =
  "nothing is released by the list there. Check that it is complete, and has the containers of every runtime that uses net; if it is, add --force";

const three = ["c1", "c2", "c3"];
const five = [...three, "c4", "c5"];

/** Virtual machines: processes run there, and the kernel has no address of theirs. */
const machines: Machine = {
  processes: Object.fromEntries(
    [1, 2, 3, 4].map((id) => [id + 1000, { namespace: id + 100, addresses: ["169.254.1.1"] }]),
  ),
};

const fewFor = (left: number): string =>
  `net: 4 network namespaces with processes, such as /proc/1001/ns/net, belong to no known container, but the list has only ${left} whose namespace is not known: it may lack living containers; nothing is released by the list there. Add the containers of every runtime of the node, such as those of docker ps -q; if none of these namespaces is that of a container of net, add --force`;

const cases: Readonly<Record<string, Case>> = {
  "one that lacks fewer than half": {
    holders: five,
    list: [...three, ...others],
    released: ["c4", "c5"],
  },
  "one that lacks more than half": {
    holders: five,
    list: ["c1", "c2", ...others],
    doubt: `net: 3 of 5 reservations are dead by the list alone; ${complete}`,
    forced: ["c3", "c4", "c5"],
  },
  "one that lacks two of three, as after a crash": {
    list: ["c1", ...others],
    released: ["c2", "c3"],
  },
  "one that has none of the network": {
    holders: ["c1"],
    list: others,
    doubt: `net: 1 of 1 reservations are dead by the list alone; ${complete}`,
    forced: ["c1"],
  },
  "one that lacks those whose namespaces are gone, too": {
    holders: five,
    gone: five.slice(1),
    kernel: idle,
    list: ["c1", ...others],
    released: five.slice(1),
  },
  "an empty one": {
    holders: ["c1"],
    list: [],
    doubt: `net: the list of live containers is empty; ${complete}`,
    forced: ["c1"],
  },
  "an empty one where nothing is reserved": { holders: [], list: [] },
  "one without containerd's namespace, which the reservations have": {
    holders: ["default-web", "default-db"],
    list: ["web", ...others],
    released: ["default-db"],
  },
  "one that lacks a container of which a process runs": {
    kernel: ofC2("10.0.0.3"),
    list: ["c1", ...others],
    doubt: wrong,
  },
  "an empty one, where a process runs": {
    holders: ["c1", "c2"],
    kernel: ofC2("10.0.0.3"),
    list: [],
    doubt: wrong,
  },
  "one that lacks those of whom paths are gone, beside a process that may be theirs": {
    holders: five,
    gone: five.slice(1),
    list: ["c1", ...others],
    doubt: `net: 4 of 5 reservations are dead by the list alone; ${complete}`,
    forced: five.slice(1),
  },
  "a wrong one, beside a namespace that is gone": {
    kernel: { ...idle, processes: { 7: { namespace: 70, addresses: ["10.0.0.3"] } } },
    gone: ["c3"],
    list: ["c1", ...others],
    doubt: wrong,
    released: ["c3"],
  },
  "one that lacks a process that is beside a container that it has": {
    kernel: ofC2("10.0.0.2", "10.0.0.3"),
    list: ["c1", ...others],
    released: ["c3"],
  },
  "one that lacks a sandbox in which no process runs: its runtime may have lost it": {
    kernel: { ...strange, mounted: { "/run/netns/a": 50 }, addresses: { 50: ["10.0.0.3"] } },
    list: ["c1", ...others],
    released: ["c3"],
  },
  "one that has two fewer containers than there are namespaces for them": {
    holders: [...three, "dead"],
    kernel: machines,
    list: ["c1", "c2"],
    doubt: fewFor(2),
    forced: ["c3", "dead"],
  },
  "one that has one fewer": {
    holders: [...three, "dead"],
    kernel: machines,
    list: three,
    doubt: fewFor(3),
    forced: ["dead"],
  },
  "one that has as many, with those of another runtime": {
    holders: [...three, "dead"],
    kernel: machines,
    list: [...three, "of-docker"],
    released: ["dead"],
  },
};

/** What a run with `--now --yes` releases, and what it logs. */
function collect({ holders = three, gone = [], kernel = strange, list }: Case, isForced: boolean) {
  const names = holders.map((_, at) => `10.0.0.${at + 2}`);
  const machine = memoryNode(
    Object.fromEntries(holders.map((id, at) => [names[at], `${id}\r\neth0`])),
  );
  for (const id of holders) {
    const netns = gone.includes(id) ? { netns: `/run/netns/${id}` } : {};
    remember(machine, id, { pod: `default/${id}`, ...netns });
  }
  machine.wait(3_600_000);
  machine.disk.put("/live", list.join("\n"));
  const options = { "--live": "/live", "--now": "", "--yes": "" };
  const forced = isForced ? { "--force": "" } : {};
  const { logged } = runOn(machine, gc, { options: { ...options, ...forced }, kernel });
  const left = filesOf(machine);
  return { logged, released: holders.filter((_, at) => left[names[at] ?? ""] === undefined) };
}

for (const [what, given] of Object.entries(cases)) {
  test(`${what} is ${given.doubt === undefined ? "" : "not "}believed`, async (t) => {
    const { doubt, released = [], forced = released } = given;
    const run = collect(given, false);
    t.equal(run.logged, doubt ?? "");
    t.same(run.released, released);
    t.same(collect(given, true).released, forced);
  });
}
