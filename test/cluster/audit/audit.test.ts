// test: native executable, slow
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { extent } from "../../harness/extent.ts";
import { sample } from "../../harness/sample.ts";
import { seed } from "../../harness/seed.ts";
import { tool } from "../../harness/tool.ts";
import { nodesJson, type WrittenNode } from "../node-texts.ts";
import { fakeCluster } from "./fake-cluster.ts";

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

test("there are no problems where each node has a podCIDR of its own", async (t) => {
  const { exitCode, stdout, stderr } = audit(healthy, CLUSTER);
  t.equal(
    stdout,
    "3 nodes, cluster CIDR 10.244.0.0/16, node mask /24 (IPv4, the most common). No problems found.\n",
  );
  t.strictSame([exitCode, stderr], [0, ""]);
});

const faulty: readonly WrittenNode[] = [
  { name: "node-1", podCidrs: ["10.244.0.0/24"] },
  { name: "node-2", podCidrs: ["10.244.1.0/24"] },
  { name: "node-3", podCidrs: ["10.244.1.0/24"], created: "2023-01-01T00:00:00Z" },
  { name: "node-4" },
  { name: "node-5", podCidrs: ["10.244.5.0/24"], pods: "300" },
];

test("problems are grouped, with proposals and commands", async (t) => {
  const { exitCode, stdout, stderr } = audit(faulty, CLUSTER);
  t.equal(
    stdout,
    `5 nodes, cluster CIDR 10.244.0.0/16, node mask /24 (IPv4, the most common). 4 nodes with problems.

duplicate (error, 2): several nodes have the same podCIDR; traffic to their pods is lost, and with partition they hand out the same addresses

NODE    PODCIDR        PROBLEM
node-2  10.244.1.0/24  also assigned to node-3
node-3  10.244.1.0/24  also assigned to node-2

no-pod-cidr (error, 1): a podCIDR is missing; pods get no address

NODE    PODCIDR  PROBLEM
node-4  -        pods on it get no address

max-pods (warning, 1): the scheduler may place more pods on the node than it has addresses

NODE    PODCIDR        PROBLEM
node-5  10.244.5.0/24  300 pods allocatable, but it holds 253: drain the node, then set kubelet's maxPods to 253 plus its pods with hostNetwork

2 nodes to renumber:

NODE    FROM           TO
node-4  -              10.244.2.0/24
node-2  10.244.1.0/24  10.244.3.0/24

Commands:

# Renumber one node at a time: unless it runs with --allocate-node-cidrs=false, kube-controller-manager assigns
# podCIDRs, too, perhaps one that is proposed here. The commands check for that, and stop when one fails. Then go on
# with the command that failed, or go back: from the beginning they would stop again.
# ssh stands for your way to run a command on the node. cni0 is the usual name of the bridge (kubenet: cbr0); it has
# the old gateway's address, and may be deleted because the node is drained.
# Where containerd has a conf_template, the configuration that it wrote to /etc/cni/net.d is removed, so that it writes
# a new one. Any other file there that has the old podCIDR: correct it before the kubelet starts.

# node-4
used=$(kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.spec.podCIDRs[*]}{"\\n"}{end}') && ! echo "$used" | grep -wF -e 10.244.2.0/24 &&
kubectl patch node node-4 --type merge -p '{"spec":{"podCIDR":"10.244.2.0/24","podCIDRs":["10.244.2.0/24"]}}'

# Then run audit again, which has the same for node-2.

# After the last deletion, and before any new node: restart kube-controller-manager. It takes the podCIDRs of the deleted
# nodes for free, although other nodes still have these addresses, and would assign them to new nodes.
`,
  );
  t.strictSame([exitCode, stderr], [1, ""]);
});

test("the document", async (t) => {
  const { exitCode, stdout } = audit([...healthy, { name: "node-4" }], "--json", CLUSTER);
  t.equal(exitCode, 1);
  t.strictSame(JSON.parse(stdout), {
    nodes: 4,
    usesPodCidrs: true,
    doubtfulClusterCidr: false,
    clusterCidrs: ["10.244.0.0/16"],
    nodeMasks: [{ family: "IPv4", nodeMask: 24, source: "commonest" }],
    problems: [
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
        steps: [
          `used=$(kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.spec.podCIDRs[*]}{"\\n"}{end}') && ! echo "$used" | grep -wF -e 10.244.3.0/24`,
          `kubectl patch node node-4 --type merge -p '{"spec":{"podCIDR":"10.244.3.0/24","podCIDRs":["10.244.3.0/24"]}}'`,
        ],
        undo: [],
      },
    ],
    restartControllerManager: false,
    assignable: 256,
  });
});

