// test: native executable
import { test } from "tap";
import { tool } from "../../harness/tool.ts";

function plan(line: string) {
  return tool(["plan", ...line.split(" ")]);
}

/** The numbers of a plan for one family. */
function numbersOf(line: string): { code: number | null; [name: string]: unknown } {
  const { exitCode, stdout } = plan(`${line} --json`);
  const { families, nodes, podsPerNode, maxPods } = JSON.parse(stdout);
  return { code: exitCode, nodeMask: families[0].nodeMask, nodes, podsPerNode, maxPods };
}

test("plan says how many nodes and pods a cluster CIDR holds", async (t) => {
  const { exitCode, stdout, stderr } = plan(
    "--cluster-cidr 10.244.0.0/16 --node-cidr-mask-size 24",
  );
  t.equal(
    stdout,
    `FAMILY  CLUSTER CIDR   NODE MASK  NODES  PODS PER NODE
IPv4    10.244.0.0/16  /24          256            253

Node 257 would get no podCIDR, and its pods no address.
Set kubelet's maxPods to at most 253, plus the number of its pods with hostNetwork, which kubelet counts, too.

Node masks for 10.244.0.0/16 (IPv4):

NODE MASK  NODES  PODS PER NODE
/21           32           2045
/22           64           1021
/23          128            509
/24          256            253
/25          512            125
/26         1024             61
/27         2048             29
`,
  );
  t.strictSame([exitCode, stderr], [0, ""]);
});

test("where no node mask helps, the default is shown, and none is recommended", async (t) => {
  for (const given of ["--nodes 3", "--pods 3", "--nodes 3 --pods 100"]) {
    const line = `--cluster-cidr 10.96.0.0/16 --service-cidr 10.96.0.0/12 ${given}`;
    const { exitCode, stdout } = plan(line);
    t.equal(exitCode, 1);
    t.match(stdout, /^IPv4 +10\.96\.0\.0\/16 +\/24 +0 /m, given);
    t.notMatch(stdout, /set --node-cidr-mask-size|^Node masks for/m, given);
  }
  const few = plan("--cluster-cidr 10.244.0.0/16 --nodes 100000");
  t.notMatch(few.stdout, "set --node-cidr-mask-size", "nor one that does not suffice");
});

test("plan says what a node has of a range that partition divides", async (t) => {
  const cluster = "--cluster-cidr 10.244.0.0/16 --node-cidr-mask-size 24";
  const ranges = "192.168.0.0/20,fd00::/64,192.168.20.20-192.168.23.239";
  const { exitCode, stdout } = plan(`${cluster} --partition ${ranges}`);
  t.equal(exitCode, 0);
  t.match(
    stdout,
    `
RANGE                         PARTS  ADDRESSES PER NODE             FEWEST
192.168.0.0/20                  256                  16                 14
fd00::/64                       256   72057594037927936  72057594037927934
192.168.20.20-192.168.23.239    256                   3                  3
`,
  );
  const small = plan(`${cluster} --partition 192.168.0.0/24`);
  t.equal(small.exitCode, 1);
  t.match(small.stdout, "Instead: a range of /22 (4 addresses a node).");
});

test("what is given counts: node masks of each family, a number of nodes, pods", async (t) => {
  const masks = "--node-cidr-mask-size-ipv4 25 --node-cidr-mask-size-ipv6 64";
  const cases: readonly (readonly [line: string, numbers: object])[] = [
    [`--cluster-cidr 10.244.0.0/16,fd00::/48 ${masks}`, { nodes: 512, podsPerNode: 125 }],
    ["--nodes 4096 --pods 250", { nodeMask: 24, nodes: 4096 }],
    ["--node-cidr-mask-size 64 --nodes 10", { nodeMask: 64, nodes: 16 }],
    ["--cluster-cidr 10.244.0.0/16 --pods 200", { nodeMask: 24, maxPods: 200 }],
  ];
  for (const [line, numbers] of cases) t.match(numbersOf(line), { code: 0, ...numbers }, line);
});

