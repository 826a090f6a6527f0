/** Random networks in memory: a configuration, and the state of its directory. */

import fc from "fast-check";
import type { Interrupt, Operation } from "../harness/interruption.ts";
import type { Network } from "../harness/network.ts";

/** The calls that write. */
export const WRITES: readonly Operation[] = [
  ...(["createFile", "overwriteFile", "link", "setModified", "rename", "unlink"] as const),
  ...(["makeDirectories", "extendFile", "lock"] as const),
];

/** Refuses the calls that a read-only disk refuses. */
const readOnly: Interrupt = ({ operation }) =>
  operation === "requireWritable" || WRITES.includes(operation)
    ? { kind: "fail", code: "EROFS" }
    : undefined;

const subnets = ["10.0.0.0/30", "10.0.0.0/29", "10.0.0.0/29"] as const;
const others = ["10.0.1.0/30", "10.0.1.0/29", "10.0.1.0/27"] as const;
const names = [2, 3, 4, 5, 6, 9, 14].flatMap((last) => [`10.0.0.${last}`, `10.0.1.${last}`]);

function rarely<T>(...values: readonly T[]): fc.Arbitrary<T | undefined> {
  const nothing = Array.from({ length: 6 * values.length }, () => undefined);
  return fc.constantFrom(...nothing, ...values);
}

/** The members of `ipam`; most configurations are valid. */
export const ipamOf = fc
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
    const sets = isOneSet ? [[range, ...further]] : [[range], ...further.map((added) => [added])];
    return {
      ...rest,
      type: "host-local",
      ranges: six === undefined ? sets : [...sets, [{ subnet: six }]],
      exclude: exclude === undefined ? undefined : [exclude],
      reserved: reserved === undefined ? undefined : { [reserved]: "default/db-0" },
    };
  });

/** The earlier events: reservations and releases, the end of a pod, foreign and damaged files, a boot. */
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

/** Lets a second pass, and takes a step. */
function take(network: Network, next: Step): void {
  const { machine, directory } = network;
  const { disk } = machine;
  const netns = "id" in next ? `/run/netns/c${next.id}` : "";
  const cniArgs = "id" in next ? sandbox(`c${next.id}`, `p${next.id % 3}`) : "";
  const path = "name" in next ? `${directory}/${next.name}` : "";
  if (path !== "" && disk.has(path)) return;
  machine.wait(1000);
  switch (next.kind) {
    case "add":
      if ("id" in next) machine.namespaces.set(netns, BigInt(4026532000 + next.id));
      if ("id" in next) network.add(`c${next.id}`, { netns, cniArgs });
      break;
    case "del":
      if ("id" in next) network.del(`c${next.id}`, { netns });
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
      // The Go plugin releases the address: the journal does not know.
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

/** Fills the ranges with reservations, which an ADD may or may not take then. */
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

/** The state of a network: its earlier steps, what fills it, and the fault of its disk. */
interface NetworkState {
  readonly steps: readonly Step[];
  readonly fullOf: Parameters<typeof fill>[1] | undefined;
  readonly disk: "" | "read-only" | "a file";
}

/** @param most the largest number of steps */
export function networkState(most: number): fc.Arbitrary<NetworkState> {
  return fc.record({
    steps: fc.array(step, { maxLength: most, size: "max" }),
    fullOf: fc.constantFrom(undefined, undefined, "living", "dead", "empty"),
    disk: fc.constantFrom("", "", "", "", "", "", "", "", "read-only", "a file"),
  });
}

/**
 * Brings a network into a state.
 *
 * @returns the refusals of the disk, if it refuses any call
 */
export function bring(
  network: Network,
  { steps, fullOf, disk }: NetworkState,
): Interrupt | undefined {
  const { machine } = network;
  if (disk === "a file") {
    machine.disk.put(machine.dataDirectory, "");
    return undefined;
  }
  for (const next of steps) take(network, next);
  if (fullOf !== undefined) fill(network, fullOf);
  return disk === "read-only" ? readOnly : undefined;
}
