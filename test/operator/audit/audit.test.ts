import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { stringify } from "yaml";
import { scratchDirectory } from "../../blackbox/data-directory.ts";
import { nodeObject, nodesJson, type WrittenNode } from "../node-texts.ts";
import { tool } from "../tool.ts";

const CLUSTER = "--cluster-cidr=10.244.0.0/16";

function audit(nodes: readonly WrittenNode[], ...options: readonly string[]) {
  return tool(["audit", ...options], { stdin: nodesJson(nodes) });
}

/** Code, severity, node and podCIDR of each problem. */
function problemsOf(nodes: readonly WrittenNode[], ...options: readonly string[]) {
  const { problems }: { problems: readonly Record<string, string>[] } = JSON.parse(
    audit(nodes, "--json", ...options).stdout,
  );
  return problems.map(({ code, severity, node, podCidr }) => [code, severity, node, podCidr]);
}

/** The proposed podCIDRs, by the name of the node. */
function proposalsOf(nodes: readonly WrittenNode[], ...options: readonly string[]) {
  const { renumber }: { renumber: readonly { node: string; to: string[] | null }[] } = JSON.parse(
    audit(nodes, "--json", ...options).stdout,
  );
  return Object.fromEntries(renumber.map(({ node, to }) => [node, to?.join(",") ?? null]));
}

const healthy: readonly WrittenNode[] = [
  { name: "node-1", podCidrs: ["10.244.0.0/24"] },
  { name: "node-2", podCidrs: ["10.244.1.0/24"] },
  { name: "node-3", podCidrs: ["10.244.2.0/24"] },
];

test("there are no problems where each node has a podCIDR of its own", (t) => {
  const { exitCode, stdout, stderr } = audit(healthy, CLUSTER);
  t.equal(
    stdout,
    "3 nodes, cluster CIDR 10.244.0.0/16, node mask /24 (IPv4, the commonest). No problems found.\n",
  );
  t.strictSame([exitCode, stderr], [0, ""]);
  t.equal(audit([], CLUSTER).exitCode, 0, "no nodes, no problems");
  t.end();
});

const faulty: readonly WrittenNode[] = [
  { name: "node-1", podCidrs: ["10.244.0.0/24"] },
  { name: "node-2", podCidrs: ["10.244.1.0/24"] },
  { name: "node-3", podCidrs: ["10.244.1.0/24"], created: "2023-01-01T00:00:00Z" },
  { name: "node-4" },
  { name: "node-5", podCidrs: ["10.244.4.0/23"] },
  { name: "node-6", podCidrs: ["10.244.5.0/24"] },
  { name: "node-7", podCidrs: ["10.99.0.0/24"] },
  { name: "node-8", podCidrs: ["10.244.8.0/24"], pods: "300" },
];

