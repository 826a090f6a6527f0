/** The JSON documents have the members and types of the examples in docs/operator-json.md. */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { scratchDirectory } from "../blackbox/data-directory.ts";
import { inRepository } from "../blackbox/executable.ts";
import { nodeFor } from "./node.ts";
import { nodesJson } from "./node-texts.ts";

const page = readFileSync(inRepository("docs/operator-json.md"), "utf8");

/** The example of a command line on the page. */
function exampleOf(words: string): unknown {
  const [, text] = new RegExp(`<!-- ${words} -->\\n\`\`\`json\\n([^]*?)\`\`\``).exec(page) ?? [];
  return JSON.parse(text ?? "null");
}

/** A document with its values replaced by their kinds, and of each list only the first element. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(formOf);
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, formOf(inner)]));
}

const PLAN = [
  ...["--cluster-cidr=10.240.0.0/12", "--node-cidr-mask-size=24", "--nodes=5000"],
  "--was-cluster-cidr=10.244.0.0/16",
];

const nodes = nodesJson([
  { name: "node-1", podCidrs: ["10.244.0.0/24"] },
  { name: "node-2", podCidrs: ["10.99.0.0/24"] },
]);

for (const [words, operands] of [
  ["list", []],
  ["show", ["10.88.0.99"]],
  ["capacity", []],
  ["check", []],
  ["capacity --max-pods", []],
  ["capacity --node-patch", []],
  ["release", ["nobody"]],
  ["install", ["@", "--yes"]],
  ["plan", PLAN],
  ["audit", ["-", "--cluster-cidr=10.244.0.0/16"]],
  ["completion bash", []],
  ["completion networks", []],
  ["man", []],
] as const) {
  test(`the document of ${words} matches docs/operator-json.md`, (t) => {
    const node = nodeFor(t);
    const empty = scratchDirectory(t);
    const ipam = { type: "host-local", dataDir: node.dataDir, subnet: "10.88.0.0/24" };
    node.configure("mynet.conf", { cniVersion: "1.0.0", name: "mynet", ipam });
    node.add("mynet", { subnet: "10.88.0.0/24" }, "c1");
    if (words === "check") node.write("mynet/10.88.0.9", "", 60);
    const line = [...words.split(" "), ...operands].map((word) => word.replace("@", empty));

    const { stdout } = node.tool([...line, "--json"], {
      stdin: words === "audit" ? nodes : "",
    });

    t.strictSame(formOf(JSON.parse(stdout)), formOf(exampleOf(words)));
    t.end();
  });
}