test("each kind of problem", async (t) => {
  const one = (podCidrs: readonly string[], pods = "1"): readonly WrittenNode[] => [
    ...healthy,
    { name: "node-9", podCidrs, pods },
  ];
  const cases: readonly (readonly [podCidrs: readonly string[], codes: readonly string[]])[] = [
    [["10.244.9.0/24"], []],
    [[], ["no-pod-cidr"]],
    [["10.245.0.0/24"], ["outside"]],
    [["10.0.0.0/8"], ["overlap", "overlap", "overlap", "overlap", "mask-size"]],
    [["10.244.9.0/25"], ["mask-size"]],
    [["10.244.0.128/25"], ["overlap", "overlap", "mask-size"]],
    [["10.244.9.1/24"], ["invalid"]],
    [["10.244.9.0/31"], ["invalid", "mask-size"]],
    [["10.244.9.0/24", "fd00::/64"], ["outside"]],
    [["fd00::/64"], ["no-pod-cidr", "outside"]],
  ];
  for (const [podCidrs, codes] of cases) {
    const found = problemsOf(one(podCidrs), CLUSTER).map(([code]) => code);
    t.strictSame(found, codes, podCidrs.join(",") || "none");
  }
  t.strictSame(problemsOf(one(["10.244.9.0/24"], "254"), CLUSTER), [
    ["max-pods", "warning", "node-9", "10.244.9.0/24"],
  ]);
});

test("overlap, podCIDR outside and podCIDR of another size are named with what they differ from", async (t) => {
  const { stdout } = audit(
    [
      ...healthy,
      { name: "node-4", podCidrs: ["10.244.0.128/25"] },
      { name: "node-5", podCidrs: ["10.99.0.0/24"] },
    ],
    CLUSTER,
  );
  t.match(stdout, /^node-1 .* contains 10\.244\.0\.128\/25 of node-4$/m);
  t.match(stdout, /^node-4 .* lies in 10\.244\.0\.0\/24 of node-1$/m);
  t.match(stdout, /^node-4 .* the node mask is \/24$/m);
  t.match(stdout, /^node-5 .* not in 10\.244\.0\.0\/16$/m);
});

test("dual stack: podCIDRs are compared with the cluster CIDR of their place in the list", async (t) => {
  const nodes: readonly WrittenNode[] = [
    { name: "a", podCidrs: ["10.244.0.0/24", "fd00:0:0:1::/64"] },
    { name: "b", podCidrs: ["fd00:0:0:1::/64", "10.244.1.0/24"] },
    { name: "c", podCidrs: ["10.244.2.0/24"] },
  ];
  t.strictSame(problemsOf(nodes, "--cluster-cidr=10.244.0.0/16,fd00::/48"), [
    ["duplicate", "error", "a", "fd00:0:0:1::/64"],
    ["duplicate", "error", "b", "fd00:0:0:1::/64"],
    ["no-pod-cidr", "error", "c", "10.244.2.0/24"],
    ["outside", "error", "b", "fd00:0:0:1::/64"],
    ["outside", "error", "b", "10.244.1.0/24"],
  ]);
  t.match(
    audit(nodes, "--cluster-cidr=10.244.0.0/16,fd00::/48").stdout,
    /^b +10\.244\.1\.0\/24 +as its podCIDR 2 compared with fd00::\/48, not with 10\.244\.0\.0\/16$/m,
  );
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
});