test("problems are grouped, with proposals and commands", (t) => {
  const { exitCode, stdout, stderr } = audit(faulty, CLUSTER);
  t.equal(
    stdout.slice(0, stdout.indexOf("\n# node-4")),
    `8 nodes, cluster CIDR 10.244.0.0/16, node mask /24 (IPv4, the commonest). 7 nodes with problems.

duplicate (error, 2): several nodes have the same podCIDR; traffic to their pods is lost

NODE    PODCIDR        PROBLEM
node-2  10.244.1.0/24  also assigned to node-3
node-3  10.244.1.0/24  also assigned to node-2

overlap (error, 2): the podCIDR overlaps that of another node; traffic to their pods is lost

NODE    PODCIDR        PROBLEM
node-5  10.244.4.0/23  contains 10.244.5.0/24 of node-6
node-6  10.244.5.0/24  lies in 10.244.4.0/23 of node-5

no-pod-cidr (error, 1): a podCIDR is missing; pods get no address

NODE    PODCIDR  PROBLEM
node-4  -        pods on it get no address

outside (error, 1): the podCIDR is outside the cluster CIDR; kube-controller-manager does not start while there is such a node

NODE    PODCIDR       PROBLEM
node-7  10.99.0.0/24  not in 10.244.0.0/16

mask-size (warning, 1): the podCIDR does not have the size of the node mask; it may take the place of several

NODE    PODCIDR        PROBLEM
node-5  10.244.4.0/23  the node mask is /24

max-pods (warning, 1): the scheduler may place more pods on the node than it has addresses

NODE    PODCIDR        PROBLEM
node-8  10.244.8.0/24  300 pods allocatable, but it holds 253: set kubelet's --max-pods to 253

4 nodes to renumber:

NODE    FROM           TO
node-2  10.244.1.0/24  10.244.2.0/24
node-4  -              10.244.3.0/24
node-5  10.244.4.0/23  10.244.6.0/24
node-7  10.99.0.0/24   10.244.7.0/24

Commands:

# Renumber one node at a time, and add no nodes meanwhile: a controller might assign these podCIDRs to them.
# ssh stands for your way to run a command on the node; cni0 is the usual name of the bridge (kubenet: cbr0).
# Keep the file that is saved first: with it you can go back. The commands for a node stop when one fails.
# If a file in /etc/cni/net.d has the old podCIDR, correct it before the kubelet starts again; remove a file
# that containerd wrote from its template, or it will not change.

# node-2
kubectl cordon node-2 &&
kubectl get node node-2 -o yaml > node-2.yaml &&
kubectl patch --local -f node-2.yaml --type merge -o yaml -p '{"metadata":{"uid":null,"resourceVersion":null,"creationTimestamp":null},"spec":{"podCIDR":"10.244.2.0/24","podCIDRs":["10.244.2.0/24"]},"status":null}' > node-2.new.yaml &&
kubectl drain node-2 --ignore-daemonsets --delete-emptydir-data &&
ssh node-2 sudo systemctl stop kubelet &&
kubectl delete node node-2 &&
kubectl create -f node-2.new.yaml &&
ssh node-2 'sudo ip link delete cni0; sudo systemctl start kubelet' &&
kubectl delete pods --all-namespaces --field-selector 'spec.nodeName=node-2' &&
kubectl uncordon node-2
`,
  );
  t.strictSame([exitCode, stderr], [1, ""]);
  t.end();
});

test("the document", (t) => {
  const { exitCode, stdout } = audit(
    [...healthy, { name: "node-4" }, { name: "node-5", podCidrs: ["10.244.2.0/24"] }],
    "--json",
    CLUSTER,
  );
  const document = JSON.parse(stdout);
  t.equal(exitCode, 1);
  t.match(document.renumber[1].steps, [/^kubectl cordon node-5$/]);
  document.renumber[1].steps = [];
  t.strictSame(document, {
    nodes: 5,
    clusterCidrs: ["10.244.0.0/16"],
    nodeMasks: [{ family: "IPv4", nodeMask: 24, source: "commonest" }],
    problems: [
      {
        code: "duplicate",
        severity: "error",
        node: "node-3",
        podCidr: "10.244.2.0/24",
        message: "also assigned to node-5",
      },
      {
        code: "duplicate",
        severity: "error",
        node: "node-5",
        podCidr: "10.244.2.0/24",
        message: "also assigned to node-3",
      },
      {
        code: "no-pod-cidr",
        severity: "error",
        node: "node-4",
        podCidr: null,
        message: "pods on it get no address",
      },
    ],
    renumber: [
      {
        node: "node-4",
        from: [],
        to: ["10.244.3.0/24"],
        problem: null,
        steps: [
          "kubectl get node node-4 -o yaml > node-4.yaml",
          `kubectl patch node node-4 --type merge -p '{"spec":{"podCIDR":"10.244.3.0/24","podCIDRs":["10.244.3.0/24"]}}'`,
        ],
      },
      { node: "node-5", from: ["10.244.2.0/24"], to: ["10.244.4.0/24"], problem: null, steps: [] },
    ],
  });
  t.end();
});

