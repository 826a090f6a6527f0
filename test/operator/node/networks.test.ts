// test: each executable, one if short
/** Which networks the commands find, and how they report invalid configurations. */

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { executable } from "../../harness/executable.ts";
import type { Json, JsonObject } from "../../harness/runtime-call.ts";
import { tool } from "../../harness/tool.ts";
import { type Node, nodeFor } from "../node.ts";

/** The networks that `capacity` lists in the node's own directory: name, file, ranges. */
function found(
  node: Node,
  words: readonly string[] = [],
): { networks: string[]; stderr: string; exitCode: number | null } {
  const { stdout, stderr, exitCode } = node.tool(["capacity", "--json", ...words], {
    findsDataDir: true,
  });
  const { networks = [] }: { networks?: readonly Found[] } =
    stdout === "" ? {} : JSON.parse(stdout);
  const own = networks.filter(({ directory }) => directory.startsWith(node.root));
  return {
    networks: own.map(
      ({ network, source, directory, ranges }) =>
        `${network} ${source?.slice(node.confDir.length + 1) ?? "-"} ${directory.slice(node.root.length + 1)} ${ranges.map(({ first, last }) => `${first}-${last}`).join(",")}`,
    ),
    stderr: stderr.replaceAll(node.root, ""),
    exitCode,
  };
}

interface Found {
  readonly network: string;
  readonly source: string | null;
  readonly directory: string;
  readonly ranges: readonly { readonly first: string; readonly last: string }[];
}

/** A plugin whose IPAM is this one, on the node's own data directory. */
function plugin(node: Node, ipam: JsonObject = {}): JsonObject {
  const own = { type: "host-local", dataDir: node.dataDir, subnet: "10.0.0.0/29", ...ipam };
  return { type: "bridge", ipam: own };
}

/** Configures the network `net`, in `a.conf` or another file. */
function configureNet(node: Node, ipam: JsonObject = {}, file = "a.conf"): void {
  node.configure(file, { cniVersion: "1.0.0", name: "net", ...plugin(node, ipam) });
}

const RANGE = "10.0.0.1-10.0.0.6";

/** Configurations in which this IPAM is used once, for the network `net`. */
const forms: Readonly<Record<string, (node: Node) => [string, Json]>> = {
  "a plugin alone": (node) => ["a.conf", { cniVersion: "1.0.0", name: "net", ...plugin(node) }],
  "a list": (node) => [
    "a.conflist",
    { cniVersion: "1.0.0", name: "net", plugins: [plugin(node), { type: "portmap" }] },
  ],
  "a list whose plugin calls itself something else": (node) => [
    "a.conflist",
    { cniVersion: "1.0.0", name: "net", plugins: [{ ...plugin(node), name: "other" }] },
  ],
  "a list with an entry for GC": (node) => [
    "a.conflist",
    {
      cniVersion: "1.1.0",
      name: "net",
      plugins: [plugin(node), { ...plugin(node), type: "host-local", gcOnly: true }],
    },
  ],
  "a list with an entry for GC that has no ranges": (node) => [
    "a.conflist",
    {
      cniVersion: "1.1.0",
      name: "net",
      plugins: [
        { type: "host-local", gcOnly: true, ipam: { type: "host-local", dataDir: node.dataDir } },
        plugin(node),
      ],
    },
  ],
  "a list of several versions": (node) => [
    "a.conflist",
    { cniVersions: ["0.4.0", "1.0.0"], name: "net", plugins: [plugin(node)] },
  ],
  "a delegate of multus": (node) => [
    "a.conf",
    {
      name: "multus-cni-network",
      type: "multus",
      delegates: [{ cniVersion: "1.0.0", name: "net", plugins: [plugin(node)] }],
    },
  ],
  "a delegate of a delegate": (node) => [
    "a.conf",
    {
      cniVersion: "1.0.0",
      name: "net",
      type: "meta",
      delegate: { type: "meta", delegates: [{ type: "meta", delegate: plugin(node) }] },
    },
  ],
  "flannel's delegate, whose ranges flanneld wrote": (node) => {
    const subnetFile = join(node.root, "subnet.env");
    writeFileSync(
      subnetFile,
      "FLANNEL_NETWORK=10.0.0.0/16\nFLANNEL_SUBNET=10.0.0.1/29\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=true\n",
    );
    const flannel = { type: "flannel", subnetFile, ipam: { dataDir: node.dataDir } };
    const plugins = [{ ...flannel, delegate: { hairpinMode: true } }, { type: "portmap" }];
    return ["a.conflist", { name: "net", cniVersion: "0.3.1", plugins }];
  },
};