test("pods with hostNetwork count", async (t) => {
  const { exitCode, stdout } = plan(
    "--cluster-cidr 10.0.0.0/16 --node-cidr-mask-size 26 --host-network-pods 4",
  );
  t.equal(exitCode, 0);
  t.match(
    stdout,
    `/26         1024             61

Node 1025 would get no podCIDR, and its pods no address.
Set kubelet's maxPods to at most 65: 61 for pods with an address, 4 for pods with hostNetwork.
Its default, 110, is more than a podCIDR holds. Drain a node before you lower it: when kubelet restarts, it fails the pods above the new value (OutOfpods).
`,
  );
});

test("podCIDRs that overlap the service CIDR are not counted", async (t) => {
  const cluster = "--cluster-cidr 10.0.0.0/8 --service-cidr 10.96.0.0/12";
  const { exitCode, stdout } = plan(cluster);
  t.match(stdout, /^IPv4 +10\.0\.0\.0\/8 +\/24 +61440 +253\n/m);
  t.match(stdout, /^\/25 +122880 +125$/m, "nor with another node mask");
  t.match(
    stdout,
    "- IPv4: 4096 of 65536 podCIDRs of /24 overlap the service CIDR 10.96.0.0/12: kube-controller-manager assigns none of these, so 61440 nodes get one.\n",
  );
  t.equal(exitCode, 1);
  t.match(
    plan(`${cluster} --nodes 65000 --node-cidr-mask-size 24`).stdout,
    "- IPv4: 65000 nodes do not fit: there are 61440 podCIDRs of /24, so 3560 nodes would get no podCIDR.\n  Instead: a node mask of /25 (122880 nodes of 125 pods).\n",
  );
  const inside = plan("--cluster-cidr 10.96.0.0/16 --service-cidr 10.96.0.0/12");
  t.match(inside.stdout, /^IPv4 +10\.96\.0\.0\/16 +\/24 +0 +253\n/m);
  t.match(inside.stdout, "assigns none of these, so no node gets one.");
  t.match(
    plan(`${cluster},10.128.0.0/24`).stdout,
    "of several service CIDRs it knows only that of its --service-cluster-ip-range",
  );
});

test("a node mask that the plan chooses is said to be no default", async (t) => {
  const cases: readonly (readonly [line: string, advice: string])[] = [
    ["--cluster-cidr 10.244.0.0/16 --nodes 1000", "/24: set --node-cidr-mask-size=26.\n"],
    ["--nodes 10 --pods 20", "/24: set --node-cidr-mask-size=27.\n"],
    [
      "--cluster-cidr 10.244.0.0/16,fd00::/108 --pods 200",
      "/64: set --node-cidr-mask-size-ipv6=120.\n",
    ],
  ];
  for (const [line, advice] of cases) t.match(plan(line).stdout, advice, line);
  t.notMatch(plan("--cluster-cidr 10.244.0.0/16 --nodes 200").stdout, "--node-cidr-mask-size");
  const sourcesOf = (line: string): readonly string[] =>
    JSON.parse(plan(`${line} --json`).stdout).families.map(
      ({ nodeMaskSource }: { nodeMaskSource: string }) => nodeMaskSource,
    );
  t.strictSame(sourcesOf("--cluster-cidr 10.244.0.0/16,fd00::/108 --pods 200"), [
    "default",
    "chosen",
  ]);
  t.strictSame(sourcesOf("--cluster-cidr 10.244.0.0/16 --node-cidr-mask-size 24"), ["option"]);
});

test("a cluster CIDR alone that kube-controller-manager does not start with is a problem", async (t) => {
  const cases: readonly (readonly [cluster: string, code: string, instead: string])[] = [
    ["fd00:db8::1:0/112", "mask-too-short", "a node mask of /112 (1 node of 65534 pods)"],
    ["fd00::/32", "too-many-pod-cidrs", "a node mask of /48 (65536 nodes"],
    ["10.244.0.0/26", "mask-too-short", "a node mask of /26 (1 node of 61 pods)"],
  ];
  for (const [cluster, code, instead] of cases) {
    const { exitCode, stdout } = plan(`--cluster-cidr ${cluster} --json`);
    const { problems } = JSON.parse(stdout);
    t.match([exitCode, problems[0]], [1, { code, instead }], cluster);
    t.equal(JSON.parse(stdout).nodes, 0, "no node gets a podCIDR");
  }
});