test("each kind of problem", (t) => {
  const one = (podCidrs: readonly string[], pods = "1"): readonly WrittenNode[] => [
    ...healthy,
    { name: "node-9", podCidrs, pods },
  ];
  const cases: readonly (readonly [podCidrs: readonly string[], codes: readonly string[]])[] = [
    [["10.244.9.0/24"], []],
    [[], ["no-pod-cidr"]],
    [["10.245.0.0/24"], ["outside"]],
    [["10.0.0.0/8"], ["overlap", "overlap", "overlap", "overlap", "outside", "mask-size"]],
    [["10.244.9.0/25"], ["mask-size"]],
    [["10.244.0.128/25"], ["overlap", "overlap", "mask-size"]],
    [["10.244.9.1/24"], ["invalid"]],
    [["10.244.9.0/31"], ["invalid", "mask-size", "max-pods"]],
    [["10.244.9.0"], ["no-pod-cidr", "invalid"]],
    [["::ffff:10.244.9.0/120"], ["no-pod-cidr", "invalid"]],
    [["10.244.9.0/24", "fd00::/64"], ["outside"]],
    [["fd00::/64"], ["no-pod-cidr", "outside"]],
    [
      ["10.244.9.0/24", "10.244.9.0/24"],
      ["duplicate", "duplicate"],
    ],
  ];
  for (const [podCidrs, codes] of cases) {
    const found = problemsOf(one(podCidrs), CLUSTER).map(([code]) => code);
    t.strictSame(found, codes, podCidrs.join(",") || "none");
    t.equal(audit(one(podCidrs), CLUSTER).exitCode, codes.length === 0 ? 0 : 1);
  }
  t.strictSame(problemsOf(one(["10.244.9.0/24"], "254"), CLUSTER), [
    ["max-pods", "warning", "node-9", "10.244.9.0/24"],
  ]);
  t.end();
});

test("dual stack: podCIDRs of one family are compared wherever they are in the list", (t) => {
  const nodes: readonly WrittenNode[] = [
    { name: "a", podCidrs: ["10.244.0.0/24", "fd00:0:0:1::/64"] },
    { name: "b", podCidrs: ["fd00:0:0:1::/64", "10.244.1.0/24"] },
    { name: "c", podCidrs: ["10.244.2.0/24"] },
  ];
  t.strictSame(problemsOf(nodes, "--cluster-cidr=10.244.0.0/16,fd00::/48"), [
    ["duplicate", "error", "a", "fd00:0:0:1::/64"],
    ["duplicate", "error", "b", "fd00:0:0:1::/64"],
    ["no-pod-cidr", "error", "c", "10.244.2.0/24"],
  ]);
  t.strictSame(proposalsOf(nodes, "--cluster-cidr=10.244.0.0/16,fd00::/48"), {
    b: "10.244.1.0/24,fd00::/64",
    c: "10.244.2.0/24,fd00:0:0:2::/64",
  });
  t.strictSame(
    problemsOf(nodes.slice(0, 3)).map(([code, , node]) => [code, node]),
    [
      ["duplicate", "a"],
      ["duplicate", "b"],
      ["no-pod-cidr", "c"],
    ],
    "most nodes have two families, so all should",
  );
  t.end();
});

test("the node mask is the one given, else the commonest", (t) => {
  const masksOf = (...options: readonly string[]) =>
    JSON.parse(audit(faulty, "--json", ...options).stdout).nodeMasks;
  t.strictSame(masksOf(), [{ family: "IPv4", nodeMask: 24, source: "commonest" }]);
  t.strictSame(masksOf("--node-cidr-mask-size=23"), [
    { family: "IPv4", nodeMask: 23, source: "option" },
  ]);
  t.strictSame(masksOf("--cluster-cidr=10.244.0.0/16,fd00::/48", "--node-cidr-mask-size-ipv4=25"), [
    { family: "IPv4", nodeMask: 25, source: "option" },
    { family: "IPv6", nodeMask: 64, source: "default" },
  ]);
  t.end();
});

test("where few large podCIDRs take the whole cluster CIDR, proposals are parts of them", (t) => {
  const large = Array.from({ length: 16 }, (_, index) => ({
    name: `node-${index}`,
    podCidrs: [`10.${240 + index}.0.0/16`],
  }));
  const options = ["--cluster-cidr=10.240.0.0/12", "--node-cidr-mask-size=24"];
  const proposals = proposalsOf([...large, { name: "node-16" }], ...options);
  t.equal(proposals["node-3"], "10.243.0.0/24");
  t.equal(proposals["node-16"], null, "the seventeenth node gets none yet");
  t.end();
});