test("ranges in a file of the node are those that the plugin has", async (t) => {
  const node = nodeFor(t);
  const rangesFile = join(node.root, "ranges.json");
  writeFileSync(rangesFile, '{ "net": [[{ "subnet": "10.0.0.0/29" }]] }');
  node.network("net", { rangesFile });
  node.call("ADD", "net", "c1");

  t.match(found(node), { networks: [/ 10\.0\.0\.1-10\.0\.0\.6$/], stderr: "", exitCode: 0 });
  t.match(node.json(["capacity"]).document, { networks: [{ ranges: [{ capacity: 5, used: 1 }] }] });
  t.match(node.json(["list"]).document, {
    reservations: [{ address: "10.0.0.2", range: { first: "10.0.0.1", last: "10.0.0.6" } }],
  });
  t.match(node.tool(["metrics"]).stdout, /^cni_ipam_\w+\{[^}]*range="10\.0\.0\.1-10\.0\.0\.6"/m);
});

test("without the file of ranges the network is known by its directory", async (t) => {
  const node = nodeFor(t);
  const ipam = { type: "host-local", dataDir: node.dataDir, rangesFile: "/no/ranges.json" };
  node.configure("a.conf", { cniVersion: "1.0.0", name: "net", type: "bridge", ipam });

  t.strictSame(found(node), {
    networks: ["net a.conf networks/net "],
    stderr:
      "host-local: /net.d/a.conf: cannot read rangesFile: open /no/ranges.json: no such file or directory; expected a JSON object of range sets by network name, or flannel's subnet.env, at the path in ipam.rangesFile\n",
    exitCode: 0,
  });
});

for (const [form, write] of Object.entries(forms)) {
  test(`a network is found in ${form}`, async (t) => {
    const node = nodeFor(t);
    const [file, content] = write(node);
    node.configure(file, content);

    t.strictSame(found(node), {
      networks: [`net ${file} networks/net ${RANGE}`],
      stderr: "",
      exitCode: 0,
    });
  });
}

test("flannel's ranges are not known before flanneld wrote them, or where it wrote no network", async (t) => {
  const node = nodeFor(t);
  const subnetFile = join(node.root, "subnet.env");
  const flannel = { type: "flannel", subnetFile, ipam: { dataDir: node.dataDir } };
  node.configure("a.conflist", { name: "net", cniVersion: "0.3.1", plugins: [flannel] });
  const networks = ["net a.conflist networks/net "];

  t.strictSame(found(node), {
    networks,
    stderr:
      "host-local: /net.d/a.conflist: cannot read the subnets of flannel: open /subnet.env: no such file or directory\n",
    exitCode: 0,
  });
  writeFileSync(subnetFile, "FLANNEL_MTU=1450\nFLANNEL_SUBNET=10.0.0.1\n");
  t.match(found(node), {
    networks,
    stderr: /cannot read the subnets of flannel: invalid CIDR address: 10\.0\.0\.1; .* line 2$/m,
  });
});

test("other IPAM plugins, other files and directories are passed over", async (t) => {
  const node = nodeFor(t);
  node.configure("a.conf", { name: "a", type: "bridge", ipam: { type: "dhcp" } });
  node.configure("b.conf", { name: "b", type: "flannel", ipam: { type: "whereabouts" } });
  node.configure("c.conflist.bak", { cniVersion: "1.0.0", name: "c", ...plugin(node) });
  node.configure("d.yaml", "a: b");
  mkdirSync(join(node.confDir, "e.conf"));
  mkdirSync(join(node.dataDir, "empty"));
  writeFileSync(join(node.dataDir, "file"), "");
  symlinkSync("nowhere", join(node.dataDir, "broken"));

  t.strictSame(found(node, ["--data-dir", node.dataDir]), {
    networks: [],
    stderr: "",
    exitCode: 0,
  });
});

/** The contents of invalid configuration files, and the expected errors. */
const bad: Readonly<Record<string, [Json, string]>> = {
  "is not JSON": ['{"name": "net"', "invalid JSON: unexpected end of JSON input"],
  "is empty": ["", "invalid JSON: unexpected end of JSON input"],
  "is a template": [
    '{"name": "net", "ipam": {"subnet": {{.PodCIDR}}}}',
    "invalid JSON: invalid character '{' looking for beginning of object key string; it may be a template that the runtime fills in",
  ],
  "has no name": [{ type: "bridge", ipam: { type: "host-local" } }, "missing network name"],
  "has a name that no directory can have": [
    { name: "a/b", type: "bridge", ipam: { type: "host-local" } },
    "invalid characters found in network name; a/b",
  ],
  "is of an unknown version": [
    { name: "net", cniVersion: "9.0.0", type: "bridge", ipam: { type: "host-local" } },
    'incompatible CNI versions; config is "9.0.0", plugin supports ["0.1.0" "0.2.0" "0.3.0" "0.3.1" "0.4.0" "1.0.0" "1.1.0"]',
  ],
};