test("podCIDRs in the wrong order are put in order, and audit finds nothing more", async (t) => {
  const dual = ["--cluster-cidr=10.244.0.0/16,fd00::/48"];
  const nodes: readonly WrittenNode[] = [
    { name: "node-1", podCidrs: ["10.244.0.0/24", "fd00::/64"] },
    { name: "node-2", podCidrs: ["10.244.1.0/24", "fd00:0:0:1::/64"] },
    { name: "node-3", podCidrs: ["fd00:0:0:2::/64", "10.244.2.0/24"] },
  ];
  t.strictSame(proposalsOf(nodes, ...dual), { "node-3": "10.244.2.0/24,fd00:0:0:2::/64" });
  const { stdout } = audit(nodes, ...dual);
  const cluster = fakeCluster(t, nodes);
  const script = stdout.slice(stdout.indexOf("\n# node-"));
  t.strictSame(cluster.run(script), { exitCode: 0, output: "" });
  const stdin = cluster.run("kubectl get nodes -o json").output;
  t.equal(tool(["audit", ...dual], { stdin }).exitCode, 0);
  const reversed = ["--cluster-cidr=fd00::/48,10.244.0.0/16"];
  t.match(audit(nodes, ...reversed).stdout, "it is probably not the cluster CIDR of this cluster");
});

test("the node mask is the one given, else the most common", async (t) => {
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
});

test("where nothing is left, the proposal names the plan that holds all nodes", async (t) => {
  const nodes = [...healthy, { name: "node-4", podCidrs: ["10.244.3.0/24"] }, { name: "node-5" }];
  const options = ["--cluster-cidr=10.244.0.0/22", "--service-cidr=10.96.0.0/12"];
  t.strictSame(proposalsOf(nodes, ...options), { "node-5": null });
  const { stdout } = audit(nodes, ...options);
  const [, line = ""] =
    / none is left\n\nFor settings that hold all nodes: host-local (plan .+)\n/.exec(stdout) ?? [];
  t.equal(line, "plan --cluster-cidr 10.244.0.0/22 --service-cidr 10.96.0.0/12 --nodes 5");
  t.match(tool(line.split(" ")), { exitCode: 0, stdout: /\/25 +8 +125\n/ });
});

test("a cluster CIDR that most nodes are outside of is doubted, and nothing is proposed", async (t) => {
  const options = ["--cluster-cidr=10.100.0.0/16"];
  const { exitCode, stdout } = audit(healthy, ...options);
  t.equal(exitCode, 1);
  t.match(
    stdout,
    /\n3 nodes, most of those with a podCIDR, are outside 10\.100\.0\.0\/16: it is probably not the cluster CIDR of this cluster\./,
  );
  t.notMatch(stdout, /kubectl|renumber/);
  const doubtful = JSON.parse(audit(healthy, "--json", ...options).stdout);
  t.strictSame([doubtful.doubtfulClusterCidr, doubtful.renumber], [true, []]);
  t.match(audit(healthy, "--force", ...options).stdout, "kubectl drain node-1");
});

test("a network with host bits set is named as it is meant", async (t) => {
  const words = ["--cluster-cidr=10.244.0.0/12", "--node-cidr-mask-size=24"];
  const said =
    "host-local: --cluster-cidr: 10.244.0.0/12 has host bits set; the network is 10.240.0.0/12\n";
  t.equal(audit(healthy, ...words).stderr, said);
  t.equal(tool(["plan", ...words]).stderr, said);
});

test("no proposal is in the service CIDR, and a podCIDR there is replaced", async (t) => {
  const nodes = [...healthy, { name: "node-4" }, { name: "node-5", podCidrs: ["10.244.9.0/24"] }];
  const options = [CLUSTER, "--service-cidr=10.244.3.0/24,fd00::/112"];
  t.equal(proposalsOf(nodes, ...options)["node-4"], "10.244.4.0/24");
  t.strictSame(problemsOf(nodes.slice(-1), CLUSTER, "--service-cidr=10.244.8.0/22"), [
    ["service-cidr", "error", "node-5", "10.244.9.0/24"],
  ]);
  t.equal(
    proposalsOf(nodes.slice(-1), CLUSTER, "--service-cidr=10.244.8.0/22")["node-5"],
    "10.244.0.0/24",
  );
});