test("without a cluster CIDR there are findings, and the option that proposals need", (t) => {
  const { exitCode, stdout } = audit([...healthy, { name: "node-4" }]);
  t.equal(exitCode, 1);
  t.match(stdout, /node-4 {2}- {5}none: give --cluster-cidr for a proposal\n$/);
  t.notMatch(stdout, "kubectl");
  t.end();
});

/** What `kubectl get -o yaml` prints for an object. */
function yaml(object: unknown): string {
  return stringify(object, { indentSeq: false, lineWidth: 0 });
}

test("nodes are read from a file or standard input, as JSON or YAML", (t) => {
  const file = join(scratchDirectory(t), "nodes");
  const expected = audit(faulty, CLUSTER).stdout;
  const texts = {
    JSON: nodesJson(faulty),
    "a YAML list": yaml(JSON.parse(nodesJson(faulty))),
    "YAML documents of one node": faulty.map((node) => yaml(nodeObject(node))).join("---\n"),
  };
  for (const [form, text] of Object.entries(texts)) {
    writeFileSync(file, text);
    t.match(tool(["audit", file, CLUSTER]), { stdout: expected, stderr: "" }, form);
    t.match(tool(["audit", "-", CLUSTER], { stdin: text }), { stdout: expected, stderr: "" }, form);
  }
  t.match(
    tool(["audit", "-"], { stdin: yaml(nodeObject({ name: "node-1" })) }).stdout,
    /^1 node, /,
    "a single node",
  );
  t.end();
});

test("for large YAML, and only for that, audit recommends JSON", (t) => {
  const annotations = { note: "x".repeat(1024 * 1024) };
  const list = { kind: "List", items: healthy.map(nodeObject), annotations };
  const recommendation =
    "host-local: audit: reading this much YAML takes a while; JSON (kubectl get nodes -o json) is much faster\n";
  const asYaml = tool(["audit", "-"], { stdin: yaml(list) });
  t.strictSame([asYaml.exitCode, asYaml.stderr], [0, recommendation]);
  t.equal(tool(["audit", "-"], { stdin: JSON.stringify(list) }).stderr, "");
  t.end();
});

