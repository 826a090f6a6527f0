// test: each executable, one if short
/** Names that try to control a terminal or to forge lines of the output, everywhere where a command meets names. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import type { Option } from "../../src/cli/command/command.ts";
import { optionsOf } from "../../src/cli/command/common-options.ts";
import { commands } from "../../src/commands.ts";
import { operate } from "../../src/operate.ts";
import { formatCall } from "../../src/store/failed-calls/failed-call.ts";
import { createNodeOperatorSystem } from "../../src/system/node/operator-system.ts";
import type { OperatorSystem } from "../../src/system/operator-system.ts";
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

/** Several hostile names, since a report may cut a long one off. */
const hostileNames = [hostile, ...odds.map((odd) => `B${odd}FORGED`)];

/** Forged lines begin with this, whatever ends the line before; where a table breaks a long name, the rest is indented. */
const forgedLine = /(?:^|[\n\r\v\f\u0085\u2028\u2029])FORGED/;

/** Control characters but newlines; colours of the tool itself are left out before. */
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
  if (unsafe === undefined && forged === undefined) t.pass(command);
  else t.fail(command, { printed: JSON.stringify(printed), unsafe: JSON.stringify(unsafe) });
}

/** A node where all that a container, a pod, another plugin or a cluster may name is named so. */
function hostileNode(t: Test): Node {
  const node = nodeFor(t);
  const ipam = { ranges: [[{ subnet: "198.51.100.0/28" }], [{ subnet: "2001:db8::/64" }]] };
  node.network("net", ipam);
  node.network("full", { subnet: "203.0.113.0/30" });
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
    ipam: { type: "host-local", dataDir: hostile, subnet: "198.18.1.0/24" },
  });
  for (const [at, odd] of hostileNames.entries()) {
    node.write(`net/198.51.100.${2 + (at % 12)}`, `${odd.replaceAll("\r\n", "")}\r\neth0`, 3600);
    node.write(`net/2001:db8::${at + 1}`, `c${at}\r\neth0`, 3600);
    node.write(`net/2001:db8::1:${at + 1}`, `c${at}\r\n${odd}`, 3600);
    node.remember("net", `c${at}`, `default/${odd}`, { addresses: ["198.51.100.2/28"] });
  }
  node.write("full/203.0.113.2", hostile);
  node.write("full/last_reserved_ip.0", hostile);
  node.write(`full/${fileName}`, hostile);
  node.write(`${fileName}/198.18.2.1`, "c1\r\neth0");
  node.write("net/last_reserved_ip.7", hostile);
  writeFileSync(join(node.cacheDir, "results", fileName), hostile);
  const lines = hostileNames.map(
    (odd) => `2026-01-31T12:00:00.000Z gc 198.51.100.2 c1 eth0 ${odd} ${odd}\n`,
  );
  node.write(".host-local/net/history", lines.join(""));
  const call = { time: Date.now(), dataDir: node.dataDir, container: "c1", interfaceName: hostile };
  const failures = ["net", hostile].map((network) =>
    formatCall({
      ...{ ...call, network, pod: hostile, kind: "failed", verb: "ADD" },
      ...{ code: 999, message: hostile, details: hostile },
    }),
  );
  writeFileSync(join(node.runtime.HOST_LOCAL_RUNTIME_DIR, "failed-calls"), failures.join(""));
  return node;
}

/** Nodes of a cluster, as kubectl prints them; those with a hostile name or podCIDR are refused. */
function hostileCluster(names: readonly string[], podCidr = "198.18.0.0/24"): object {
  const nodes = names.map((name, at) => ({
    kind: "Node",
    metadata: { name },
    spec: { podCIDR: podCidr, podCIDRs: [podCidr] },
    status: { allocatable: { pods: at === 1 ? hostile : "110" } },
  }));
  return { kind: "List", items: nodes };
}