test("nodes without a podCIDR are named where kube-controller-manager has none to assign", async (t) => {
  const nodes = [{ name: "node-1" }, { name: "node-2" }];
  const cases: readonly (readonly [options: readonly string[], reason: string, plan: RegExp])[] = [
    [
      ["--cluster-cidr=10.96.0.0/16", "--service-cidr=10.96.0.0/12"],
      "256 of 256 podCIDRs of /24 overlap the service CIDR 10.96.0.0/12",
      /Instead: a cluster CIDR of \/23 outside the service CIDR with a node mask of \/24/,
    ],
    [
      ["--cluster-cidr=fd00:db8::1:0/112"],
      "the cluster CIDR fd00:db8::1:0/112 is smaller than one podCIDR of /64: kube-controller-manager does not start",
      /set --node-cidr-mask-size=113/,
    ],
    [
      ["--cluster-cidr=10.244.0.0/16,fd00::/32"],
      "the node mask /64 is more than 16 bits longer than the prefix of the cluster CIDR, /32: kube-controller-manager does not start",
      /set --node-cidr-mask-size-ipv6=33/,
    ],
  ];
  for (const [options, reason, choice] of cases) {
    t.strictSame(problemsOf(nodes, ...options), [
      ["no-pod-cidr", "error", "node-1", null],
      ["no-pod-cidr", "error", "node-2", null],
    ]);
    const { exitCode, stdout } = audit(nodes, ...options);
    t.equal(exitCode, 1);
    t.match(stdout, `\nkube-controller-manager has no podCIDR to assign: ${reason}.\n`);
    t.match(stdout, /node-1 +- +none is left\n/);
    const [, line = ""] = /: host-local (plan .+)\n/.exec(stdout) ?? [];
    t.match(tool(line.split(" ")).stdout, choice, "the plan says what to choose");
    t.equal(JSON.parse(audit(nodes, ...options, "--json").stdout).assignable, 0);
  }
  const { assignable } = JSON.parse(
    audit(nodes, "--cluster-cidr=10.0.0.0/8", "--service-cidr=10.96.0.0/12", "--json").stdout,
  );
  t.equal(assignable, 61_440);
});

test("the address of a node in the cluster CIDR is found, and no proposal contains it", async (t) => {
  const nodes: readonly WrittenNode[] = [
    ...healthy.slice(0, 2),
    { name: "node-3", podCidrs: ["10.244.2.0/24"], addresses: ["10.244.1.7", "fd00::7"] },
    { name: "node-4", podCidrs: ["10.244.3.0/24"], addresses: ["10.244.4.8"] },
    { name: "node-5", addresses: ["198.51.100.5"] },
  ];
  t.strictSame(problemsOf(nodes, CLUSTER), [
    ["no-pod-cidr", "error", "node-5", null],
    ["node-address", "error", "node-3", "10.244.1.0/24"],
    ["node-address", "error", "node-4", null],
  ]);
  const { stdout } = audit(nodes, CLUSTER);
  t.match(stdout, /^node-3 +10\.244\.1\.0\/24 +10\.244\.1\.7 is in the podCIDR of node-2$/m);
  t.match(stdout, /^node-4 +- +10\.244\.4\.8 is in the cluster CIDR 10\.244\.0\.0\/16$/m);
  t.equal(proposalsOf(nodes, CLUSTER)["node-5"], "10.244.5.0/24");
  t.strictSame(
    problemsOf(nodes.slice(0, 4)).map(([code, , node]) => [code, node]),
    [["node-address", "node-3"]],
    "without a cluster CIDR those in a podCIDR are found",
  );
});

test("pods with hostNetwork need no address", async (t) => {
  const nodes = [{ name: "node-1", podCidrs: ["10.244.0.0/24"], pods: "256" }];
  t.strictSame(problemsOf(nodes, CLUSTER, "--host-network-pods=3"), []);
  t.match(
    audit(nodes, CLUSTER, "--host-network-pods=2").stdout,
    "256 pods allocatable, but it holds 253: drain the node, then set kubelet's maxPods to 255\n",
  );
});

