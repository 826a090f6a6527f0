/** The dry run and the ADD that follows it say the same, whatever the configuration and the state of the directory. */

import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import { test } from "tap";
import { configurationOf } from "../../src/cni/call.ts";
import { CniError } from "../../src/cni/error.ts";
import type { Json } from "../../src/cni/json.ts";
import { loadConfig } from "../../src/configuration/load-config.ts";
import { dryRun } from "../../src/dry-run/dry-run.ts";
import { formatAddress } from "../../src/ipam/address.ts";
import { openNetwork } from "../../src/store/files/network-files.ts";
import { NoAddressError } from "../../src/store/no-address.ts";
import { SystemError } from "../../src/system/system.ts";
import { extent } from "../harness/extent.ts";
import type { Interrupt, Operation } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";
import { seed } from "../harness/seed.ts";

/** What a dry run or an ADD comes to: the addresses, or the message and details of the error. */
type Outcome = readonly string[] | { readonly msg: string; readonly details: string };

/** The path at which a disk refuses an ADD first may be another one: then the reason alone is known. */
type Expectation = Outcome | { readonly reason: string };

const WRITES: readonly Operation[] = [
  ...(["createFile", "overwriteFile", "link", "setModified", "rename", "unlink"] as const),
  ...(["makeDirectories", "extendFile", "lock"] as const),
];

/** What the dry runs came to, and how often. */
const seen = new Map<string, number>();

function note(kind: string): void {
  seen.set(kind, (seen.get(kind) ?? 0) + 1);
}

/** Refuses what a read-only disk refuses. */
const readOnly: Interrupt = ({ operation }) =>
  operation === "requireWritable" || WRITES.includes(operation)
    ? { kind: "fail", code: "EROFS" }
    : undefined;

/** The dry run of a network, which writes nothing. */
function expectationOf({ machine }: Network, ipam: object, interrupt?: Interrupt): Expectation {
  const before = machine.disk.filesUnder("/");
  const system = machine.start({ interrupt });
  const document: Json = JSON.parse(JSON.stringify({ cniVersion: "1.1.0", name: "net", ipam }));
  try {
    const network = configurationOf(document);
    const config = loadConfig(network, "", system);
    const prospects = dryRun(openNetwork(system, config.dataDir, config.network), config);
    const failed = prospects.findIndex((one) => one instanceof NoAddressError);
    const error = prospects[failed];
    if (error instanceof NoAddressError) {
      const msg = `failed to allocate for range ${failed}: ${error.message}`;
      return { msg, details: error.details };
    }
    return prospects.flatMap((one) => {
      if (one instanceof NoAddressError) return [];
      note(one.kind);
      return [formatAddress(one.candidate.address)];
    });
  } catch (error) {
    if (error instanceof SystemError) return { reason: error.reason };
    if (!(error instanceof CniError)) throw error;
    return { msg: error.message, details: error.details };
  } finally {
    deepStrictEqual(machine.disk.filesUnder("/"), before, "nothing is written");
    const writes = system.calls.filter(({ operation }) => WRITES.includes(operation));
    deepStrictEqual(writes, [], "no call would write");
  }
}

/** The ADD of a pod that asks for nothing, of which nothing stays. */
function outcomeOf(network: Network, interrupt?: Interrupt): Outcome {
  const { addresses, error } = network.machine.try(() => network.add("new", { interrupt }));
  return error === undefined ? addresses : { msg: error.msg, details: error.details ?? "" };
}

const subnets = ["10.0.0.0/30", "10.0.0.0/29", "10.0.0.0/29"] as const;
const others = ["10.0.1.0/30", "10.0.1.0/29", "10.0.1.0/27"] as const;
const names = [2, 3, 4, 5, 6, 9, 14].flatMap((last) => [`10.0.0.${last}`, `10.0.1.${last}`]);

function rarely<T>(...values: readonly T[]): fc.Arbitrary<T | undefined> {
  const nothing = Array.from({ length: 6 * values.length }, () => undefined);
  return fc.constantFrom(...nothing, ...values);
}

const ipamOf = fc
  .record({
    first: fc.constantFrom(...subnets),
    second: fc.option(fc.constantFrom(...others)),
    isOneSet: fc.boolean(),
    six: rarely("2001:db8::/127", "2001:db8::/126"),
    gateway: fc.constantFrom(undefined, undefined, "none", "10.0.0.2"),
    end: rarely("10.0.0.1", "10.0.0.2"),
    exclude: rarely("10.0.0.2", "10.0.0.0/29", "10.0.1.4/30"),
    reserved: rarely("10.0.0.3", "10.0.0.0/28"),
    reclaim: fc.constantFrom(undefined, undefined, "never"),
    reuseDelaySeconds: fc.constantFrom(undefined, undefined, 60),
    sticky: fc.constantFrom(undefined, undefined, "pod"),
    resolvConf: rarely("/none"),
  })
  .map(({ first, second, isOneSet, six, gateway, end, exclude, reserved, ...rest }) => {
    const range = { subnet: first, gateway, rangeEnd: end };
    const further = second === null ? [] : [{ subnet: second }];
    const sets = isOneSet ? [[range, ...further]] : [[range], ...further.map((one) => [one])];
    return {
      ...rest,
      type: "host-local",
      ranges: six === undefined ? sets : [...sets, [{ subnet: six }]],
      exclude: exclude === undefined ? undefined : [exclude],
      reserved: reserved === undefined ? undefined : { [reserved]: "default/db-0" },
    };
  });

