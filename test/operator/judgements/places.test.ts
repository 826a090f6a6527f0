/** Which places have an address, and whose they are: by the kernel, the journals, and libcni's cache. */

import { test } from "tap";
import type { CachedAttachment } from "../../../src/operator/alive/cache/cached-attachment.ts";
import type { LifeFacts } from "../../../src/operator/facts/life-facts.ts";
import type {
  NetworkDirectory,
  NodeReservation,
} from "../../../src/operator/held/network-directory.ts";
import { Lives } from "../../../src/operator/judgements/lives.ts";
import type { Namespace } from "../../../src/store/namespaces/addresses-in-use.ts";
import { attachment } from "../../store/fixtures.ts";
import { reservationOf } from "../held/reservation.ts";

const ADDRESS = "10.7.9.2";

/** A namespace that is seen; its id is that of its process or path. */
interface Seen {
  readonly process?: number;
  readonly path?: string;
  readonly addresses?: readonly string[];
  /** The id that the node's namespace has for it. */
  readonly linkedId?: number | "none" | "unseen";
  /** For which container it was recorded. */
  readonly recordedFor?: string;
}

/** What is read of a node. */
interface Read {
  readonly seen?: readonly Seen[];
  /** The ids of the linked namespaces with the address. */
  readonly linked?: readonly number[];
  /** The attachments of libcni's cache, by their container, with the paths of their namespaces. */
  readonly cached?: Readonly<Record<string, string>>;
  /** The paths where a namespace is that is not among those seen, and those of which that cannot be told. */
  readonly unseen?: Readonly<Record<string, "exists" | "unseen">>;
}

function pathOf({ process, path = `/proc/${process}/ns/net` }: Seen): string {
  return path;
}

function namespaceOf(seen: Seen): Namespace {
  const path = pathOf(seen);
  const addresses = new Set(seen.addresses ?? [ADDRESS]);
  return {
    ...{ id: path, processId: seen.process, path, reachedAt: path, addresses },
    ...{ hasInterface: () => true, isOfNode: () => true },
  };
}

function attachmentOf(containerId: string, networkNamespace: string): CachedAttachment {
  return {
    ...{ network: "net", containerId, interfaceName: "eth0", networkNamespace },
    ...{ addresses: [ADDRESS], gateways: [], hostInterfaces: [], pod: `default/${containerId}` },
  };
}

function factsOf({ seen = [], linked = [], cached = {}, unseen = {} }: Read): LifeFacts {
  const all = seen.map(namespaceOf);
  const recorded = new Map(
    seen.flatMap((one): readonly (readonly [NodeReservation, Seen])[] =>
      one.recordedFor === undefined
        ? []
        : [[reservationOf({ kind: "attachment", ...attachment(one.recordedFor) }), one]],
    ),
  );
  const held = { reservations: [...recorded.keys()], heldAt: () => [] };
  const ids = new Map(seen.map((one) => [pathOf(one), one.linkedId ?? "none"]));
  return {
    now: () => 0,
    cache: {
      knownOf: () => ({ attachments: [], unreadable: undefined }),
      knownBut: () => ({
        attachments: Object.entries(cached).map(([id, path]) => attachmentOf(id, path)),
        unreadable: undefined,
      }),
      podOf: ({ owner }) => (owner.kind === "attachment" ? `default/${owner.containerId}` : ""),
    },
    held: [held as unknown as NetworkDirectory],
    fateOf: (one) => {
      const namespace = recorded.get(one);
      if (namespace === undefined) return undefined;
      return { kind: "alive", namespace: pathOf(namespace), reason: "", hasLeft: false };
    },
    namespaces: () => ({
      all,
      incomplete: undefined,
      nodeAddresses: new Set(),
      withAddress: (address) => all.filter(({ addresses }) => addresses.has(address)),
      withId: (id) => all.find((one) => one.id === id),
      isLinked: () => linked.length > 0,
    }),
    whyUnseen: () => undefined,
    linked: () => new Map(linked.length === 0 ? [] : [[ADDRESS, new Set(linked)]]),
    linkedIdOf: ({ path }) => ids.get(path) ?? "none",
    at: (path) => {
      if (ids.has(path) || unseen[path] === "exists") return { kind: "exists", id: path };
      return { kind: unseen[path] === "unseen" || path === "" ? "unseen" : "gone" };
    },
    standpoint: () => ({
      ...{ seesNode: true, isElsewhere: false },
      ...{ ofNode: undefined, ofFirstProcess: undefined, own: undefined },
    }),
  };
}

/** The places with the address: `container`, of whom, where. */
function placesOn(read: Read): readonly string[] {
  const places = new Lives(factsOf(read)).places.with(ADDRESS);
  return places.map(({ kind, where, container, attachments }) => {
    const noted = attachments.length === 0 ? "" : ", noted";
    return `${kind} ${container?.pod ?? "?"}${noted}: ${where.replace("the network namespace ", "")}`;
  });
}

const C1 = "/run/netns/c1";
const C2 = "/run/netns/c2";

const cases: Readonly<Record<string, readonly [read: Read, places: readonly string[]]>> = {
  "one that a journal and libcni's cache name for different containers: a path may be another's by now":
    [
      { seen: [{ path: C1, recordedFor: "c2" }], cached: { c1: C1 } },
      [`container default/c2: ${C1}`],
    ],
  "one of which the id is not seen, and which may be the linked one": [
    { seen: [{ path: C1, linkedId: "unseen" }], linked: [3] },
    [`other ?: ${C1}`],
  ],
  "a virtual machine, and another container that is linked": [
    { seen: [{ path: C1, addresses: ["169.254.1.1"] }], linked: [3], cached: { c1: C1 } },
    [`container default/c1, noted: ${C1}`, "container ?: with the id 3 (ip netns list-id)"],
  ],
  "one whose path exists, in a container that sees no more; the linked one may be it": [
    { linked: [3], cached: { c1: C1 }, unseen: { [C1]: "exists" } },
    [`container default/c1, noted: ${C1}`],
  ],
  "nobody: the process has another address, its id may be another's by now": [
    { seen: [{ process: 7, addresses: [] }], cached: { c1: "/proc/7/ns/net" } },
    [],
  ],
  "a linked process, and an attachment of which it is not seen where it lives": [
    { seen: [{ process: 7, linkedId: 3 }], linked: [3], cached: { c1: "" } },
    ["container default/c1, noted: of process 7"],
  ],
  "a linked process, and two such attachments, of which one may have ended": [
    {
      seen: [{ process: 7, linkedId: 3 }],
      linked: [3],
      cached: { c1: "", c2: C2 },
      unseen: { [C2]: "unseen" },
    },
    ["container ?: of process 7"],
  ],
  "a container that has left the path which libcni's cache names": [
    { seen: [{ process: 7, recordedFor: "c1" }], cached: { c1: C1 }, unseen: { [C1]: "exists" } },
    ["container default/c1: of process 7"],
  ],
};

for (const [what, [read, places]] of Object.entries(cases)) {
  test(`has the address: ${what}`, async (t) => {
    t.same(placesOn(read), places);
  });
}

test("the addresses in use are those of the kernel and of libcni's cache, but for local ones", async (t) => {
  const read: Read = {
    seen: [{ process: 7, addresses: ["127.0.0.1", "fe80::1", "10.7.9.9"] }, { path: C2 }],
    linked: [3],
    cached: { c2: C2 },
  };
  t.same([...new Lives(factsOf(read)).places.addresses()].sort(), [ADDRESS, "10.7.9.9"]);
});
