/** The networks in which a call is interrupted at each of its steps. */

import { DATA_DIRECTORY, MemoryMachine } from "../../harness/memory-machine.ts";
import { type Answer, type CallOptions, Network } from "../../harness/network.ts";

/** A call for `victim`, and the network before it. */
export interface Scenario {
  readonly name: string;
  /** What the victim's call tries to do. */
  readonly verb: "ADD" | "DEL" | "GC" | "CHECK" | "STATUS";
  /** A fresh network, the same each time. */
  readonly prepare: () => Network;
  readonly act: (network: Network, options: CallOptions) => Answer;
  /** The network's range sets. */
  readonly sets: readonly (readonly object[])[];
  /** All addresses that these can hand out. */
  readonly addresses: readonly string[];
  /** Where there are no hard links, a kill may leave a reservation half written. */
  readonly hardLinks: boolean;
}

const v4 = { subnet: "10.0.0.0/29" };
const v6 = { subnet: "2001:db8::/125", rangeEnd: "2001:db8::6" };
const wide = { subnet: "10.0.0.0/24", rangeEnd: "10.0.0.17" };
const pairs = [{ subnet: "10.0.0.0/31" }, { subnet: "10.0.0.2/31" }];
const single = { ranges: [[v4]] };
const dualStack = { ranges: [[v4], [v6]] };

const add = (network: Network, options: CallOptions): Answer => network.add("victim", options);
const del = (network: Network, options: CallOptions): Answer => network.del("victim", options);

/** A network in which `neighbour` has an address. */
function inhabited(ipam: object): Network {
  const network = new Network(new MemoryMachine(), ipam);
  network.add("neighbour");
  return network;
}

/** A network with an address for `neighbour`, and empty files, ten seconds old, in place of all others. */
function fullOfEmptyFiles(): Network {
  const network = inhabited(single);
  for (const last of [3, 4, 5]) network.put(`10.0.0.${last}`, "");
  network.put("10.0.0.6", "\0\0\0");
  network.machine.wait(60_000);
  return network;
}

/** More neighbours than ADD tries without reading the directory; the last five addresses are free. */
function wellFilled(): Network {
  const network = new Network(new MemoryMachine(), { ranges: [[wide]] });
  for (let last = 2; last <= 12; last++) network.put(`10.0.0.${last}`, `neighbour${last}\r\neth0`);
  return network;
}

function onOtherFileSystem(): Network {
  const network = new Network(new MemoryMachine(), dualStack);
  network.machine.disk.mount(network.directory);
  network.add("neighbour");
  return network;
}

function withoutHardLinks(): Network {
  const network = new Network(new MemoryMachine(), dualStack);
  network.machine.disk.hardLinks = false;
  network.add("neighbour");
  return network;
}

/** The victim holds an address in each set, and one outside of all. */
function withVictim(): Network {
  const network = inhabited(dualStack);
  network.add("victim");
  network.put("10.9.9.9", "victim\r\neth0");
  return network;
}

/** The victim has got its addresses, and its ADD is repeated. */
function withAnswer(): Network {
  const network = inhabited({ ...dualStack, repeatedAdd: "same" });
  network.add("victim");
  return network;
}

/** Some reservations from before the boot. */
function afterBoot(count: number): Network {
  const network = new Network(new MemoryMachine(), single);
  for (let at = 1; at <= count; at++) network.add(`earlier${at}`);
  network.machine.wait(60_000);
  network.add("gone");
  network.del("gone");
  network.machine.boot();
  return network;
}

/** The victim has got its address before the boot. */
function victimFromBeforeBoot(ipam: object): Network {
  const network = new Network(new MemoryMachine(), ipam);
  network.add("earlier");
  network.add("victim");
  network.machine.wait(60_000);
  network.add("gone");
  network.del("gone");
  network.machine.boot();
  return network;
}

