/** Which uses of an address contradict its reservations. */

import { test } from "tap";
import type { CachedAttachment } from "../../../src/operator/alive/cache/cached-attachment.ts";
import {
  NetworkDirectory,
  type NodeReservation,
  openedReservation,
} from "../../../src/operator/held/network-directory.ts";
import { type Misuse, misusesOf } from "../../../src/operator/judgements/misused-addresses.ts";
import type { Place } from "../../../src/operator/judgements/places.ts";
import { openNetwork } from "../../../src/store/files/network-files.ts";
import { containerOf, contentOf } from "../../../src/store/reservations/owner.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { address, rangeSet } from "../../ipam/parsed.ts";
import { attachment, networkName } from "../../store/fixtures.ts";
import { networkIn } from "../held/reservation.ts";
import { startOperator } from "../memory-node.ts";

const ADDRESS = "10.0.0.2";

/** A network with a range that has the address, on a link. */
function network(name: string, link: string, isConfigured = true): NetworkDirectory {
  const { system } = startOperator(new MemoryMachine());
  const files = openNetwork(system, "/data", networkName(name));
  const rangeSets = [rangeSet({ subnet: "10.0.0.0/28" })];
  const source = isConfigured ? "a.conflist" : undefined;
  return new NetworkDirectory(system, [networkIn("/data", { files, rangeSets, link, source })]);
}

/** Two networks of one link, one of another, and one that is no longer configured. */
const networks = {
  net: network("net", "br0"),
  twin: network("twin", "br0"),
  apart: network("apart", "br1"),
  former: network("former", "br0", false),
};

type Name = keyof typeof networks;

/** The reservation of a container; that of none is empty. */
function held(containerId: string, name: Name = "net", seconds = 0): NodeReservation {
  const owner = { kind: "attachment", ...attachment("c") } as const;
  const content = containerId === "" ? "" : (contentOf(owner) ?? "").replace("c", containerId);
  const times = { modified: BigInt(seconds) * 1_000_000_000n, changed: 0n };
  const status = { kind: "file", inode: 1n, mode: 0o600, ...times } as const;
  return openedReservation(networks[name], ADDRESS, { ...status, content });
}

function noted(containerId: string, name: string): CachedAttachment {
  return {
    ...{ network: name, containerId, interfaceName: "eth0", networkNamespace: "" },
    ...{ addresses: [ADDRESS], gateways: [], hostInterfaces: [], pod: "" },
  };
}

/** The place of a container, which libcni's cache has noted for these networks. */
function of(containerId: string, ...names: readonly string[]): Place {
  const attachments = names.map((name) => noted(containerId, name));
  const container = { containerId, pod: "" };
  return { kind: "container", where: "", isEmpty: false, container, attachments };
}

/** A place of which nothing tells whose it is. */
function at(where: string, kind: Place["kind"] = "container"): Place {
  return { kind, where, isEmpty: false, container: undefined, attachments: [] };
}

function nameOf({ container, where }: Place): string {
  return container?.containerId ?? where;
}

/** A misuse in words. */
function describe(misuse: Misuse): string {
  if (misuse.kind === "foreign")
    return `${misuse.places.map(nameOf).join(", ")}: not of ${misuse.network.files.network}`;
  if (misuse.kind === "unreserved") {
    const { attachment, network, held } = misuse;
    const by = held === undefined ? "" : `, held by ${containerOf(held.owner)}`;
    return `${attachment.containerId} of ${network.files.network}: unreserved${by}`;
  }
  const { uses, surplus, toRestart, unplaced } = misuse;
  const which =
    toRestart === undefined
      ? surplus.map(({ place }) => nameOf(place)).join(", ")
      : `that of ${containerOf(toRestart.owner)}`;
  const unless = unplaced.map(({ owner }) => `; unplaced: ${containerOf(owner)}`).join("");
  return `${uses.map(({ place }) => nameOf(place)).join(", ")}: too many is ${which}${unless}`;
}

