// test: native executable
/** docs/operator-json.md has every code of the source. It and the examples have all members of real documents, in their form. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { findingCodes } from "../../src/cluster/audit/node-findings.ts";
import { commands } from "../../src/commands.ts";
import { kinds } from "../../src/operator/check/finding.ts";
import { nodesJson } from "../cluster/node-texts.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import type { Outcome } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";
import { listOf } from "./gc/pods-on-node.ts";
import { exampleOf, examplesOf, formOf } from "./json-examples.ts";
import { type Node, nodeFor } from "./node.ts";

const page = readFileSync(inRepository("docs/operator-json.md"), "utf8");

/** The page's part about a command; those that have none are about the first of several in a heading. */
function sectionOf(command: string): string {
  const sections = page.split(/^## /m);
  return sections.find((section) => section.split("\n")[0]?.split(", ").includes(command)) ?? "";
}

/** Whether a name is in a text, as code or as a member of a document. */
function isIn(text: string, name: string): boolean {
  return new RegExp(`[\`"]${name}[\`"]`).test(text);
}

/** The texts that the source gives a name, in unions after a colon or an equals sign. */
function textsOf(name: string, ...houses: readonly string[]): readonly string[] {
  const source = houses
    .flatMap((house) => filesIn(inRepository(house)))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
  const unions = source.matchAll(
    new RegExp(`\\b${name}(?:\\??:| =)((?:\\s*\\|?\\s*"[\\w-]+")+)`, "g"),
  );
  const texts = [...unions].flatMap(([, union = ""]) => [...union.matchAll(/"([\w-]+)"/g)]);
  return [...new Set(texts.map(([, text = ""]) => text))];
}

/** The files in a directory, or the one that it is. */
function filesIn(directory: string): readonly string[] {
  if (directory.endsWith(".ts")) return [directory];
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => join(directory, path));
}

test("every command that prints a document has a section", async (t) => {
  for (const { name } of commands) t.not(sectionOf(name), "", name);
});

test("every code of check is in the table, with its severity", async (t) => {
  for (const [code, { severity }] of Object.entries(kinds)) {
    t.match(sectionOf("check"), `| \`${code}\` | ${severity} | `);
  }
});

test("every code of audit and plan is in its section", async (t) => {
  for (const code of findingCodes) t.ok(isIn(sectionOf("audit"), code), code);
  const codes = textsOf("ProblemCode", "src/cluster/plan");
  t.ok(codes.includes("too-many-nodes"));
  for (const code of codes) t.ok(isIn(sectionOf("plan"), code), code);
});

const printed = ["src/cli", "src/operator", "src/cluster"];

for (const [what, name, ...houses] of [
  ...["code", "reason", "action", "severity", "source"].map((name) => [name, name, ...printed]),
  ["state of gc", "Decision", "src/operator/gc"],
  ["owner", "kind", "src/store/reservations/owner.ts"],
] as const) {
  test(`every ${what} in the source is on the page`, async (t) => {
    const texts = textsOf(name ?? "", ...houses);
    t.ok(texts.length > 1, `${what}: ${texts}`);
    for (const text of texts) t.ok(isIn(page, text), text);
  });
}

/** All names of members in a document, except where the names are data. */
function membersOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(membersOf);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    name,
    ...(name === "labels" ? [] : membersOf(inner)),
  ]);
}

/** A node on which every list of every document has an element. */
function richNode(t: Test): Node {
  const node = nodeFor(t);
  node.network("mynet", { subnet: "198.51.100.0/24", history: true }, { isGateway: true });
  for (const id of ["4f1d6e0c8b7a", "52a3e7b3c482"]) node.call("ADD", "mynet", id);
  node.remember("mynet", "4f1d6e0c8b7a", "default/web");
  node.remember("mynet", "52a3e7b3c482", "default/db", { netns: "/run/netns/gone" });
  node.write("mynet/198.51.100.9", "", 3600);
  node.age("mynet/198.51.100.3", 3600);
  return node;
}

