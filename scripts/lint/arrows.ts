/** Which way imports go in src/. */

const machine = ["system/system.ts", "system"];

const protocol = ["system/system.ts", "cni"];

const store = [
  ...["store/files", "store/failed-calls", "store/reservations", "store/history"],
  ...["store/namespaces", "store/life", "store/journal", "store/reuse", "store"],
];

const frame = ["cli/output", "cli/command", "cli/manual"];

/** What is below the questions about a node. */
const node = [...machine, "cni", "ipam", "configuration", ...store, "dry-run", ...frame];

/** What the commands about a node share. */
const shared = [
  ...node,
  ...["operator/once.ts", "operator/configured", "operator/held", "operator/alive/cache"],
  ...["operator/alive", "operator/facts", "operator/judgements", "operator"],
];

const cluster = [...machine, "ipam", ...frame];

/**
 * Each folder or file of src/, and the others that it may import. A file counts for the longest row that it is in. A row
 * names only rows above it, so no folders import each other in a circle.
 */
export const arrows: readonly (readonly [from: string, to: readonly string[]])[] = [
  ["system/system.ts", []],
  ["system", ["system/system.ts"]],
  ["system/node", machine],
  ["system/quickjs", machine],
  ["cni", ["system/system.ts"]],
  ["ipam", ["cni"]],
  // A configuration is read before anything is known of reservations.
  ["configuration", [...protocol, "ipam"]],
  ["store/files", protocol],
  ["store/reservations", [...machine, "cni", "ipam", "store/files"]],
  ["store/history", [...protocol, "ipam", "store/files", "store/reservations"]],
  // A call that fails may know nothing but its environment: no network, no reservation.
  ["store/failed-calls", [...protocol, "store/files"]],
  ["store/namespaces", [...protocol, "ipam", "store/files"]],
  // Whether a container lives is concluded from plain values: it reads nothing.
  ["store/life", ["store/namespaces"]],
  [
    "store/journal",
    [
      ...[...machine, "cni", "ipam", "store/files", "store/reservations"],
      ...["store/namespaces", "store/life"],
    ],
  ],
  ["store/reuse", [...protocol, "ipam", "store/files"]],
  ["store", [...machine, "cni", "ipam", ...store]],
  // The dry run is asked by verbs and commands, and knows neither.
  ["dry-run", [...protocol, "ipam", "configuration", ...store]],
  // The static plugin keeps no state.
  ["static", [...protocol, "ipam"]],
  ["verbs", [...protocol, "ipam", "configuration", ...store, "dry-run"]],
  // A call of the plugin never loads the commands.
  ["main.ts", [...protocol, "static", "verbs"]],
  // The frame of any command knows none of them.
  ["cli/output", [...machine, "ipam"]],
  ["cli/command", [...machine, "cli/output"]],
  ["cli/manual", ["cni", "cli/output", "cli/command"]],
  // Questions about a cluster touch no node, no data directory.
  ["cluster/nodes", cluster],
  ["cluster/plan", [...cluster, "cluster/nodes"]],
  ["cluster/audit", [...cluster, "cluster/nodes"]],
  ["operator/once.ts", []],
  ["operator/configured", [...node, "operator/once.ts"]],
  ["operator/held", [...node, "operator/configured"]],
  ["operator/alive/cache", [...node, "operator/once.ts", "operator/configured", "operator/held"]],
  ["operator/alive", [...node, "operator/configured", "operator/held", "operator/alive/cache"]],
  [
    "operator/facts",
    [
      ...[...node, "operator/once.ts", "operator/configured", "operator/held"],
      ...["operator/alive/cache", "operator/alive"],
    ],
  ],
  // A judgement reads nothing, and prints nothing.
  [
    "operator/judgements",
    [
      ...["cni", "ipam", ...store, "operator/once.ts", "operator/configured", "operator/held"],
      ...["operator/alive/cache", "operator/facts"],
    ],
  ],
  ["operator", shared],
  ["operator/capacity", shared],
  ["operator/reservations", shared],
  ["operator/gc", [...shared, "operator/reservations"]],
  ["operator/install", shared],
  ["operator/check", [...shared, "operator/capacity", "operator/gc", "operator/install"]],
  ["operator/history", shared],
  ["operator/networks", [...shared, "operator/capacity"]],
  ["operator/metrics", [...shared, "operator/capacity", "operator/gc", "operator/check"]],
  ["operator/agent", shared],
  [
    "commands.ts",
    [
      ...["cli/command", "cli/manual", "cluster/plan", "cluster/audit"],
      ...["operator/capacity", "operator/gc", "operator/install", "operator/check"],
      ...["operator/history", "operator/networks", "operator/reservations", "operator/metrics"],
      "operator/agent",
    ],
  ],
  ["operate.ts", [...machine, "cni", ...frame, "commands.ts"]],
  // The entries of the executables, the only ones that choose an engine.
  ["portable-operator.ts", ["system/node", "operate.ts"]],
  ["portable.ts", ["system/node", "main.ts", "static", "portable-operator.ts"]],
  ["native.ts", ["system/quickjs", "main.ts"]],
  ["native-operator.ts", ["system/quickjs", "operate.ts"]],
];

const rows = new Map(arrows);

/** The row that a file of src/ counts for; `undefined` if there is none. */
export function rowOf(path: string): string | undefined {
  const parts = path.split("/");
  const prefixes = parts.map((_, at) => parts.slice(0, parts.length - at).join("/"));
  return prefixes.find((prefix) => rows.has(prefix));
}

/** Whether files of a row may import those of another one. */
export function isAllowed(from: string, to: string): boolean {
  return from === to || (rows.get(from)?.includes(to) ?? false);
}