for (const [form, [content, problem]] of Object.entries(bad)) {
  test(`a file that ${form} is reported, and hides no other`, async (t) => {
    const node = nodeFor(t);
    node.configure("a.conf", content);
    node.configure("b.conf", { cniVersion: "1.0.0", name: "other", ...plugin(node) });

    const { networks, stderr, exitCode } = found(node);

    t.strictSame([networks, exitCode], [[`other b.conf networks/other ${RANGE}`], 0]);
    t.equal(stderr, `host-local: /net.d/a.conf: ${problem}\n`);
  });
}

for (const [kind, make] of Object.entries({
  "a FIFO": (path: string) => spawnSync("mkfifo", [path]),
  "a device": (path: string) => symlinkSync("/dev/null", path),
})) {
  test(`${kind} among the configurations does not block`, async (t) => {
    const node = nodeFor(t);
    make(join(node.confDir, "a.conf"));
    t.strictSame(found(node), {
      networks: [],
      stderr: "host-local: /net.d/a.conf: not a regular file\n",
      exitCode: 0,
    });
  });
}

test("a dangling link among the configurations is reported", async (t) => {
  const node = nodeFor(t);
  symlinkSync("nowhere", join(node.confDir, "a.conf"));
  t.strictSame(
    found(node).stderr,
    "host-local: /net.d/a.conf: stat /net.d/a.conf: no such file or directory\n",
  );
});

test("a network whose ranges are wrong is still known by its directory", async (t) => {
  const node = nodeFor(t);
  configureNet(node, { subnet: "10.0.0.1/29" });
  node.add("net", { subnet: "10.0.0.0/29" }, "c1");

  t.strictSame(found(node), {
    networks: ["net a.conf networks/net "],
    stderr:
      "host-local: /net.d/a.conf: invalid range set 0: Network has host bits set. For a subnet mask of length 29 the network address is 10.0.0.0; found 10.0.0.1/29 at ipam.subnet\n",
    exitCode: 0,
  });
});

test("several configurations of one network are all listed, and its reservations once", async (t) => {
  const node = nodeFor(t);
  configureNet(node);
  configureNet(node, { subnet: "10.9.0.0/29" }, "b.conf");
  node.add("net", { subnet: "10.9.0.0/29" }, "c1");

  t.strictSame(found(node).networks, [
    `net a.conf networks/net ${RANGE}`,
    "net b.conf networks/net 10.9.0.1-10.9.0.6",
  ]);
  const { reservations } = JSON.parse(node.tool(["list", "net", "--json"]).stdout);
  t.strictSame(
    reservations.map(({ address, range }: { address: string; range: Json }) => [address, range]),
    [["10.9.0.2", { first: "10.9.0.1", last: "10.9.0.6" }]],
  );
});

test("networks without a configuration are found beside configured ones", async (t) => {
  const node = nodeFor(t);
  configureNet(node);
  node.add("stray", { subnet: "10.1.0.0/29" }, "c1");

  t.strictSame(found(node).networks, [
    `net a.conf networks/net ${RANGE}`,
    "stray - networks/stray ",
  ]);
});

test("--data-dir and a network's name need no configuration", async (t) => {
  const node = nodeFor(t);
  node.add("net", { subnet: "10.0.0.0/29" }, "c1");
  mkdirSync(join(node.dataDir, "empty"));
  const environment = { NETCONFPATH: join(node.root, "none") };

  for (const [name, rows] of [
    ["net", 2],
    ["empty", 1],
  ] as const) {
    const { exitCode, stdout, stderr } = tool(["list", name, "--data-dir", `${node.dataDir}//`], {
      environment,
    });
    t.strictSame([exitCode, stdout.trimEnd().split("\n").length, stderr], [0, rows, ""]);
  }
});

test("--data-dir wins over the configurations", async (t) => {
  const node = nodeFor(t);
  configureNet(node);
  node.add("net", { subnet: "10.0.0.0/29", dataDir: join(node.root, "elsewhere") }, "c1");

  t.strictSame(found(node, ["--data-dir", join(node.root, "elsewhere")]).networks, [
    `net a.conf elsewhere/net ${RANGE}`,
  ]);
});

test("a relative data directory is resolved in the working directory, with a warning", async (t) => {
  const node = nodeFor(t);
  configureNet(node, { dataDir: "networks/." });
  node.add("net", { subnet: "10.0.0.0/29" }, "c1");
  const inRoot = { workingDirectory: node.root, findsDataDir: true };

  const { exitCode, stdout, stderr } = node.tool(["list", "net", "--json"], inRoot);

  t.equal(exitCode, 0);
  t.equal(JSON.parse(stdout).reservations[0].path, "networks/net/10.0.0.2");
  t.equal(
    stderr.replaceAll(node.root, ""),
    "host-local: /net.d/a.conf: ipam.dataDir is relative (networks): the plugin resolves it in the runtime's working directory, this command in its own; set --data-dir\n",
  );
  t.equal(node.tool(["list", "net", "--data-dir", "networks"], inRoot).stderr, "");
});