interface Case {
  readonly places: readonly Place[];
  readonly reservations?: readonly NodeReservation[];
  /** The networks of which an ADD would hand the address out. */
  readonly unreservedIn?: readonly Name[];
  readonly found?: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  "one pod, which holds the reservation": { places: [of("a", "net")], reservations: [held("a")] },
  "a reservation, and nobody has the address": { places: [], reservations: [held("a")] },
  "a reservation, and a place of which nothing tells whose it is": {
    places: [at("x")],
    reservations: [held("a")],
  },
  "two pods, of which one holds the reservation": {
    places: [of("a", "net"), of("b", "net")],
    reservations: [held("a")],
    found: ["a, b: too many is b"],
  },
  "two pods, of which none holds a reservation": {
    places: [of("a", "net"), of("b", "net")],
    unreservedIn: ["net"],
    found: ["a, b: too many is a, b"],
  },
  "two pods, and a third one holds the reservation": {
    places: [of("a", "net"), of("b", "net")],
    reservations: [held("c")],
    found: ["a, b: too many is a, b; unplaced: c"],
  },
  "two pods of networks on one link, and each holds a reservation": {
    places: [of("a", "net"), of("b", "twin")],
    reservations: [held("a", "net", 7), held("b", "twin", 5)],
    found: ["a, b: too many is that of a"],
  },
  "two pods of a network and of what it was called before": {
    places: [of("a", "former"), of("b", "net")],
    reservations: [held("a", "former", 1), held("b", "net", 2)],
    found: ["a, b: too many is that of a"],
  },
  "two pods of networks on different links, and each holds a reservation": {
    places: [of("a", "net"), of("b", "apart")],
    reservations: [held("a"), held("b", "apart")],
  },
  "the same, by reservations alone": {
    places: [at("x"), at("y")],
    reservations: [held("a"), held("b", "apart")],
  },
  "the same, and a third place": {
    places: [of("a", "net"), of("b", "apart"), at("x")],
    reservations: [held("a"), held("b", "apart")],
    found: ["a, b, x: too many is x"],
  },
  "two pods of networks on different links, and one has lost its reservation": {
    places: [of("a", "net"), of("b", "apart")],
    reservations: [held("a")],
    found: ["b of apart: unreserved"],
  },
  "the holder, and a place of which nothing tells whose it is": {
    places: [of("a", "net"), at("x")],
    reservations: [held("a")],
    found: ["a, x: too many is x"],
  },
  "two such places: one of them may be the holder's": {
    places: [at("x"), at("y")],
    reservations: [held("a")],
    found: ["x, y: too many is x, y; unplaced: a"],
  },
  "a pod without a reservation, and a place that may be the holder's": {
    places: [of("b", "net"), at("x")],
    reservations: [held("a")],
    found: ["b, x: too many is b; unplaced: a"],
  },
  "two places, and nobody has reserved the address: gateways, and rootless containers, have the same":
    {
      places: [at("x"), at("y")],
    },
  "the holder, and a namespace that nothing tells to be a container's": {
    places: [of("a", "net"), at("x", "other")],
    reservations: [held("a")],
  },
  "the holder, and the node, which is a finding of its own": {
    places: [at("node", "node"), of("a", "net")],
    reservations: [held("a")],
  },
  "a pod without a reservation": {
    places: [of("a", "net")],
    unreservedIn: ["net"],
    found: ["a of net: unreserved"],
  },
  "one that is noted for two networks, as with multus": {
    places: [of("a", "multus-cni-network", "net")],
    found: ["a of net: unreserved"],
  },
  "one whose reservation another container holds": {
    places: [of("a", "net")],
    reservations: [held("c")],
    found: ["a of net: unreserved, held by c"],
  },
  "one whose reservation is empty, which is a finding of its own": {
    places: [of("a", "net")],
    reservations: [held("")],
  },
  "one that a network's former name is noted for: it may use another plugin now": {
    places: [of("a", "former")],
  },
  "an address of another plugin's network": { places: [of("a", "calico")] },
  "the same, that a network hands out, too": {
    places: [of("a", "calico")],
    unreservedIn: ["net"],
    found: ["a: not of net"],
  },
  "a linked place that has an address of a network, without a reservation": {
    places: [at("x"), at("y", "other"), at("node", "node")],
    unreservedIn: ["net"],
    found: ["x: not of net"],
  },
  "the same, where its id is not seen": {
    places: [at("y", "other")],
    unreservedIn: ["net"],
    found: ["y: not of net"],
  },
};

for (const [what, { places, reservations = [], unreservedIn = [], found = [] }] of Object.entries(
  cases,
)) {
  test(`${what}: ${found.length === 0 ? "as it is to be" : "found"}`, async (t) => {
    const used = {
      ...{ address: address(ADDRESS), places, reservations },
      unreservedIn: unreservedIn.map((name) => networks[name]),
    };
    t.same(misusesOf(used, Object.values(networks)).map(describe), found);
  });
}

test("an address outside of its ranges is none of a network", async (t) => {
  const used = { address: address("192.0.2.7"), places: [of("a", "net")], reservations: [] };
  t.same(misusesOf({ ...used, unreservedIn: [] }, Object.values(networks)), []);
});
