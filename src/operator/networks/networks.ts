import type { Command, Context, Report } from "../../cli/command/command.ts";
import { formatDuration } from "../../cli/command/duration.ts";
import { plural } from "../../cli/output/plural.ts";
import { columns, formatTable } from "../../cli/output/table.ts";
import { formatCount, tableWidth } from "../../cli/output/terminal.ts";
import { timeText } from "../../cli/output/time.ts";
import type { OperatorSystem } from "../../system/operator-system.ts";
import { isUnused } from "../configured/file-in-use.ts";
import type { FoundNetwork } from "../configured/found-network.ts";
import { readInstallations } from "../facts/installations.ts";
import { readRecorded } from "../facts/recorded.ts";
import type { NetworkDirectory } from "../held/network-directory.ts";
import { lastAddOf } from "../judgements/calls.ts";
import { unrecordedSince } from "../judgements/unrecorded.ts";
import { countRanges, describeRange, formatRange, type RangeCounts } from "../judgements/usage.ts";
import { logUncertainty, logUncounted, type Node, openNode } from "../node.ts";

/** A network with the addresses that are free in each of its ranges, and its last ADD. */
interface Entry {
  readonly network: FoundNetwork;
  readonly ranges: readonly RangeCounts[];
  /** When its last ADD was, in milliseconds since the epoch; `undefined` where none is seen. */
  readonly lastAdd: number | undefined;
}

/** `networks`: lists the networks of the node. */
export const networks: Command = {
  name: "networks",
  operands: "[NETWORK]",
  findsNetworks: true,
  summary: "list the networks of this node with ranges, configuration and directory",
  description: [
    "Lists one network, or all that are configured or have a directory: the ranges, the addresses that are free in each of them, the bridge that has the gateway's address, the configuration file and the directory of the reservations. A file is (unused) where no runtime uses it beside another one of the network, and used (by name) where containerd and CRI-O use one that comes before it: only those use it who ask for its network by name, such as podman and multus. It is (unread) where containerd or CRI-O is configured to read another directory. A range that is a whole subnet is shown as the subnet. A network without a configuration is one that was removed or renamed; one without ranges gets them from the runtime, or its configuration is invalid.",
    "LAST ADD is how long ago an ADD was last seen there, of this plugin or another host-local, by the dates of cursors and reservations. If the journal, in which calls of this plugin list what is reserved, has nothing that was reserved since the installation of this program, the runtime calls the plugin of another directory: standard error says so, and which directories have one.",
    "capacity counts the addresses in more detail.",
  ],
  options: [{ name: "--no-headers", summary: "leave out the headings" }],
  examples: [
    { line: "host-local networks", effect: "list the networks of this node" },
    { line: "host-local networks mynet --json", effect: "describe one network as JSON" },
  ],
  run: listNetworks,
};

function listNetworks(context: Context): Report {
  const { system, operands, has } = context;
  const [name] = operands;
  const node = openNode(context, name);
  logUncertainty(node);
  const unused = node.unused.filter(({ files }) => node.isAsked(files.network));
  for (const { source, use } of unused) {
    const why = use?.why;
    if (why !== undefined) context.log(`${source}: ${why}`);
  }
  const directories = new Map(
    node.asked.map((directory) => [directory.files.directory, directory]),
  );
  const entries = [...node.askedNetworks, ...unused].map((network): Entry => {
    const directory = directories.get(network.files.directory);
    // First: it reads all reservations, and the rest uses those.
    const lastAdd = directory && lastAddOf(node.addTracesIn(directory), node.facts.now());
    const used =
      directory === undefined || network.rangeSets.length === 0
        ? []
        : node.usedIn(directory, network);
    const ranges = countRanges(network, used);
    return { network, ranges, lastAdd };
  });
  for (const directory of node.asked) {
    logUnrecorded(node, directory);
    if (directory.ranges.length > 0) logUncounted(node, directory);
  }
  return {
    exitCode: 0,
    document: () => ({ networks: entries.map(describe) }),
    text: () => tableOf(system, entries, has("--no-headers")),
  };
}

/** Logs that the runtime calls another plugin. */
function logUnrecorded({ context, facts }: Node, directory: NetworkDirectory): void {
  const { files, reservations } = directory;
  const isRecorded = readRecorded(directory);
  const { since, others } = readInstallations(context.system);
  if (isRecorded === undefined || since === undefined) return;
  const { length } = unrecordedSince(since, reservations, isRecorded, facts.now());
  if (length === 0) return;
  const elsewhere =
    others.length === 0
      ? "no known plugin directory but those of this program has one"
      : `there is one in ${others.join(", ")}`;
  context.log(
    `${files.network}: no call of this plugin is on record since its installation ${formatDuration(facts.now() - since)} ago, but ${plural(length, "address")} of now were reserved after it: unless ${files.dataDir}/.host-local was deleted, the runtime calls the host-local of another directory; ${elsewhere}`,
  );
}

function tableOf(system: OperatorSystem, entries: readonly Entry[], isHeadless: boolean): string {
  const now = system.now();
  return formatTable(
    columns("NETWORK", "RANGES", "FREE", "BRIDGE", "LAST ADD", "CONFIGURATION", "DIRECTORY"),
    entries.map(({ network, ranges, lastAdd }) => [
      network.files.network,
      ranges.map(({ range }) => formatRange(range)).join(",") || "-",
      ranges.map(({ free }) => formatCount(system, free)).join(",") || "-",
      network.bridge?.name ?? "-",
      lastAdd === undefined ? "-" : formatDuration(now - lastAdd),
      fileCell(network),
      network.files.directory,
    ]),
    { width: tableWidth(system), isHeadless },
  );
}

function fileCell({ source, use }: FoundNetwork): string {
  if (source === undefined || use === undefined) return "-";
  if (isUnused(use)) return `${source} (unused)`;
  if (use.kind === "unread") return `${source} (unread)`;
  if (use.kind === "refused") return `${source} (refused)`;
  return use.kind === "byName" ? `${source} (by name)` : source;
}

function describe({ network, ranges, lastAdd }: Entry): object {
  const { files, bridge, source, use } = network;
  return {
    network: files.network,
    directory: files.directory,
    configuration: source ?? null,
    use: use?.kind ?? null,
    shadowedBy: use?.other?.source ?? null,
    bridge: bridge?.name ?? null,
    lastAdd: lastAdd === undefined ? null : timeText(lastAdd),
    ranges: ranges.map((range) => ({ ...describeRange(range), free: range.free })),
  };
}