test("a verb agrees with its number", async (t) => {
  const { stdout } = plan("--cluster-cidr 10.244.0.0/24 --node-cidr-mask-size 24 --nodes 2");
  t.match(stdout, "2 nodes do not fit: there is 1 podCIDR of /24, so 1 node would get no podCIDR");
  const none = plan("--cluster-cidr 10.96.0.0/24 --service-cidr 10.96.0.0/12 --nodes 1");
  t.match(none.stdout, "1 node does not fit: there are 0 podCIDRs");
});

test("large numbers are printed digit by digit", async (t) => {
  const { stdout } = plan("--cluster-cidr fd00::/48 --node-cidr-mask-size 64 --json");
  t.match(stdout, /"podsPerNode": 18446744073709551614,\n/);
  t.match(stdout, /"maxPods": 2147483647,\n/, "the largest value that kubelet accepts");
});

test("a change is reported by what it means for the existing nodes", async (t) => {
  const { exitCode, stdout, stderr } = plan(
    "--cluster-cidr 10.240.0.0/12 --node-cidr-mask-size 16 --was-cluster-cidr 10.244.0.0/16 --was-node-cidr-mask-size 24 --nodes 300",
  );
  t.equal(
    stdout.slice(stdout.indexOf("The change")),
    `The change, for 256 nodes that have the first podCIDRs of the old settings:

FAMILY  FROM                TO                  KEEP  OTHER SIZE  OUTSIDE  TAKEN  FREE
IPv4    10.244.0.0/16, /24  10.240.0.0/12, /16     0         256        0      1    15

KEEP, OTHER SIZE, OUTSIDE: nodes whose podCIDR fits the new settings, has another size, or is outside the new cluster CIDR.
TAKEN, FREE: CIDRs of the new size that overlap these podCIDRs, or are left for further nodes.
Of 44 further nodes, 15 would get a podCIDR.

Problems:

- IPv4: 300 nodes do not fit: there are 16 podCIDRs of /16, so 284 nodes would get no podCIDR.
  Instead: a node mask of /21 (512 nodes of 2045 pods).
- IPv4: 256 nodes would keep a podCIDR of /24, and 1 CIDR of /16 overlaps them: if a node gets one of these, by hand or from a second controller, two nodes have the same addresses, and traffic to their pods is lost silently.
  Instead: keep the node mask of /24 (4096 nodes in 10.240.0.0/12), or renumber all nodes (see host-local audit).
- 29 of 300 nodes would get no podCIDR, since only 15 more get one.
  Instead: keep the node mask of /24 (4096 nodes in 10.240.0.0/12), or renumber all nodes (see host-local audit).
`,
  );
  t.strictSame([exitCode, stderr], [1, ""]);
});

test("the document of a change", async (t) => {
  const { exitCode, stdout } = plan(
    "--cluster-cidr 10.240.0.0/12 --node-cidr-mask-size 24 --was-cluster-cidr 10.244.0.0/16 --json",
  );
  t.equal(exitCode, 0, "a larger cluster CIDR is not a problem");
  const { families, change, ...others } = JSON.parse(stdout);
  t.strictSame(others, {
    asked: { nodes: null, podsPerNode: null },
    nodes: 4096,
    podsPerNode: 253,
    maxPods: 253,
    partitions: [],
    problems: [],
  });
  const now = { clusterCidr: "10.240.0.0/12", nodeMask: 24, nodes: 4096, podsPerNode: 253 };
  t.match(families, [
    { ...now, family: "IPv4", clusterPrefixLength: 12, nodeMaskSource: "option" },
  ]);
  t.strictSame(families[0].choices.at(-1), { nodeMask: 27, nodes: 32_768, podsPerNode: 29 });
  t.strictSame(change, {
    existingNodes: 256,
    wantedNodes: 256,
    furtherNodes: 3840,
    withoutPodCidr: 0,
    families: [
      {
        family: "IPv4",
        was: { clusterCidr: "10.244.0.0/16", nodeMask: 24, nodes: 256, podsPerNode: 253 },
        now,
        withPodCidr: 256,
        keeping: 256,
        otherSize: 0,
        outside: 0,
        cidrsTaken: 256,
        cidrsFree: 3840,
      },
    ],
  });
});