const nodes = nodesJson([
  { name: "node-1", podCidrs: ["198.18.0.0/24"] },
  { name: "node-2", podCidrs: ["203.0.113.0/24"] },
]);

/** The command lines whose documents depend on what there is; of the others the example has each member. */
const lines: readonly (readonly [command: string, words: readonly string[]])[] = [
  ["show", ["198.51.100.2"]],
  ["check", []],
  ["check", ["--repair"]],
  ["gc", []],
  ["gc", ["--live-command", listOf("4f1d6e0c8b7a"), "--now", "--yes"]],
  ["release", ["198.51.100.3", "--yes"]],
  ["metrics", []],
];

/** The members that the tables of a section explain. */
function explainedIn(section: string): readonly string[] {
  const tables = section.split(/\n\n+/).filter((part) => part.startsWith("| member |"));
  const cells = tables.flatMap((table) => table.split("\n").slice(2));
  return cells.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
  );
}

test("every member that a table explains is in an example, and those are what commands print", async (t) => {
  for (const section of page.split(/^## /m).slice(1)) {
    const [title = ""] = section.split("\n", 1);
    const printed = new Set(title.split(", ").flatMap(examplesOf).flatMap(membersOf));
    if (title === "Reservation") for (const name of membersOf(exampleOf("list"))) printed.add(name);
    for (const name of explainedIn(section)) t.ok(printed.has(name), `${title}: ${name}`);
  }
});

for (const [command, words] of lines) {
  test(`every member of ${[command, ...words].join(" ")} is in its section`, async (t) => {
    const node = richNode(t);
    const outcome = node.tool([command, ...words, "--json"]);
    requireSound(t, outcome);
    const members = new Set(membersOf(JSON.parse(outcome.stdout)));
    t.ok(members.size > 0);
    const examples = JSON.stringify([...examplesOf(command), exampleOf("list")]);
    const texts = sectionOf(command) + sectionOf("Reservation") + examples;
    for (const member of members) t.ok(isIn(texts, member), member);
  });
}

/** No sanitizer has anything to say: what it finds it prints after the document, and ends with a code of its own. */
function requireSound(t: Test, { exitCode, stderr }: Outcome): void {
  t.ok(exitCode === 0 || exitCode === 1, `exit code ${exitCode}`);
  t.notMatch(stderr, /ERROR: |runtime error/);
}

const PLAN = [
  ...["--cluster-cidr=198.18.0.0/15", "--node-cidr-mask-size=27", "--nodes=5000"],
  ...["--was-cluster-cidr=198.18.64.0/19", "--was-node-cidr-mask-size=27"],
  "--partition=198.18.0.0/16",
];

for (const [words, operands] of [
  ["list", []],
  ["show", ["198.51.100.99"]],
  ["history", ["198.51.100.2"]],
  ["networks", []],
  ["capacity", []],
  ["check", []],
  ["capacity --max-pods --host-network-pods=3", []],
  ["capacity --node-patch", []],
  ["capacity --node-feature", ["@"]],
  ["release", ["nobody"]],
  ["install", ["@", "--yes"]],
  ["plan", PLAN],
  ["audit", ["-", "--cluster-cidr=198.18.0.0/16"]],
  ["completion bash", []],
  ["completion --line", ["host-local ca"]],
  ["man", []],
  ["version", []],
] as const) {
  test(`the document of ${words} matches its example`, async (t) => {
    const node = richNode(t);
    const empty = scratchDirectory(t);
    const line = [...words.split(" "), ...operands].map((word) => word.replace("@", empty));

    const outcome = node.tool([...line, "--json"], {
      stdin: words === "audit" ? nodes : "",
    });

    requireSound(t, outcome);
    t.strictSame(formOf(JSON.parse(outcome.stdout)), formOf(exampleOf(words)));
  });
}