/** What happens before: reservations and releases, the end of a pod, foreign and damaged files, a boot. */
const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("add"), id: fc.nat({ max: 8 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("del"), id: fc.nat({ max: 8 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("end"), id: fc.nat({ max: 8 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("held", "empty", "text", "directory", "other"),
      name: fc.constantFrom(...names),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "boot",
        "lost",
        "lock",
        "no lock",
        "cursor",
        "no cursor",
        "link",
        "wait",
      ),
    }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** `CNI_ARGS` of a pod's sandbox. */
function sandbox(id: string, name: string): string {
  const words = [`K8S_POD_NAME=${name}`, `K8S_POD_INFRA_CONTAINER_ID=${id}`];
  return ["IgnoreUnknown=1", "K8S_POD_NAMESPACE=default", ...words].join(";");
}

function take(network: Network, one: Step): void {
  const { machine, directory } = network;
  const { disk } = machine;
  const netns = "id" in one ? `/run/netns/c${one.id}` : "";
  const cniArgs = "id" in one ? sandbox(`c${one.id}`, `p${one.id % 3}`) : "";
  const path = "name" in one ? `${directory}/${one.name}` : "";
  if (path !== "" && disk.has(path)) return;
  machine.wait(1000);
  switch (one.kind) {
    case "add":
      if ("id" in one) machine.namespaces.set(netns, BigInt(4026532000 + one.id));
      if ("id" in one) network.add(`c${one.id}`, { netns, cniArgs });
      break;
    case "del":
      if ("id" in one) network.del(`c${one.id}`, { netns });
      break;
    case "end":
      machine.namespaces.delete(netns);
      break;
    case "held":
      disk.put(path, "other\r\neth0");
      break;
    case "empty":
      disk.put(path, "");
      break;
    case "text":
      disk.put(path, "kept for the printer");
      break;
    case "directory":
      disk.makeDirectories(path);
      break;
    case "other":
      disk.makeDirectories(directory);
      disk.putOther(path);
      break;
    case "boot":
      machine.namespaces.clear();
      machine.boot();
      break;
    case "lost": {
      // As the Go plugin releases it, without a word to the journal.
      const [name] = network.reserved();
      if (name !== undefined) disk.removeAll(`${directory}/${name}`);
      break;
    }
    case "lock":
      if (!disk.has(`${directory}/lock`)) disk.makeDirectories(`${directory}/lock`);
      break;
    case "link":
      if (disk.has(directory) && !disk.has(`${directory}/lock`))
        disk.putLink(`${directory}/lock`, "/none");
      break;
    case "no lock":
      disk.removeAll(`${directory}/lock`);
      break;
    case "cursor":
      disk.removeAll(`${directory}/last_reserved_ip.0`);
      disk.makeDirectories(`${directory}/last_reserved_ip.0`);
      break;
    case "no cursor":
      disk.removeAll(`${directory}/last_reserved_ip.0`);
      break;
    case "wait":
      machine.wait(30_000);
  }
}

function kindOf(expected: Expectation): string {
  if ("reason" in expected) return expected.reason;
  if (!("msg" in expected)) return "an address";
  return /correct|gc/.exec(expected.details)?.[0] ?? "the configuration";
}

/** Fills the ranges, with what may be taken from them then. */
function fill(network: Network, of: "living" | "dead" | "empty"): void {
  const { machine, directory } = network;
  for (let id = 100; id < 132; id++) {
    machine.namespaces.set(`/run/netns/c${id}`, BigInt(4026532000 + id));
    const { error } = network.add(`c${id}`, {
      netns: `/run/netns/c${id}`,
      cniArgs: sandbox(`c${id}`, `q${id}`),
    });
    if (error !== undefined) break;
  }
  if (of === "dead") machine.namespaces.clear();
  const [name] = network.reserved();
  if (of === "empty" && name !== undefined) machine.disk.put(`${directory}/${name}`, "");
  machine.wait(30_000);
}

test("the dry run gives the address that the next ADD gets, or its error", async (t) => {
  fc.assert(
    fc.property(
      ipamOf,
      fc.array(step, { maxLength: 30, size: "max" }),
      fc.constantFrom(undefined, undefined, "living", "dead", "empty"),
      fc.constantFrom("", "", "", "", "", "", "", "", "read-only", "a file"),
      (ipam, steps, fullOf, disk) => {
        const machine = new MemoryMachine();
        const network = new Network(machine, ipam);
        if (disk === "a file") machine.disk.put(machine.dataDirectory, "");
        for (const one of disk === "a file" ? [] : steps) take(network, one);
        if (fullOf !== undefined && disk !== "a file") fill(network, fullOf);
        const interrupt = disk === "read-only" ? readOnly : undefined;

        const expected = expectationOf(network, ipam, interrupt);
        const found = outcomeOf(network, interrupt);

        if (!("reason" in expected)) deepStrictEqual(found, expected);
        else if (!("msg" in found)) deepStrictEqual(found, expected);
        note(kindOf(expected));
      },
    ),
    { seed, numRuns: extent === "short" ? 300 : 4000 },
  );
  t.comment(Object.fromEntries(seen));
  for (const kind of [
    ...["free", "dead", "empty"],
    "gc",
    "correct",
    "the configuration",
    "read-only file system",
    "is a directory",
  ]) {
    t.ok((seen.get(kind) ?? 0) > 2, kind);
  }
});

test("what the Go plugin has released is avoided as long as reuseDelaySeconds", async (t) => {
  const ipam = { type: "host-local", subnet: "10.0.0.0/29", reuseDelaySeconds: 60 };
  const network = new Network(new MemoryMachine(), ipam);
  for (const id of ["c1", "c2"]) network.add(id);
  network.machine.wait(1000);
  for (const name of ["10.0.0.2", "last_reserved_ip.0"]) {
    network.machine.disk.unlink(`${network.directory}/${name}`);
  }

  const expected = expectationOf(network, ipam);

  t.same(expected, ["10.0.0.4"]);
  t.same(outcomeOf(network), expected);
});