test("what does not fit together is a finding, with what to choose instead", async (t) => {
  const was = "--was-cluster-cidr 10.0.0.0/16";
  const cases: readonly (readonly [line: string, codes: readonly string[]])[] = [
    ["--cluster-cidr 10.96.0.0/16 --service-cidr 10.96.0.0/12", ["service-cidr"]],
    ["--cluster-cidr 10.0.0.0/16 --service-cidr fd00:96::/112,10.0.9.0/24", ["service-cidr"]],
    ["--cluster-cidr 10.0.0.0/16 --was-cluster-cidr 10.9.0.0/16", ["outside"]],
    ["--cluster-cidr 10.0.0.0/12 --was-node-cidr-mask-size 16", ["overlap"]],
    [
      `--cluster-cidr 10.0.0.0/12 --node-cidr-mask-size 16 ${was} --was-node-cidr-mask-size 24`,
      ["too-many-nodes", "overlap"],
    ],
    [
      `--cluster-cidr 10.0.0.0/16 ${was},fd00::/48 --was-node-cidr-mask-size-ipv6 64`,
      ["family-order"],
    ],
    [`--cluster-cidr 10.0.0.0/16,fd00::/48 ${was}`, ["family-new"]],
    [`--cluster-cidr fd00::/48,10.0.0.0/16 ${was},fd00::/48`, ["family-order"]],
    [
      `--cluster-cidr fd00::/48 ${was} --was-node-cidr-mask-size 24`,
      ["family-new", "family-order"],
    ],
    [
      "--cluster-cidr 10.0.0.0/16 --node-cidr-mask-size 24 --was-cluster-cidr 10.0.0.0/17 --was-nodes 128 --nodes 257",
      ["too-many-nodes", "left-without"],
    ],
  ];
  for (const [line, codes] of cases) {
    const { exitCode, stdout } = plan(`${line} --json`);
    const { problems }: { problems: readonly { code: string; instead: string }[] } =
      JSON.parse(stdout);
    t.strictSame([exitCode, problems.map(({ code }) => code)], [1, codes], line);
    for (const { code, instead } of problems) t.ok(instead.length > 0, code);
  }
});

test("what cannot be worked out is a usage error", async (t) => {
  const cluster = "--cluster-cidr 10.0.0.0/16";
  const cases: readonly (readonly [line: string, message: string])[] = [
    ["--nodes 5", "expected --cluster-cidr, or --nodes with"],
    ["--node-cidr-mask-size 24 --pods 5", "expected --cluster-cidr, or --nodes with"],
    ["--nodes 0 --pods 5", "--nodes: expected a positive integer, found 0"],
    ["--nodes 1.5 --pods 5", "--nodes: expected a positive integer, found 1.5"],
    ["--cluster-cidr 10.0.0.0/33 --nodes 5", "--cluster-cidr: expected a network"],
    ["--cluster-cidr ::ffff:10.0.0.0/112 --nodes 5", "--cluster-cidr: expected a network"],
    [`${cluster},10.1.0.0/16`, "one network, or one of each family"],
    [`${cluster} --node-cidr-mask-size 33`, "expected at most 32"],
    [`${cluster} --node-cidr-mask-size x`, "expected a number from 1 to 128"],
    [`${cluster},fd00::/48 --node-cidr-mask-size 24`, " for dual stack"],
    [`${cluster} --node-cidr-mask-size-ipv6 64`, "expected an IPv6 network in the cluster CIDR"],
    [
      `${cluster} --node-cidr-mask-size 24 --node-cidr-mask-size-ipv4 24`,
      "cannot be combined with",
    ],
    ["--nodes 5 --pods 5 --service-cidr 10.96.0.0/12", "--service-cidr: requires --cluster-cidr"],
    [`${cluster} --service-cidr 10.96.0.0`, "--service-cidr: expected a network"],
    ["--nodes 5 --pods 5 --was-nodes 4", "--was-nodes: requires"],
    ["--nodes 5 --pods 5 --was-cluster-cidr 10.0.0.0/16", "--was-"],
    [`${cluster} --was-node-cidr-mask-size 8`, "of /16 cannot have a node mask of /8"],
    [
      "--cluster-cidr fd00::/48 --was-cluster-cidr fd00::/32",
      "of /32 cannot have a node mask of /64",
    ],
  ];
  for (const [line, message] of cases) {
    t.match(plan(line), { exitCode: 2, stdout: "", stderr: message }, line);
  }
});