test("the commands for a node that has a podCIDR delete it, and come with the way back", async (t) => {
  const nodes = faulty.filter(({ name }) => name !== "node-4");
  const commands = audit(nodes, CLUSTER).stdout.split("\n\n").at(-2);
  t.equal(
    commands,
    `# node-2
used=$(kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.spec.podCIDRs[*]}{"\\n"}{end}') && ! echo "$used" | grep -wF -e 10.244.2.0/24 &&
kubectl cordon node-2 &&
kubectl get node node-2 -o yaml | kubectl patch --local -f - --type merge -o yaml -p '{"metadata":{"uid":null,"resourceVersion":null,"creationTimestamp":null}}' > node-2.yaml &&
kubectl patch --local -f node-2.yaml --type merge -o yaml -p '{"spec":{"podCIDR":"10.244.2.0/24","podCIDRs":["10.244.2.0/24"]}}' > node-2.new.yaml &&
kubectl drain node-2 --ignore-daemonsets --delete-emptydir-data &&
ssh node-2 sudo systemctl stop kubelet &&
kubectl delete node node-2 &&
used=$(kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.spec.podCIDRs[*]}{"\\n"}{end}') && ! echo "$used" | grep -wF -e 10.244.2.0/24 &&
kubectl create -f node-2.new.yaml &&
ssh node-2 'if sudo containerd config dump 2>/dev/null | grep -q "conf_template = ./"; then sudo rm -f /etc/cni/net.d/10-containerd-net.conflist; fi' &&
ssh node-2 'sudo ip link delete cni0; sudo systemctl start kubelet' &&
kubectl delete pods --all-namespaces --field-selector 'spec.nodeName=node-2' &&
kubectl uncordon node-2
# To go back after the drain: ssh node-2 sudo systemctl stop kubelet && kubectl delete node node-2 --ignore-not-found && kubectl create -f node-2.yaml && ssh node-2 'if sudo containerd config dump 2>/dev/null | grep -q "conf_template = ./"; then sudo rm -f /etc/cni/net.d/10-containerd-net.conflist; fi' && ssh node-2 'sudo ip link delete cni0; sudo systemctl start kubelet' && kubectl delete pods --all-namespaces --field-selector 'spec.nodeName=node-2' && kubectl uncordon node-2`,
  );
});

test("where no node has a podCIDR, audit says so once and proposes nothing", async (t) => {
  const nodes = [{ name: "node-1" }, { name: "node-2" }];
  const expected =
    /^2 nodes, .+ No node has a podCIDR\.\n\nThe network does not use podCIDRs .+\n$/;
  t.match(audit(nodes, CLUSTER), { exitCode: 0, stdout: expected, stderr: "" });
  const { usesPodCidrs, problems, renumber } = JSON.parse(audit(nodes, CLUSTER, "--json").stdout);
  t.strictSame([usesPodCidrs, problems, renumber], [false, [], []]);
});

test("without a cluster CIDR there are findings, and the option that proposals need", async (t) => {
  const { exitCode, stdout } = audit([...healthy, { name: "node-4" }]);
  t.equal(exitCode, 1);
  t.match(
    stdout,
    /^4 nodes, no --cluster-cidr to propose podCIDRs of, node mask \/24 .+ 1 node with/,
  );
  t.match(stdout, /node-4 {2}- {8}pods on it get no address\n$/);
});

test("nodes are read from a file or standard input, which an error names", async (t) => {
  const file = join(scratchDirectory(t), "nodes");
  const stdin = nodesJson(healthy);
  writeFileSync(file, stdin);
  const expected = audit(healthy, CLUSTER);
  t.strictSame(tool(["audit", file, CLUSTER]), expected);
  t.strictSame(tool(["audit", "-", CLUSTER], { stdin }), expected);
  t.match(tool(["audit", "/nowhere/nodes.json"]), {
    exitCode: 2,
    stdout: "",
    stderr: /\/nowhere\/nodes.json: no such file or directory/,
  });
  t.match(tool(["audit"]), { exitCode: 2, stderr: "standard input: found no text" });
});

/** The printed commands, from the first node on. */
function scriptFor(nodes: readonly WrittenNode[]): string {
  const { stdout } = audit(nodes, CLUSTER);
  return stdout.slice(stdout.indexOf("\n# node-"));
}