test("--conf-dir and NETCONFPATH set the directory of configurations", async (t) => {
  const node = nodeFor(t);
  configureNet(node);
  const words = ["capacity", "net", "--max-pods"];

  for (const environment of [{ NETCONFPATH: node.confDir }, { NETCONFPATH: `${node.confDir}/` }]) {
    t.strictSame(tool(words, { environment }), { exitCode: 0, stdout: "5\n", stderr: "" });
  }
  const both = tool([...words, `--conf-dir=${node.confDir}`], {
    environment: { NETCONFPATH: node.root },
  });
  t.equal(both.stdout, "5\n");
});

/** A command line of each command that finds networks. */
const finding = [
  ["list"],
  ["networks"],
  ["capacity"],
  ["check"],
  ["metrics"],
  ["show", "10.0.0.2"],
  ["release", "10.0.0.2", "--yes", "--force"],
  ["gc", "--live", "-"],
];

for (const words of finding) {
  test(`${words[0]}: a directory or network that does not exist, or is empty text, is an error`, async (t) => {
    const node = nodeFor(t);
    configureNet(node);
    const missing = join(node.root, "none");
    const file = join(node.confDir, "a.conf");
    const network = ["show", "release"].includes(words[0] ?? "")
      ? (name: string) => ["--network", name]
      : (name: string) => [name];

    const usage = (problem: string): string =>
      `${words[0]}: ${problem}\nRun 'host-local ${words[0]} --help' for usage.`;
    const emptyNetwork =
      network("").length === 1
        ? "empty operand: expected [NETWORK]"
        : '--network: expected NETWORK, found ""';

    for (const [wrong, problem] of [
      [["--data-dir", missing], `${words[0]}: --data-dir: ${missing}: no such file or directory`],
      [["--data-dir", ""], usage('--data-dir: expected DIR, found ""')],
      [["--data-dir", file], `${words[0]}: --data-dir: ${file}: not a directory`],
      [["--conf-dir", missing], `${words[0]}: --conf-dir: ${missing}: no such file or directory`],
      [["--conf-dir", ""], usage('--conf-dir: expected DIR, found ""')],
      [network("none"), 'unknown network "none"; known networks: net'],
      [network(""), usage(emptyNetwork)],
    ] as const) {
      const confDir = wrong[0] === "--conf-dir" ? [] : ["--conf-dir", node.confDir];
      const outcome = tool([...words, ...wrong, ...confDir], { stdin: "c1\n" });
      t.strictSame(outcome, { exitCode: 2, stdout: "", stderr: `host-local: ${problem}\n` });
    }
  });
}

test("the directories of distributions are read where they exist, one with two names once", {
  skip: inMountNamespace("true").status === 0 ? false : "This machine has no mount namespaces.",
}, async (t) => {
  const node = nodeFor(t);
  configureNet(node);
  const k3s = "/var/lib/rancher/k3s/agent/etc/cni";
  const command = [
    "mount -t tmpfs tmpfs /etc && mount -t tmpfs tmpfs /var/lib",
    `mkdir -p /etc/cni ${k3s} && cp -r ${node.confDir} ${k3s}/net.d && ln -s ${k3s}/net.d /etc/cni/net.d`,
    `${executable} capacity --json`,
    "rm /etc/cni/net.d",
    `${executable} capacity --json`,
  ].join("; ");

  const { stdout } = inMountNamespace(command);

  t.strictSame(
    [...stdout.matchAll(/"source": "(.*)"/g)].map(([, source]) => source),
    ["/etc/cni/net.d/a.conf", `${k3s}/net.d/a.conf`],
  );
});

function inMountNamespace(command: string) {
  const words = ["--mount", "--propagation", "private", "sh", "-c", command];
  return spawnSync("unshare", words, { encoding: "utf8" });
}

test("an unknown network is an error that lists the known networks and the invalid configurations", async (t: Test) => {
  const node = nodeFor(t);
  node.configure("a.conf", "{");
  node.add("one", { subnet: "10.1.0.0/29" }, "c1");
  node.add("two", { subnet: "10.1.0.0/29" }, "c1");

  t.strictSame(node.tool(["list", "three"]), {
    exitCode: 2,
    stdout: "",
    stderr: `host-local: unknown network "three"; known networks: one, two
host-local: ${node.confDir}/a.conf: invalid JSON: unexpected end of JSON input
`,
  });
});