const podOfVictim = { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=victim" };

/** The victim's pod has had an address, and another one has been released lately. */
function withPreferences(): Network {
  const network = inhabited({ ...single, reuseDelaySeconds: 30, sticky: "pod" });
  network.add("first", podOfVictim);
  network.add("other");
  network.del("other");
  network.del("first");
  return network;
}

const rangesFile = "/etc/cni/ranges.json";
const subnetFile = "/run/flannel/subnet.env";

/** The ranges, and which half is the node's, are in files of the node for the victim's ADD alone. */
function withFilesOfNode(): Network {
  const network = inhabited(dualStack);
  network.machine.disk.put(rangesFile, JSON.stringify({ net: dualStack.ranges }));
  const podCidr = "FLANNEL_NETWORK=10.244.0.0/23\nFLANNEL_SUBNET=10.244.0.1/24\n";
  network.machine.disk.put(subnetFile, podCidr);
  return network;
}

/** Temporary files that killed calls left an hour ago. */
function withLeftOvers(): Network {
  const network = inhabited(single);
  for (const id of [1, 2]) {
    network.machine.disk.put(`${DATA_DIRECTORY}/.host-local/net/new/${id}.0`, "killed\r\neth0");
  }
  network.machine.wait(3_600_000);
  return network;
}

const one = {
  hardLinks: true,
  sets: single.ranges,
  addresses: addressesTo(6, "10.0.0."),
} as const;
const two = {
  hardLinks: true,
  sets: dualStack.ranges,
  addresses: [...addressesTo(6, "10.0.0."), ...addressesTo(6, "2001:db8::")],
} as const;

/** The addresses of a range: `.2` or `::2` and so on, for `.1` is the gateway. */
function addressesTo(last: number, prefix: string): readonly string[] {
  return Array.from({ length: last - 1 }, (_, at) => `${prefix}${at + 2}`);
}

export const scenarios: readonly Scenario[] = [
  {
    ...one,
    name: "the first ADD of a network",
    verb: "ADD",
    prepare: () => new Network(new MemoryMachine(), single),
    act: add,
  },
  { ...one, name: "ADD", verb: "ADD", prepare: () => inhabited(single), act: add },
  {
    ...two,
    name: "ADD from two range sets",
    verb: "ADD",
    prepare: () => inhabited(dualStack),
    act: add,
  },
  {
    ...two,
    name: "ADD of requested addresses",
    verb: "ADD",
    prepare: () => inhabited(dualStack),
    act: (network, options) => network.addRequested("victim", ["10.0.0.4", "2001:db8::4"], options),
  },
  {
    ...two,
    name: "ADD whose second requested address is taken",
    verb: "ADD",
    prepare: () => inhabited(dualStack),
    act: (network, options) => network.addRequested("victim", ["10.0.0.4", "2001:db8::2"], options),
  },
  {
    ...one,
    name: "ADD among many",
    verb: "ADD",
    prepare: wellFilled,
    act: add,
    sets: [[wide]],
    addresses: addressesTo(17, "10.0.0."),
  },
  {
    ...one,
    name: "ADD that reclaims an empty file",
    verb: "ADD",
    prepare: fullOfEmptyFiles,
    act: add,
  },
  { ...one, name: "ADD that sweeps", verb: "ADD", prepare: withLeftOvers, act: add },
  {
    ...two,
    name: "ADD on another file system",
    verb: "ADD",
    prepare: onOtherFileSystem,
    act: add,
  },
  {
    name: "ADD without hard links",
    verb: "ADD",
    prepare: withoutHardLinks,
    act: add,
    ...two,
    hardLinks: false,
  },
  { ...two, name: "repeated ADD", verb: "ADD", prepare: withAnswer, act: add },
  {
    ...one,
    name: "the first ADD after a boot",
    verb: "ADD",
    prepare: () => afterBoot(3),
    act: add,
  },
  {
    ...one,
    name: "ADD that takes an address from before the boot",
    verb: "ADD",
    prepare: () => {
      const network = afterBoot(4);
      network.add("neighbour");
      return network;
    },
    act: add,
  },
  {
    ...one,
    name: "repeated ADD after a boot",
    verb: "ADD",
    prepare: () => victimFromBeforeBoot({ ...single, repeatedAdd: "same" }),
    act: add,
  },
  {
    ...one,
    name: "ADD of a pod that comes back",
    verb: "ADD",
    prepare: withPreferences,
    act: (network, options) => network.add("victim", { ...options, ...podOfVictim }),
  },
  {
    ...one,
    name: "ADD where addresses cool down",
    verb: "ADD",
    prepare: withPreferences,
    act: add,
  },
  {
    ...one,
    name: "DEL of an address that is to cool down",
    verb: "DEL",
    prepare: () => {
      const network = withPreferences();
      network.add("victim", podOfVictim);
      return network;
    },
    act: del,
  },
  {
    ...one,
    name: "DEL after a boot",
    verb: "DEL",
    prepare: () => victimFromBeforeBoot(single),
    act: del,
  },
  {
    ...one,
    name: "ADD in subnets of two addresses",
    verb: "ADD",
    prepare: () => inhabited({ ranges: [pairs] }),
    act: add,
    sets: [pairs],
    addresses: ["10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3"],
  },
  {
    ...two,
    name: "ADD with files of the node",
    verb: "ADD",
    prepare: withFilesOfNode,
    act: (network, options) => {
      const ipam = { ranges: [], rangesFile, partition: { subnetFile } };
      return network.add("victim", { ...options, ipam });
    },
  },
  {
    ...two,
    name: "ADD with a history",
    verb: "ADD",
    prepare: () => inhabited({ ...dualStack, history: true }),
    act: add,
  },
  { ...two, name: "DEL", verb: "DEL", prepare: withVictim, act: del },
  {
    ...one,
    name: "DEL of an address from before interfaces were noted",
    verb: "DEL",
    prepare: () => {
      const network = inhabited(single);
      network.put("10.0.0.5", "victim");
      return network;
    },
    act: del,
  },
  {
    ...one,
    name: "DEL of nothing",
    verb: "DEL",
    prepare: () => inhabited(single),
    act: del,
  },
  {
    ...two,
    name: "GC",
    verb: "GC",
    prepare: withVictim,
    act: (network, options) =>
      network.gc(["neighbour eth0", "neighbour-new eth0", "neighbour-go eth0"], options),
  },
  {
    ...two,
    name: "CHECK",
    verb: "CHECK",
    prepare: withVictim,
    act: (network, options) => network.check("victim", options),
  },
  {
    ...one,
    name: "STATUS",
    verb: "STATUS",
    prepare: fullOfEmptyFiles,
    act: (network, options) => network.strictStatus(options),
  },
];