/** The commands for the first node of a list that is renumbered. */
function renumberingIn(list: string) {
  const { stdout } = tool(["audit", CLUSTER, "--json"], { stdin: list });
  const [{ node, steps, undo }] = JSON.parse(stdout).renumber;
  /** Those until the one that begins so, or all. */
  const until = (beginning?: string): string => {
    const last = steps.findIndex((step: string) => beginning && step.startsWith(beginning));
    if (beginning && last === -1) throw new Error(`no command begins with ${beginning}`);
    return steps.slice(0, last === -1 ? steps.length : last + 1).join(" &&\n");
  };
  return { node, until, undo: undo.join(" && ") };
}

const MISPLACED = { name: "node-4", podCidrs: ["10.99.0.0/24"] };

test("a node that was cordoned stays so, and a warning gets no commands", async (t) => {
  const script = scriptFor([...healthy, { ...MISPLACED, isCordoned: true }]);
  t.match(script, "kubectl drain node-4");
  t.notMatch(script, "uncordon");
  const warned = audit([...healthy, { name: "node-4", podCidrs: ["10.244.16.0/20"] }], CLUSTER);
  t.match(warned.stdout, "mask-size (warning, 1)");
  t.notMatch(warned.stdout, "kubectl");
});

test("the commands renumber one node after another, and audit finds nothing more", async (t) => {
  const cluster = fakeCluster(t, [
    ...healthy,
    MISPLACED,
    { name: "node-5", podCidrs: ["10.244.0.0/24"] },
  ]);
  const list = (): string => cluster.run("kubectl get nodes -o json").output;
  for (const [name, podCidr] of [
    ["node-4", "10.244.3.0/24"],
    ["node-5", "10.244.4.0/24"],
  ] as const) {
    const { node, until } = renumberingIn(list());
    t.equal(node, name);
    t.strictSame(cluster.run(until()), { exitCode: 0, output: "" });
    t.match(cluster.nodeOf(name), {
      metadata: { uid: `new-${name}`, labels: { "kubernetes.io/hostname": name } },
      spec: { podCIDR: podCidr, podCIDRs: [podCidr], unschedulable: false },
      status: { capacity: { pods: "110" } },
    });
    t.equal(cluster.configurationOf(name), podCidr, "containerd has written it anew");
    t.strictSame(cluster.callsOn(name), [
      "systemctl stop kubelet",
      "rm -f /etc/cni/net.d/10-containerd-net.conflist",
      "ip link delete cni0",
      "systemctl start kubelet",
    ]);
  }
  t.equal(tool(["audit", CLUSTER], { stdin: list() }).exitCode, 0);
});

test("the command that goes back restores the node, wherever the commands stopped", async (t) => {
  const nodes = [...healthy, MISPLACED];
  const { until, undo } = renumberingIn(nodesJson(nodes));
  const cluster = fakeCluster(t, nodes);
  const stops = ["kubectl drain", "kubectl delete node", "kubectl create", "kubectl uncordon"];
  for (const last of sample(stops, extent === "short" ? 2 : 1, seed)) {
    t.equal(cluster.run(until(last)).exitCode, 0, last);
    t.strictSame(cluster.run(undo), { exitCode: 0, output: "" });
    t.match(cluster.nodeOf("node-4"), {
      spec: { podCIDRs: ["10.99.0.0/24"], unschedulable: false },
      status: { capacity: { pods: "110" } },
    });
    t.equal(cluster.configurationOf("node-4"), "10.99.0.0/24");
  }
});

test("nothing is changed where another node has got the podCIDR meanwhile", async (t) => {
  for (const unnumbered of [{ name: "node-4", podCidrs: [] }, MISPLACED]) {
    const nodes = [...healthy, unnumbered];
    const cluster = fakeCluster(t, nodes);
    cluster.put({ name: "node-9", podCidrs: ["10.244.3.0/24"] });
    const { exitCode, output } = cluster.run(scriptFor(nodes));
    t.strictSame([exitCode, output], [1, "node-9 10.244.3.0/24\n"], "it says which");
    t.strictSame(cluster.nodeOf("node-4")?.spec.podCIDRs ?? [], unnumbered.podCidrs);
    t.notMatch(cluster.nodeOf("node-4"), { spec: { unschedulable: true } });
    t.strictSame(cluster.callsOn("node-4"), []);
  }
});