test("YAML aliases are rejected before they are expanded", (t) => {
  // Nine to the power of twelve elements, and twenty thousand aliases that the yaml package takes a minute for.
  const nested = [..."bcdefghijkl"].map(
    (name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcdefghijk"[index]}`).join()}]\n`,
  );
  const bomb = `kind: Node\na: &a [x,x,x,x,x,x,x,x,x]\n${nested.join("")}`;
  const many = Array.from({ length: 20_000 }, (_, index) => `- &a${index} x\n- *a${index}\n`);
  for (const stdin of [bomb, `kind: Node\nlist:\n${many.join("")}`]) {
    const { exitCode, stdout, stderr } = tool(["audit", "-"], { stdin });
    t.strictSame([exitCode, stdout], [2, ""]);
    t.match(stderr, /standard input: cannot be parsed as YAML: Alias/);
  }
  t.end();
});

test("a node that is listed twice counts once", (t) => {
  const { exitCode, stderr } = audit([...healthy, ...healthy], CLUSTER);
  t.equal(exitCode, 0);
  t.equal(
    stderr,
    "host-local: audit: 3 duplicate nodes in the input; the last entry of each counts\n",
  );
  t.end();
});

test("input without nodes is an error", (t) => {
  const cases: readonly (readonly [words: readonly string[], stdin: string, message: RegExp])[] = [
    [["/nowhere/nodes.json"], "", /\/nowhere\/nodes.json: no such file or directory/],
    [["-"], "", /standard input: no nodes found/],
    [["-"], "{", /standard input: cannot be parsed as JSON/],
    [["-"], "- kind: Node\n", /no nodes found/],
    [["-"], "kind: Node\nspec: {\n", /cannot be parsed as YAML: .+ at line 3, column 1\n$/],
    [["-"], '{"kind":"PodList","items":[]}', /no nodes found/],
    [["-", "--cluster-cidr=10.0.0.0"], nodesJson(healthy), /--cluster-cidr: expected a network/],
    [["-", "--node-cidr-mask-size=99"], nodesJson(healthy), /expected at most 32/],
    [["a", "b"], "", /too many operands/],
  ];
  for (const [words, stdin, message] of cases) {
    const { exitCode, stdout, stderr } = tool(["audit", ...words], { stdin });
    t.strictSame([exitCode, stdout], [2, ""], words.join(" "));
    t.match(stderr, message);
  }
  t.end();
});

/** Runs the printed commands with programs that only log their arguments. */
function runCommands(t: Test, script: string, failing = ""): string[] {
  const directory = scratchDirectory(t);
  const log = join(directory, "log");
  for (const name of ["kubectl", "ssh", "touch"]) {
    const file = join(directory, name);
    writeFileSync(
      file,
      `#!/bin/sh\nprintf '%s\\n' "${name} $*" >> '${log}'\ncase "$*" in ${failing || "nothing"}*) exit 1;; esac\n`,
    );
    chmodSync(file, 0o755);
  }
  writeFileSync(log, "");
  spawnSync("/bin/sh", ["-c", script], { cwd: directory, env: { PATH: directory } });
  return readFileSync(log, "utf8").split("\n").slice(0, -1);
}

function commandsFor(nodes: readonly WrittenNode[]): string {
  const { stdout } = audit(nodes, CLUSTER);
  return stdout.slice(stdout.indexOf("\n# "));
}

test("the commands are a script, and stop at the first that fails", (t) => {
  const script = commandsFor([...healthy, { name: "node-4", podCidrs: ["10.99.0.0/24"] }]);
  const all = runCommands(t, script).map((line) => line.split(" ").slice(0, 3).join(" "));
  t.strictSame(all, [
    "kubectl cordon node-4",
    "kubectl get node",
    "kubectl patch --local",
    "kubectl drain node-4",
    "ssh node-4 sudo",
    "kubectl delete node",
    "kubectl create -f",
    "ssh node-4 sudo",
    "kubectl delete pods",
    "kubectl uncordon node-4",
  ]);
  t.equal(
    runCommands(t, script, "drain").at(-1)?.slice(0, 13),
    "kubectl drain",
    "nothing is deleted",
  );
  t.end();
});

test("the name of a node never becomes a command", (t) => {
  const names = [
    "a; touch pwned",
    "$(touch pwned)",
    "`touch pwned`",
    "a' ; touch pwned ; '",
    "x\ntouch pwned\n",
    "--all",
    "../../etc/passwd",
    "\u001b[31mred",
  ];
  for (const name of names) {
    const nodes = [...healthy, { name }, { name: "node-4" }];
    const { exitCode, stdout } = audit(nodes, CLUSTER);
    t.equal(exitCode, 1);
    t.strictSame(
      runCommands(t, commandsFor(nodes)).map((line) => line.split(" ").slice(0, 3).join(" ")),
      ["kubectl get node", "kubectl patch node"],
      "only those for node-4",
    );
    t.notMatch(stdout, "\u001b");
    t.match(problemsOf(nodes, CLUSTER), [
      ["no-pod-cidr"],
      ["no-pod-cidr"],
      ["name", "error", name],
    ]);
  }
  t.end();
});

test("five thousand nodes with one podCIDR are not compared in pairs", (t) => {
  const nodes = Array.from({ length: 5000 }, (_, index) => ({
    name: `node-${index}`,
    podCidrs: ["10.0.0.0/24"],
  }));
  const { exitCode, stdout } = audit(nodes, "--json", "--cluster-cidr=10.0.0.0/8");
  const { problems, renumber } = JSON.parse(stdout);
  t.strictSame([exitCode, problems.length, renumber.length], [1, 5000, 4999]);
  t.equal(problems[7].message, "also assigned to node-0, node-1, node-2 and 4996 other nodes");
  t.equal(renumber.at(-1).to[0], "10.19.135.0/24");
  t.end();
});
