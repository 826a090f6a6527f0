/**
 * What `list` and `gc` say of a reservation, what `capacity` counts as free, what GC releases and what an ADD in a full range takes
 * is one judgement, on nodes with any history.
 */

import { test } from "tap";
import { capacity } from "../../../src/operator/capacity/capacity.ts";
import { gc } from "../../../src/operator/gc/gc.ts";
import { list } from "../../../src/operator/reservations/list.ts";
import { extent } from "../../harness/extent.ts";
import type { MemoryMachine } from "../../harness/memory-machine.ts";
import { grantedAddresses } from "../../harness/network.ts";
import { type Random, randomFrom } from "../../harness/random.ts";
import { attachmentCall, networkCall } from "../../harness/runtime-call.ts";
import { configure, memoryNode, remember, runOn } from "../memory-node.ts";

const HISTORIES = { short: 150, full: 2000, exhaustive: 20_000 }[extent];

/** Five addresses for pods, in two networks of one data directory. */
const ipam = { type: "host-local", subnet: "10.0.0.0/29", dataDir: "/data" };
const net = { cniVersion: "1.1.0", name: "net", type: "bridge", ipam };
const isolated = { ...net, name: "isolated" };

const pathOf = (id: string): string => `/run/netns/${id}`;
const ids = ["a", "b", "c", "d", "e", "f", "g"];

/** A node after some steps, each of which a name describes. */
class History {
  readonly machine = memoryNode({});
  readonly steps: string[] = [];
  readonly #random: Random;
  #added = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    configure(this.machine, "net.conf", net);
    this.machine.kernel.hasHandles = this.#random.chance(50);
    this.machine.kernel.hasOtherEnds = this.#random.chance(70);
    for (let count = 6 + this.#random.integer(14); count > 0; count--) this.#step();
    this.machine.wait(3_600_000);
  }

  #step(): void {
    const { kernel } = this.machine;
    const id = this.#random.pick(ids);
    const other = this.#random.pick(ids);
    const path = pathOf(id);
    const process = 1000 + ids.indexOf(id);
    const steps: Readonly<Record<string, () => void>> = {
      ADD: () => this.add(id),
      "ADD of the isolated network": () => this.add(id, isolated),
      "ADD of no pod": () => this.add(id, net, ""),
      "Go ADD": () => this.#addByGo(id),
      DEL: () => this.#call("DEL", id),
      unmount: () => kernel.unmount(path),
      "mount again": () => kernel.has(path) || kernel.mount(path),
      "start of a process": () =>
        kernel.has(path) && !kernel.processes.has(process) && kernel.startProcess(process, path),
      "end of a process": () => kernel.processes.has(process) && kernel.endProcess(process),
      "a daemon opens it": () => kernel.has(path) && kernel.open(path),
      [`move to ${other}`]: () =>
        kernel.has(path) && kernel.has(pathOf(other)) && kernel.moveAddresses(path, pathOf(other)),
      boot: () => {
        kernel.mounts.clear();
        kernel.processes.clear();
        this.machine.boot();
      },
    };
    const often = ["ADD", "ADD", "ADD", "unmount", "unmount"];
    const what = this.#random.pick([...often, ...Object.keys(steps)]);
    steps[what]?.();
    this.steps.push(`${what} ${id}`);
    this.machine.wait(1000);
  }

  /** ADD of the sandbox of a pod, whose main plugin then configures the address, and libcni its entry. */
  add(id: string, document = net, pod = id): readonly string[] {
    const { kernel } = this.machine;
    if (!kernel.has(pathOf(id))) kernel.mount(pathOf(id));
    const containerId = `${id}${this.#added++}`;
    const infra = pod === "" ? "" : `;K8S_POD_INFRA_CONTAINER_ID=${containerId}`;
    const call = { containerId, netns: pathOf(id), cniArgs: `IgnoreUnknown=1${infra}` };
    const answer = this.machine.runPlugin(attachmentCall("ADD", call, document));
    if (answer.exitCode !== 0) return [];
    const addresses = grantedAddresses(answer);
    kernel.configure(pathOf(id), ...addresses);
    const withLength = addresses.map((one) => `${one}/29`);
    remember(
      this.machine,
      containerId,
      { netns: pathOf(id), addresses: withLength },
      document.name,
    );
    return addresses;
  }

  /** As the Go plugin reserves, which keeps no record. */
  #addByGo(id: string): void {
    const { disk, kernel } = this.machine;
    const free = [2, 3, 4, 5, 6]
      .map((last) => `10.0.0.${last}`)
      .find((one) => !disk.has(`/data/net/${one}`));
    if (free === undefined || kernel.has(pathOf(id))) return;
    kernel.mount(pathOf(id));
    disk.put(`/data/net/${free}`, `${id}${this.#added++}\r\neth0`);
    kernel.configure(pathOf(id), free);
  }

  #call(verb: "DEL", id: string): void {
    const containerId = `${id}${this.#added - 1}`;
    this.machine.runPlugin(attachmentCall(verb, { containerId, netns: pathOf(id) }, net));
  }
}

/** What GC without a list releases. */
function releasedByGc({ machine }: History): readonly string[] {
  const before = reserved(machine);
  machine.runPlugin(networkCall("GC", net));
  const after = reserved(machine);
  return before.filter((name) => !after.includes(name));
}

/** What further pods get until the range is full. */
function taken(history: History): readonly string[] {
  const all: string[] = [];
  for (let at = 0; at < 8; at++) {
    const addresses = history.add(`new${at}`);
    if (addresses.length === 0) return all;
    all.push(...addresses);
  }
  return all;
}

function reserved({ disk }: MemoryMachine): readonly string[] {
  return Object.keys(disk.filesUnder("/data/net"))
    .filter((name) => /^10\./.test(name))
    .sort();
}

interface Listed {
  readonly reservations: readonly { readonly address: string; readonly alive: boolean | null }[];
}
interface Counted {
  readonly networks: readonly { readonly ranges: readonly { readonly free: bigint }[] }[];
}
interface Collected {
  readonly dead: readonly { readonly address: string }[];
}

test(`list, capacity, gc, GC and ADD agree on ${HISTORIES} nodes`, async (t) => {
  for (let seed = 0; seed < HISTORIES; seed++) {
    // Each is asked on a node of its own: some change it.
    const node = (): History => new History(seed);
    const about = { seed, steps: node().steps };
    const { machine } = node();
    const only = { operands: ["net"] };
    const files = reserved(machine);
    const listed = (runOn(machine, list, only).document() as Listed).reservations;
    const free = (runOn(machine, capacity, only).document() as Counted).networks[0]?.ranges[0]
      ?.free;
    const options = { "--now": "" };
    const collected = (runOn(machine, gc, { ...only, options }).document() as Collected).dead;
    const given = taken(node());

    const reclaimed = given.filter((one) => files.includes(one)).sort();
    t.same(releasedByGc(node()), reclaimed, "GC releases what ADD takes", about);
    t.equal(free, BigInt(given.length), "capacity counts as free what ADD gives", about);
    const dead = collected.map(({ address }) => address);
    t.same(
      reclaimed.filter((one) => !dead.includes(one)),
      [],
      "gc releases what ADD takes",
      about,
    );
    const living = listed.filter(({ alive }) => alive === true).map(({ address }) => address);
    t.same(
      living.filter((one) => given.includes(one)),
      [],
      "ADD takes nothing that lives",
      about,
    );
    t.same(
      living.filter((one) => dead.includes(one)),
      [],
      "gc releases nothing that lives",
      about,
    );
    if (!t.passing()) return;
  }
});
