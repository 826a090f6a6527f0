/** `audit` on lists of nodes as kubectl prints them. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { stringify } from "yaml";
import { scratchDirectory } from "../blackbox/data-directory.ts";
import { tool } from "./tool.ts";

function node(name: string, podCIDRs: readonly string[], pods = "110"): object {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    spec: podCIDRs.length === 0 ? {} : { podCIDR: podCIDRs[0], podCIDRs },
    status: { allocatable: { pods } },
  };
}

function list(...items: readonly object[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}

interface Document {
  readonly problems: readonly { readonly code: string; readonly node: string }[];
  readonly renumber: readonly {
    readonly node: string;
    readonly to: readonly string[] | null;
    readonly steps: readonly string[];
  }[];
}

function audit(stdin: string, ...words: readonly string[]): Document & { exitCode: number | null } {
  const { exitCode, stdout } = tool(["audit", "--json", ...words], { stdin });
  const document: Document = JSON.parse(stdout);
  return { ...document, exitCode };
}

const cluster = ["--cluster-cidr", "10.244.0.0/16"];

test("a cluster in order is exit code 0", (t) => {
  const { exitCode, stdout, stderr } = tool(["audit", ...cluster], {
    stdin: list(node("a", ["10.244.0.0/24"]), node("b", ["10.244.1.0/24"])),
  });

  t.same([exitCode, stderr], [0, ""]);
  t.match(stdout, "No problems found.");
  t.end();
});

test("each problem has its code, and names its node", (t) => {
  const usual = [node("u1", ["10.244.1.0/24"]), node("u2", ["10.244.2.0/24"])];
  const cases: readonly (readonly [string, readonly object[], readonly string[]])[] = [
    ["no podCIDR", [node("n", [])], ["n"]],
    ["the same block", [node("n", ["10.244.7.0/24"]), node("m", ["10.244.7.0/24"])], ["m", "n"]],
    ["a part of another's", [node("n", ["10.244.1.128/25"])], ["n", "u1"]],
    ["outside the cluster", [node("n", ["10.99.0.0/24"])], ["n"]],
    ["another size", [node("n", ["10.244.8.0/25"])], ["n"]],
    ["more pods than addresses", [node("n", ["10.244.9.0/24"], "500")], ["n"]],
    ["no CIDR at all", [node("n", ["10.244.9.0"])], ["n"]],
  ];

  const codes = cases.map(([what, nodes, named]) => {
    const { exitCode, problems } = audit(list(...usual, ...nodes), ...cluster);
    t.equal(exitCode, 1, what);
    for (const name of named)
      t.ok(
        problems.some(({ node }) => node === name),
        `${what}: ${name}`,
      );
    return problems[0]?.code;
  });

  t.same(codes, [
    "no-pod-cidr",
    "duplicate",
    "overlap",
    "outside",
    "mask-size",
    "max-pods",
    "no-pod-cidr",
  ]);
  t.end();
});

test("overlaps are found across families' lists: any podCIDR of one node in any of another", (t) => {
  const { problems } = audit(
    list(
      node("a", ["10.244.1.0/24", "fd00:1::/64"]),
      node("b", ["10.244.2.0/24", "fd00:1::/64"]),
      node("c", ["10.244.3.0/24", "fd00:2::/64"]),
    ),
    "--cluster-cidr",
    "10.244.0.0/16,fd00::/48",
  );

  t.ok(problems.some(({ node: name }) => name === "a"));
  t.ok(problems.some(({ node: name }) => name === "b"));
  t.end();
});

test("a free block is proposed for each node to renumber, with the commands for it", (t) => {
  const { renumber } = audit(
    list(node("a", ["10.244.0.0/24"]), node("b", ["10.244.0.0/24"]), node("c", ["10.244.1.0/24"])),
    ...cluster,
  );

  const [first] = renumber;
  t.equal(renumber.length, 1, "one of the two keeps its block");
  t.same(first?.to, ["10.244.2.0/24"]);
  const steps = first?.steps.join("\n") ?? "";
  for (const step of [
    "-o yaml >",
    "kubectl drain",
    "kubectl delete node",
    "kubectl create -f",
    "ip link delete cni0",
    "kubectl delete pods",
  ]) {
    t.match(steps, step);
  }
  t.end();
});

test("a hostile name never becomes a command", (t) => {
  const name = "a; touch /tmp/pwned #$(id)";
  const { stdout } = tool(["audit", ...cluster], {
    stdin: list(node(name, ["10.244.0.0/24"]), node("b", ["10.244.0.0/24"])),
  });

  t.notMatch(stdout, /^kubectl [a-z ]+ a; touch/m);
  t.end();
});

test("YAML, several documents, a single node, and a file", (t) => {
  const good = [node("a", ["10.244.0.0/24"]), node("b", ["10.244.1.0/24"])];
  const texts = [
    stringify({ apiVersion: "v1", kind: "List", items: good }),
    good.map((one) => stringify(one)).join("---\n"),
    JSON.stringify(good[0]),
  ];

  for (const stdin of texts) t.equal(audit(stdin, ...cluster).exitCode, 0);

  const file = join(scratchDirectory(t), "nodes.json");
  writeFileSync(file, list(...good));
  t.equal(audit("", file, ...cluster).exitCode, 0);
  t.end();
});

test("what is no list of nodes is exit code 2", (t) => {
  for (const stdin of ["", "{", "[1]", '{"kind":"PodList","items":[]}', "a: ["]) {
    const { exitCode, stderr } = tool(["audit"], { stdin });
    t.equal(exitCode, 2, JSON.stringify(stdin));
    t.match(stderr, /^host-local: /);
  }
  t.equal(tool(["audit", "/no/such/file"]).exitCode, 2);
  t.end();
});