/** Every command with each of its options and with operands, and what it reads, with hostile values. */
function commandLines(node: Node): readonly (readonly string[])[] {
  const file = (name: string, content: unknown): string => {
    const path = join(node.root, name);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };
  const nodes = file("nodes.json", hostileCluster(["n0", "n1"]));
  const directory = join(node.root, fileName);
  mkdirSync(directory, { recursive: true });
  const nothing = join(node.root, hostile);
  /** What a command takes to come to its end. */
  const complete: Readonly<Record<string, readonly string[]>> = {
    show: ["c0"],
    history: ["c1"],
    release: ["c0"],
    audit: [nodes],
    plan: ["--nodes", "3", "--pods", "9"],
    capacity: ["net"],
    gc: ["--live-command", "echo c1"],
    agent: ["--every", "1h", "gc"],
    install: [directory],
    completion: ["bash"],
  };
  const withOptions = commands.flatMap((command) => {
    const { name } = command;
    const line = [name, ...(complete[name] ?? [])];
    const values = ({ value = "" }: Option): readonly string[] =>
      /^(?:FILE|DIR)$/.test(value) ? [directory, nothing] : [hostile];
    const given = optionsOf(command)
      // Nothing is to change.
      .filter((option) => option.name !== "--yes")
      .flatMap((option) => [
        ...(option.value === undefined ? [[option.name]] : []),
        ...values(option).flatMap((value) => [[option.name, value], [`${option.name}=${value}`]]),
      ]);
    return [
      line,
      [name, hostile],
      [name, hostile, hostile],
      ...given.map((one) => [...line, ...one]),
    ];
  });
  const asked = [
    ...[hostile, `default/${hostile}`, "A", "c"],
    ...["198.51.100.2", "2001:db8::1", "198.18.3.9"],
  ];
  const lists = [
    file("names.json", hostileCluster(hostileNames)),
    file("pod-cidrs.json", hostileCluster(["n0"], hostile)),
    file("nodes.yaml", `kind: ${JSON.stringify(hostile)}\nitems:\n  - ${hostile}`),
    file("pods.json", { kind: "List", items: [{ kind: hostile }] }),
    file("status.json", { kind: "Status", message: hostile }),
    file("kind.json", { kind: hostile }),
    file("text.json", hostile),
    file(`${fileName}.json`, hostileCluster(["n0", "n1"])),
    nothing,
  ];
  return [
    ...withOptions,
    ...asked.flatMap((one) => ["show", "release"].map((name) => [name, one])),
    ...lists.flatMap((path) => [
      ["audit", path],
      ["audit", path, "--json"],
    ]),
    ["audit", nodes, "--cluster-cidr", "198.18.0.0/16", "--node-cidr-mask-size", "24"],
    ["capacity", "net", "--node-patch", "--resource", `example.com/${hostile}`],
    ["capacity", "net", "--node-feature", directory, "--expires-after", hostile],
    ["gc", "--live-command", `printf %s '${hostile}'`],
    ["gc", "net", "--live-command", "false", "--now", "--json"],
    ["gc", "--live", file("live", hostile)],
    ["agent", "--every", hostile, "gc"],
    ["agent", "--every", "1h", hostile],
    ["list", `--${hostile}`],
    ["list", `-${hostile}`],
    [hostile],
    ["help", hostile],
  ];
}

/** Runs a command in this process, and returns all that it prints. */
function printedBy({ runtime }: Node, words: readonly string[], isTerminal: boolean): string {
  const printed: string[] = [];
  const variables: Readonly<Record<string, string | undefined>> = {
    PATH: process.env.PATH,
    ...runtime,
  };
  const system: OperatorSystem = {
    ...createNodeOperatorSystem(),
    arguments: words,
    environment: (name) => variables[name],
    isTerminal: (stream) => isTerminal && stream !== 0,
    terminalSize: () => (isTerminal ? { columns: 1000, rows: 0 } : undefined),
    writeStandardOutput: (text) => void printed.push(text),
    writeStandardError: (text) => void printed.push(text),
    sleep: () => {},
    serve: () => {},
  };
  operate(system);
  return printed.join("");
}

for (const [where, isTerminal] of [
  ["in a pipe", false],
  ["at a terminal", true],
] as const) {
  test(`no name controls the terminal or forges a line ${where}`, async (t) => {
    const node = hostileNode(t);
    const lines = commandLines(node).map((words) => ({
      words,
      printed: printedBy(node, node.line(words), isTerminal),
    }));
    t.ok(lines.filter(({ printed }) => printed.includes("FORGED")).length > 160);
    for (const { words, printed } of lines) requireHarmless(t, printed, words);
  });
}

test("nor with the executable, where the names are still there, in JSON exactly", async (t) => {
  const node = hostileNode(t);
  const { stdout, stderr } = node.tool(["list"]);
  requireHarmless(t, stdout + stderr, ["list"]);
  t.match(stdout, " default/A?FORGED??FORGED?FORGED");
  const words = ["show", `default/${hostile}`, "--json"];
  const json = node.tool(words).stdout;
  requireHarmless(t, json, words);
  t.match(JSON.parse(json), { reservations: [{ pod: `default/${hostile}` }] });
});
