import { test } from "tap";
import { CommandError } from "../../../src/cli/command/command.ts";
import type { ClusterNode } from "../../../src/cluster/nodes/node-cidrs.ts";
import { parseNodes } from "../../../src/cluster/nodes/node-list.ts";
import { formatAddress } from "../../../src/ipam/address.ts";
import { nodeObject, nodesJson } from "../node-texts.ts";

const written = [
  {
    name: "node-1",
    podCidrs: ["10.244.1.0/24", "fd00:0:0:1::/64"],
    pods: "253",
    addresses: ["10.0.0.1", "fd00::1", "not an address"],
  },
  { name: "node-2", created: "2023-01-01T00:00:00Z", isCordoned: true },
];

const expected = [
  {
    name: "node-1",
    podCidrs: ["10.244.1.0/24", "fd00:0:0:1::/64"],
    pods: 253n,
    created: "2024-05-01T10:00:00Z",
    addresses: ["10.0.0.1", "fd00::1"],
    isCordoned: false,
  },
  {
    name: "node-2",
    podCidrs: [],
    pods: 110n,
    created: "2023-01-01T00:00:00Z",
    addresses: [],
    isCordoned: true,
  },
];

const objects = written.map(nodeObject);
const list = { apiVersion: "v1", kind: "List", items: objects };

/** The nodes in a text, with the texts of their podCIDRs and addresses. */
function read(text: string) {
  return parseNodes(text, "it").map(({ cidrs, addresses, ...node }: ClusterNode) => ({
    ...node,
    podCidrs: cidrs.map((cidr) => cidr.text),
    addresses: addresses.map(formatAddress),
  }));
}

test("every form that kubectl prints is read", async (t) => {
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
    t.strictSame(read(text), expected, form);
  }
  t.strictSame(read(JSON.stringify(objects[0])), expected.slice(0, 1), "a single node");
});

/** A node without anything but its name. */
const bare = {
  name: "n",
  podCidrs: [],
  pods: undefined,
  created: "",
  addresses: [],
  isCordoned: false,
};

for (const [what, members, found] of [
  [
    "podCIDR alone, before 1.16",
    { spec: { podCIDR: "10.0.0.0/24" } },
    { podCidrs: ["10.0.0.0/24"] },
  ],
  ["no number of pods", { status: { allocatable: { pods: "1k" } } }, {}],
] as const) {
  test(`a node with ${what}: the rest is absent`, async (t) => {
    const [node] = read(JSON.stringify({ kind: "Node", metadata: { name: "n" }, ...members }));
    t.strictSame(node, { ...bare, ...found });
  });
}

test("a name or a podCIDR that no API server accepts is an error", async (t) => {
  const names = ["", "--all", "a; touch pwned", "$(touch pwned)", "x\ny", "../passwd", "A", "a-"];
  for (const name of names) {
    t.throws(
      () => read(nodesJson([{ name }])),
      { message: /^it: found a node with the name / },
      name,
    );
  }
  const long = "a".repeat(254);
  t.throws(() => read(nodesJson([{ name: long }])), { message: /with the name "a/ });
  t.equal(read(nodesJson([{ name: long.slice(1) }]))[0]?.name.length, 253);
  for (const text of ["10.244.9.0", "::ffff:10.244.9.0/120", "", "$(id)"]) {
    t.throws(
      () => read(nodesJson([{ name: "n", podCidrs: ["10.0.0.0/24", text] }])),
      {
        message:
          /^it: found the podCIDR .+ of n; expected the output of kubectl get nodes -o json$/,
      },
      text,
    );
  }
});

test("YAML is an error that names the command to run instead", async (t) => {
  for (const text of [
    "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n",
    "\ufeff# nodes\n---\nkind: List\nitems: [{kind: Node}]\n",
  ]) {
    t.throws(
      () => parseNodes(text, "nodes.yaml"),
      new CommandError("nodes.yaml: found YAML; expected the output of kubectl get nodes -o json"),
    );
  }
});

test("text without nodes is an error that names its source", async (t) => {
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    ["", /^nodes: found no text; expected the output of kubectl get nodes -o json$/],
    [nodesJson([]), /^nodes: found no node in an object of kind "List";/],
    ["{}", /^nodes: found no node in an object of kind "";/],
    [
      '{"kind":"List","items":[{"kind":"Pod"},{"kind":"Service"}]}',
      /no node in an object of kind "List";/,
    ],
    ["<!DOCTYPE html>\n<html>", /^nodes: found the text "<!DOCTYPE html>";/],
    [JSON.stringify({ kind: "\u001b[31m" }), /no node in an object of kind "\\u001b\[31m";/],
    ['{"kind":"List"', /^nodes: cannot be parsed as JSON: /],
  ];
  for (const [text, message] of cases) {
    t.throws(() => parseNodes(text, "nodes"), new CommandError(""), text);
    t.throws(() => parseNodes(text, "nodes"), message, text);
  }
});
