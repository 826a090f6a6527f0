// test: each executable, one if short
/** Names that try to control a terminal or to forge lines of the output, everywhere where a command meets names. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { operate } from "../../src/operate.ts";
import { createNodeOperatorSystem } from "../../src/system/node/operator-system.ts";
import type { OperatorSystem } from "../../src/system/operator-system.ts";
import { tool } from "../harness/tool.ts";
import { type Node, nodeFor } from "./node.ts";

// The bundler puts it in.
Object.assign(globalThis, { BUILD_VERSION: "v0.0.0" });

/** What follows each of these in a name would be a line of its own, coloured, or written backwards. */
const odds = [
  ...["\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"],
  ...["\u001b[31m", "\u001b[2J", "\u001b]0;title\u0007", "\u009b2J", "\b", "\u007f"],
  ...["\u202e", "\u2066", "\u200f", "\u061c", "\u200b", "\ufeff"],
];

const hostile = `A${odds.map((odd) => `${odd}FORGED`).join("")}`;

/** As a file's name. */
const fileName = hostile.replaceAll("/", "").slice(0, 100);

/** Some in a list, since a report may cut a long name off. */
const hostileNames = [hostile, ...odds.map((odd) => `B${odd}FORGED`)];

/** Forged lines begin with this, whatever ends the line before; where a table breaks a long name, the rest is indented. */
const forgedLine = /(?:^|[\n\r\v\f\u0085\u2028\u2029])FORGED/;

