import { test } from "tap";
import { CommandError } from "../../../src/cli/command/command.ts";
import { type ClusterNode, parseNodes } from "../../../src/cluster/nodes/node-list.ts";
import { nodeObject, nodesJson } from "../node-texts.ts";

const written = [
  { name: "node-1", podCidrs: ["10.244.1.0/24", "fd00:0:0:1::/64"], pods: "253" },
  { name: "node-2", created: "2023-01-01T00:00:00Z", isCordoned: true },
];

const expected: readonly ClusterNode[] = [
  {
    name: "node-1",
    podCidrs: ["10.244.1.0/24", "fd00:0:0:1::/64"],
    pods: 253n,
    created: "2024-05-01T10:00:00Z",
    isCordoned: false,
  },
  {
    name: "node-2",
    podCidrs: [],
    pods: 110n,
    created: "2023-01-01T00:00:00Z",
    isCordoned: true,
  },
];

const objects = written.map(nodeObject);
const list = { apiVersion: "v1", kind: "List", items: objects };

test("every form that kubectl prints is read", (t) => {
  const withoutKind = objects.map((node) => ({ ...node, kind: undefined, apiVersion: undefined }));
  const cases: Readonly<Record<string, string>> = {
    "kubectl get nodes -o json": nodesJson(written),
    "a NodeList of the API server": JSON.stringify({ kind: "NodeList", items: withoutKind }),
    "a byte order mark": `\ufeff${nodesJson(written)}`,
    "blank lines at the beginning": `\n\n${nodesJson(written)}`,
    "objects of other kinds beside the nodes": JSON.stringify({
      ...list,
      items: [{ kind: "Pod", metadata: { name: "pod" } }, ...objects],
    }),
  };
  for (const [form, text] of Object.entries(cases)) {
    t.strictSame(parseNodes(text, "it"), expected, form);
  }
  t.strictSame(parseNodes(JSON.stringify(objects[0]), "it"), expected.slice(0, 1), "a single node");
  t.end();
});

test("what is missing in a node, or of another type, is absent", (t) => {
  const read = (node: object): ClusterNode | undefined =>
    parseNodes(JSON.stringify({ kind: "Node", ...node }), "it")[0];
  const nothing = { name: "", podCidrs: [], pods: undefined, created: "", isCordoned: false };
  t.strictSame(read({}), nothing);
  t.strictSame(read({ metadata: 1, spec: [], status: null }), nothing);
  t.strictSame(
    read({ spec: { podCIDR: "10.0.0.0/24" } })?.podCidrs,
    ["10.0.0.0/24"],
    "before 1.16",
  );
  t.strictSame(read({ spec: { podCIDR: "" } })?.podCidrs, []);
  t.equal(read({ status: { allocatable: { pods: 110 } } })?.pods, 110n);
  t.equal(read({ status: { allocatable: { pods: "1k" } } })?.pods, undefined);
  t.end();
});

test("YAML is an error that names the command to run instead", (t) => {
  for (const text of [
    "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n",
    "\ufeff# nodes\n---\nkind: List\nitems: [{kind: Node}]\n",
    "- kind: Node",
  ]) {
    t.throws(
      () => parseNodes(text, "nodes.yaml"),
      new CommandError("nodes.yaml: found YAML; expected the output of kubectl get nodes -o json"),
    );
  }
  t.end();
});

test("text without nodes is an error that names its source", (t) => {
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    ["", /^nodes: found no text; expected the output of kubectl get nodes -o json$/],
    [" \n", /^nodes: found no text;/],
    [nodesJson([]), /^nodes: found a list without nodes;/],
    ["{}", /^nodes: found an object without a kind;/],
    ['{"kind":"PodList","items":[]}', /^nodes: found kind PodList;/],
    [
      '{"kind":"List","items":[{"kind":"Pod"},{"kind":"Service"}]}',
      /found a list of kind Pod, Service;/,
    ],
    [
      '{"kind":"Status","message":"nodes is forbidden"}',
      /^nodes: found an error: "nodes is forbidden";/,
    ],
    ['{"apiVersion":"v1","kind":"Config","clusters":[]}', /^nodes: found a kubeconfig;/],
    [
      'Error from server (Forbidden): nodes is forbidden: User "x" cannot list',
      /^nodes: found the text "Error from server \(Forbidden\): nodes is forbidden: .+";/,
    ],
    ["<!DOCTYPE html>\n<html>", /^nodes: found HTML or XML;/],
    ["NAME     STATUS   ROLES    AGE\nnode-1   Ready    <none>   1d\n", /^nodes: found a table;/],
    [
      "The connection to the server was refused\n",
      /^nodes: found the text "The connection to the server was refused";/,
    ],
    [JSON.stringify({ kind: "\u001b[31m" }), /^nodes: found kind "\\u001b\[31m";/],
    ['{"kind":"List"', /^nodes: cannot be parsed as JSON: /],
  ];
  for (const [text, message] of cases) {
    t.throws(() => parseNodes(text, "nodes"), new CommandError(""), text);
    t.throws(() => parseNodes(text, "nodes"), message, text);
  }
  t.end();
});
