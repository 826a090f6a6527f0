import fc from "fast-check";
import { test } from "tap";
import { parse, stringify } from "yaml";
import { type CidrRequest, readKubectlYaml } from "../../../src/operator/cluster/kubectl-yaml.ts";
import { seed } from "../../faults/seed.ts";

const request: CidrRequest = {
  kind: "text",
  metadata: { name: "text" },
  spec: { podCIDRs: ["text"] },
  status: { allocatable: { pods: "text" } },
  items: [{ metadata: { name: "text" } }],
};

/** As kubectl prints it: long lines are not folded, and a list stands as deep as its name. */
function kubectlYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, indentSeq: false });
}

test("what was asked for is read, whatever stands around it", (t) => {
  const text = `apiVersion: v1
kind: Node
metadata:
  annotations:
    note: |
      kind: Trap
      metadata:
        name: trap

    list:
    - spec: trap
  labels: {}
  name: node-1
spec:
  podCIDR: 10.244.1.0/24
  podCIDRs:
  - 10.244.1.0/24
  - fd00::/64
status:
  allocatable:
    example.com/gpu: "1"
    pods: "110"
  images:
  - names:
    - 'registry/a: b'
    sizeBytes: 12
`;
  const node = {
    kind: "Node",
    metadata: { name: "node-1" },
    spec: { podCIDRs: ["10.244.1.0/24", "fd00::/64"] },
    status: { allocatable: { pods: "110" } },
  };
  t.strictSame(readKubectlYaml(text, request), [node]);
  t.strictSame(readKubectlYaml(`${text}---\n${text}`, request), [node, node], "two documents");
  t.strictSame(readKubectlYaml(`---\n${text.trimEnd()}`, request), [node], "no last line end");
  t.end();
});

test("lists of mappings are read, as deep as their name and deeper", (t) => {
  const expected = [{ items: [{ metadata: { name: "a" } }, { metadata: { name: "b" } }] }];
  const value = {
    items: [
      { metadata: { name: "a" }, x: [1] },
      { y: 2, metadata: { name: "b" } },
    ],
  };
  t.strictSame(readKubectlYaml(kubectlYaml(value), request), expected);
  t.strictSame(readKubectlYaml(stringify(value), request), expected);
  t.end();
});

test("another layout is left to the yaml package", (t) => {
  const texts = [
    "{kind: Node}",
    "kind: &anchor Node",
    "kind: Node # a comment",
    "# a comment\nkind: Node",
    "kind: >\n  Node",
    'kind: "No\\u0064e"',
    "kind: 'it''s'",
    "kind: a plain text\n  that goes on",
    "kind: !!str Node",
    "metadata: {name: node-1}",
    "metadata: &anchor\n  name: node-1",
    "spec:\n  podCIDRs: [10.244.1.0/24]",
    "spec:\n  podCIDRs:\n  - - nested",
    "<<: *anchor",
    "? kind\n: Node",
    "kind: Node\r\n",
    "- kind: Node",
    "kind:\n\tNode",
    "kind:\n  deeper: mapping",
    "not a mapping",
    "%YAML 1.2\n---\nkind: Node",
  ];
  for (const text of texts)
    t.equal(readKubectlYaml(text, request), undefined, JSON.stringify(text));
  t.end();
});

test("what is read is what the yaml package reads", (t) => {
  const words = fc.oneof(
    fc.constantFrom("node-1", "10.244.1.0/24", "fd00::/64", "110", "true", "null", "~", "", "1e3"),
    fc.constantFrom("a: b", "- a", "#x", "a #b", "'", '"', "\\", "{", "[x]", "&a", "*a", "|", "é"),
    fc.string(),
  );
  const bulk = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      words,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(words, tie("value"), { maxKeys: 3 }),
    ),
  })).value;
  const documents = fc.record(
    {
      aa: bulk,
      kind: words,
      bb: bulk,
      metadata: fc.record({ annotations: bulk, name: words }, { requiredKeys: [] }),
      spec: fc.record({ podCIDRs: fc.array(words, { maxLength: 3 }), taints: bulk }),
      zz: bulk,
    },
    { requiredKeys: [] },
  );
  let read = 0;
  fc.assert(
    fc.property(documents, (document) => {
      const text = kubectlYaml(document);
      const found = readKubectlYaml(text, request);
      if (found === undefined) return;
      read++;
      const whole: Partial<typeof document> = parse(text);
      const [{ kind, metadata, spec } = {}] = found as Partial<typeof document>[];
      t.equal(kind, whole.kind, text);
      t.equal(metadata?.name, whole.metadata?.name, text);
      // An empty list is as good as none.
      t.strictSame(spec?.podCIDRs ?? [], whole.spec?.podCIDRs ?? [], text);
    }),
    { numRuns: 2000, seed },
  );
  t.ok(read > 100, "and often enough it is read");
  t.end();
});