/** All but newlines; colours of the tool itself are left out before. */
const control =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it matches control characters
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const ownColour = /\u001b\[(?:0|1|31|32|33)m(?!FORGED)/g;

function requireHarmless(t: Test, printed: string, words: readonly string[]): void {
  const text = printed.replace(ownColour, "");
  const [unsafe] = control.exec(text) ?? [];
  const [forged] = forgedLine.exec(text) ?? [];
  const command = JSON.stringify(words)
    .replaceAll(/[^ -~]|\\./g, "?")
    .slice(0, 100);
  if (printed === "") t.fail(`${command} prints nothing`);
  else if (unsafe === undefined && forged === undefined) t.pass(command);
  else t.fail(command, { printed: JSON.stringify(printed), unsafe: JSON.stringify(unsafe) });
}

/** A node where all that a container, a pod, another plugin or a cluster may name is named so. */
function hostileNode(t: Test): Node {
  const node = nodeFor(t);
  const ipam = { ranges: [[{ subnet: "10.21.0.0/28" }], [{ subnet: "fd21::/64" }]] };
  node.network("net", ipam);
  node.network("full", { subnet: "10.22.0.0/30" });
  node.configure(`${fileName}.conf`, {
    name: "odd-file",
    type: "bridge",
    ipam: { type: "host-local" },
  });
  node.configure("bad-name.conf", { name: hostile, type: "bridge", ipam: { type: "host-local" } });
  node.configure("bad-version.conf", { name: "v", cniVersion: hostile, type: hostile });
  node.configure("bad-json.conf", `{"name": "n", ${hostile}`);
  node.configure("bad-range.conf", {
    name: "bad-range",
    type: hostile,
    bridge: hostile,
    ipam: {
      type: "host-local",
      ranges: [[{ subnet: hostile, gateway: hostile }]],
      routes: hostile,
    },
  });
  node.configure("bad-directory.conf", {
    name: "bad-directory",
    type: "bridge",
    ipam: { type: "host-local", dataDir: hostile, subnet: "10.23.0.0/24" },
  });
  for (const [at, odd] of hostileNames.entries()) {
    node.write(`net/10.21.0.${2 + (at % 12)}`, `${odd.replaceAll("\r\n", "")}\r\neth0`, 3600);
    node.write(`net/fd21::${at + 1}`, `c${at}\r\neth0`, 3600);
    node.write(`net/fd21::1:${at + 1}`, `c${at}\r\n${odd}`, 3600);
    node.remember("net", `c${at}`, `default/${odd}`, { addresses: ["10.21.0.2/28"] });
  }
  node.write("full/10.22.0.2", hostile);
  node.write("full/last_reserved_ip.0", hostile);
  node.write(`full/${fileName}`, hostile);
  node.write(`${fileName}/10.24.0.1`, "c1\r\neth0");
  node.write("net/last_reserved_ip.7", hostile);
  writeFileSync(join(node.cacheDir, "results", fileName), hostile);
  const lines = hostileNames.map(
    (odd) => `2026-01-31T12:00:00.000Z gc 10.21.0.2 c1 eth0 ${odd} ${odd}\n`,
  );
  node.write(".host-local/net/history", lines.join(""));
  return node;
}

/** Nodes of a cluster, as kubectl prints them; those with a hostile name or podCIDR are refused. */
function hostileCluster(names: readonly string[], podCidr = "10.30.0.0/24"): object {
  const nodes = names.map((name, at) => ({
    kind: "Node",
    metadata: { name },
    spec: { podCIDR: podCidr, podCIDRs: [podCidr] },
    status: { allocatable: { pods: at === 1 ? hostile : "110" } },
  }));
  return { kind: "List", items: nodes };
}

/** The command lines: every command, its options and its operands, with hostile values. */
function commandLines(node: Node): readonly (readonly string[])[] {
  const file = (name: string, content: unknown): string => {
    const path = join(node.root, name);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };
  const nodes = file("nodes.json", hostileCluster(["n0", "n1"]));
  const names = file("names.json", hostileCluster(hostileNames));
  const podCidrs = file("pod-cidrs.json", hostileCluster(["n0"], hostile));
  const yaml = file("nodes.yaml", `kind: ${JSON.stringify(hostile)}\nitems:\n  - ${hostile}`);
  const noNodes = file("pods.json", { kind: "List", items: [{ kind: hostile }] });
  const status = file("status.json", { kind: "Status", message: hostile });
  const kind = file("kind.json", { kind: hostile });
  const text = file("text.json", hostile);
  const oddFile = file(`${fileName}.json`, hostileCluster(["n0", "n1"]));
  const live = file("live", hostile);
  const directory = join(node.root, fileName);
  mkdirSync(directory, { recursive: true });
  const forms = [[], ["--json"]];
  const reads = ["list", "networks", "capacity", "check", "metrics"];
  const valued = {
    list: ["--pod", "--namespace", "--older-than", "--sort"],
    show: ["--network"],
    history: ["--at", "--since", "--network"],
    capacity: ["--resource", "--host-network-pods"],
    gc: ["--live", "--grace"],
    release: ["--network", "--interface"],
    plan: [
      ...["--nodes", "--pods", "--cluster-cidr", "--service-cidr", "--node-cidr-mask-size"],
      ...["--host-network-pods", "--was-nodes", "--was-cluster-cidr"],
    ],
    audit: ["--cluster-cidr", "--service-cidr", "--node-cidr-mask-size", "--host-network-pods"],
  };
  const operands: Readonly<Record<string, readonly string[]>> = {
    show: ["c0"],
    history: ["c1"],
    release: ["c0"],
    audit: [nodes],
    plan: ["--nodes", "3", "--pods", "9"],
  };
  const places = ["--conf-dir", "--data-dir", "--cache-dir"];
  return [
    ...reads.flatMap((name) => forms.map((form) => [name, ...form])),
    ...reads.flatMap((name) => [
      [name, "net"],
      [name, hostile],
      [name, "net", hostile],
    ]),
    ...reads.flatMap((name) => places.map((place) => [name, place, directory])),
    ...reads.flatMap((name) => places.map((place) => [name, place, hostile])),
    ...["address", "age", "container", "pod"].map((key) => ["list", "--sort", key]),
    ["check", "--node-problem-detector"],
    ["check", "--node-problem-detector", hostile],
    ["check", "--node-problem-detector", "--data-dir", hostile],
    ["check", "--repair"],
    ["metrics", "--output", join(node.root, hostile)],
    ["metrics", `--output=${join(node.root, hostile)}`],
    ["networks", "--no-headers"],
    ["capacity", "net", "--max-pods"],
    ["capacity", "net", "--node-patch"],
    ["capacity", "net", "--node-patch", "--resource", `example.com/${hostile}`],
    ...[hostile, `default/${hostile}`, "A", "c", "10.21.0.2", "fd21::1", "10.9.9.9"].flatMap(
      (operand) => [
        ["show", operand],
        ["show", operand, "--json"],
        ["release", operand],
        ["release", operand, "--interface", hostile],
      ],
    ),
    ...["echo c1", `printf %s '${hostile}'`, "false"].flatMap((command) => [
      ["gc", "--live-command", command],
      ["gc", "net", "--live-command", command, "--now", "--json"],
    ]),
    ["gc", "--live", live],
    ["gc", "--live", join(node.root, hostile)],
    ["gc", hostile, "--live", "/dev/null"],
    ["gc", "--now"],
    ...[
      nodes,
      names,
      podCidrs,
      yaml,
      noNodes,
      status,
      kind,
      text,
      oddFile,
      join(node.root, fileName),
    ].flatMap((path) => [
      ["audit", path],
      ["audit", path, "--json"],
    ]),
    ["audit", nodes, "--cluster-cidr", "10.30.0.0/16", "--node-cidr-mask-size", "24"],
    ...Object.entries(valued).flatMap(([name, options]) =>
      options.flatMap((option) => [
        [name, ...(operands[name] ?? []), option, hostile],
        [name, ...(operands[name] ?? []), `${option}=${hostile}`],
      ]),
    ),
    ["install", directory],
    ["install", directory, "--uninstall"],
    ["install", hostile],
    ["install", directory, hostile],
    ["metrics", "--output", join(directory, "none", "metrics.prom")],
    ["completion", hostile],
    [hostile],
    ["help", hostile],
    ["--help", hostile],
    ["version", hostile],
    ["man", hostile],
    ["list", `--${hostile}`],
    ["list", `-${hostile}`],
    ["list", `--json=${hostile}`],
    ["gc", "--yes", "--live-command", "echo c1", "--live", "-"],
  ];
}

/** Runs a command in this process, and returns all that it prints. */
function printedBy(words: readonly string[], isTerminal: boolean): string {
  const printed: string[] = [];
  const system: OperatorSystem = {
    ...createNodeOperatorSystem(),
    arguments: words,
    environment: (name) => (name === "PATH" ? process.env.PATH : undefined),
    isTerminal: (stream) => isTerminal && stream !== 0,
    terminalSize: () => (isTerminal ? { columns: 1000, rows: 0 } : undefined),
    writeStandardOutput: (text) => void printed.push(text),
    writeStandardError: (text) => void printed.push(text),
    sleep: () => {},
  };
  operate(system);
  return printed.join("");
}

/** The node's directories, where the command takes them and the line names no other. */
function onNode(node: Node, words: readonly string[]): readonly string[] {
  const [name = ""] = words;
  const takesPlaces = /^(?:list|show|history|networks|capacity|check|gc|release|metrics)$/;
  if (!takesPlaces.test(name)) return words;
  const places = [
    ["--conf-dir", node.confDir],
    ["--data-dir", node.dataDir],
    ...(/^(?:networks|capacity)$/.test(name) ? [] : [["--cache-dir", node.cacheDir]]),
  ];
  return [...words, ...places.flatMap((one) => (words.includes(one[0] ?? "") ? [] : one))];
}

for (const [where, isTerminal] of [
  ["in a pipe", false],
  ["at a terminal", true],
] as const) {
  test(`no name controls the terminal or forges a line ${where}`, async (t) => {
    const node = hostileNode(t);
    const lines = commandLines(node);
    t.ok(lines.length >= 160, `${lines.length} command lines`);
    for (const words of lines) {
      requireHarmless(t, printedBy(onNode(node, words), isTerminal), words);
    }
  });
}

test("nor with the executable", async (t) => {
  const node = hostileNode(t);
  for (const words of [
    ["list"],
    ["show", hostile],
    ["check", "--json"],
    ["list", "--sort", hostile],
  ]) {
    const { stdout, stderr } = tool(onNode(node, words));
    requireHarmless(t, stdout + stderr, words);
  }
});

test("the values are still there, in JSON exactly", async (t) => {
  const node = hostileNode(t);
  t.match(node.tool(["list"]).stdout, /FORGED/);
  const { document } = node.json(["list", "--pod", `default/${hostile}`]);
  t.match(JSON.stringify(document), JSON.stringify(`default/${hostile}`));
});