test("nothing is created where another node gets the podCIDR during the drain", async (t) => {
  const nodes = [...healthy, MISPLACED];
  const { until, undo } = renumberingIn(nodesJson(nodes));
  const cluster = fakeCluster(t, nodes);
  const deletion = until("kubectl delete node");
  t.equal(cluster.run(deletion).exitCode, 0);
  cluster.put({ name: "node-9", podCidrs: ["10.244.3.0/24"] });
  const { exitCode, output } = cluster.run(until().slice(`${deletion} &&\n`.length));
  t.strictSame([exitCode, output], [1, "node-9 10.244.3.0/24\n"], "it says which");
  t.equal(cluster.nodeOf("node-4"), undefined);
  t.notOk(cluster.callsOn("node-4").includes("systemctl start kubelet"));
  cluster.run(undo);
  t.strictSame(cluster.nodeOf("node-4")?.spec.podCIDRs, MISPLACED.podCidrs);
});

test("the whole text is a script; a second time it stops before it changes anything", async (t) => {
  const nodes = [...healthy, MISPLACED, { name: "node-5", podCidrs: ["10.244.0.0/24"] }];
  const cluster = fakeCluster(t, nodes);
  cluster.put({ name: "node-9", podCidrs: ["110.244.3.0/24"] }); // It only ends like the new one.
  t.strictSame(cluster.run(scriptFor(nodes)), { exitCode: 0, output: "" });
  const node = cluster.nodeOf("node-4");
  t.equal(node?.spec.podCIDR, "10.244.3.0/24");
  const calls = cluster.callsOn("node-4");
  t.match(cluster.run(scriptFor(nodes)), { exitCode: 1, output: /^node-4 10\.244\.3\.0\/24\n/ });
  t.strictSame(cluster.nodeOf("node-4"), node);
  t.strictSame(cluster.callsOn("node-4"), calls, "the node is not drained again");
});

test("a node that only loses a podCIDR is renumbered once, too", async (t) => {
  const nodes = [...healthy, { name: "node-4", podCidrs: ["10.244.3.0/24", "fd00:9::/64"] }];
  const cluster = fakeCluster(t, nodes);
  t.strictSame(cluster.run(scriptFor(nodes)), { exitCode: 0, output: "" });
  t.strictSame(cluster.nodeOf("node-4")?.spec.podCIDRs, ["10.244.3.0/24"]);
  const calls = cluster.callsOn("node-4");
  t.strictSame(cluster.run(scriptFor(nodes)), { exitCode: 1, output: "" });
  t.strictSame(cluster.callsOn("node-4"), calls, "a second time it is not drained again");
});

test("a configuration that containerd did not write stays", async (t) => {
  const nodes = [...healthy, MISPLACED];
  const cluster = fakeCluster(t, nodes, "");
  t.equal(cluster.run(scriptFor(nodes)).exitCode, 0);
  t.equal(cluster.configurationOf("node-4"), "10.99.0.0/24");
});

test("the restart of kube-controller-manager is advised where addresses were shared", async (t) => {
  const restarts = (nodes: readonly WrittenNode[]): boolean =>
    JSON.parse(audit(nodes, CLUSTER, "--json").stdout).restartControllerManager;
  t.equal(restarts([...healthy, MISPLACED]), false);
  t.equal(restarts([...healthy, { name: "node-4", podCidrs: ["10.244.0.0/24"] }]), true);
  t.equal(restarts([...healthy, { name: "node-4", podCidrs: ["10.244.0.0/23"] }]), true);
  t.equal(restarts([...healthy, { name: "node-4" }]), false, "nothing is deleted");
});

test("two thousand nodes with one podCIDR are not compared in pairs", async (t) => {
  const nodes = Array.from({ length: 2000 }, (_, index) => ({
    name: `node-${index}`,
    podCidrs: ["10.0.0.0/24"],
  }));
  const { exitCode, stdout } = audit(nodes, "--json", "--cluster-cidr=10.0.0.0/8");
  const { problems, renumber } = JSON.parse(stdout);
  t.strictSame([exitCode, problems.length, renumber.length], [1, 2000, 1999]);
  t.equal(problems[7].message, "also assigned to node-0, node-1, node-2 and 1996 other nodes");
  t.equal(renumber.at(-1).to[0], "10.7.207.0/24");
});
