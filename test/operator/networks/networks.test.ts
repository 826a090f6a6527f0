// test: each executable, one if short, each architecture
/** networks: the networks of the node; and how each command that finds networks is told which. */

import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { tool } from "../../harness/tool.ts";
import { nodeFor, withoutPaths } from "../node.ts";

test("each network has its ranges, free addresses, bridge, configuration and directory", async (t) => {
  const node = nodeFor(t);
  const ranges = [[{ subnet: "198.51.100.0/29" }], [{ subnet: "2001:db8::/64" }]];
  node.network("dual", { ranges }, { type: "bridge", bridge: "cni7", isGateway: true });
  node.network("part", {
    subnet: "203.0.113.0/24",
    rangeStart: "203.0.113.10",
    rangeEnd: "203.0.113.19",
  });
  node.call("ADD", "dual", "c1");
  node.write("removed/198.18.0.2", "c2\r\neth0");

  const { exitCode, stdout, stderr } = node.tool(["networks"]);

  t.strictSame([exitCode, stderr], [0, ""]);
  t.equal(
    withoutPaths(node, stdout).replaceAll(/ \d+s /g, " SECONDS "),
    `NETWORK  RANGES  FREE  BRIDGE  LAST ADD  CONFIGURATION  DIRECTORY
dual  198.51.100.0/29,2001:db8::/64  4,18446744073709551613  cni7  SECONDS  NODE/net.d/dual.conf  NODE/networks/dual
part  203.0.113.10-203.0.113.19  10  -  -  NODE/net.d/part.conf (by name)  NODE/networks/part
removed  -  -  -  SECONDS  -  NODE/networks/removed
`,
  );
  t.match(node.tool(["networks", "part", "--no-headers"]).stdout, /^part {2}.*\n$/);
  const { document } = node.json(["networks"]);
  const found = document as { networks: readonly { ranges: readonly unknown[] }[] };
  t.same(found.networks.at(-1)?.ranges, []);
  t.match(document, {
    networks: [
      {
        network: "dual",
        directory: join(node.dataDir, "dual"),
        configuration: join(node.confDir, "dual.conf"),
        bridge: "cni7",
        ranges: [
          {
            set: 0,
            first: "198.51.100.1",
            last: "198.51.100.6",
            subnet: "198.51.100.0/29",
            free: 4,
          },
          { set: 1, gateway: "2001:db8::1" },
        ],
      },
      { network: "part", bridge: null, lastAdd: null },
      { network: "removed", configuration: null, bridge: null },
    ],
  });
});

test("a file that no runtime uses beside another one of its network is marked in the table", async (t) => {
  const node = nodeFor(t);
  const ipam = (subnet: string) => ({ type: "host-local", subnet, dataDir: node.dataDir });
  for (const [file, name, subnet] of [
    ["10-first.conf", "first", "198.51.100.0/29"],
    ["20-again.conf", "first", "198.51.100.8/29"],
  ] as const) {
    node.configure(file, { cniVersion: "1.0.0", name, type: "bridge", ipam: ipam(subnet) });
  }

  const { stdout, stderr } = node.tool(["networks", "--no-headers"]);

  t.match(withoutPaths(node, stdout), / NODE\/net\.d\/10-first\.conf {2}NODE/);
  t.match(withoutPaths(node, stdout), / NODE\/net\.d\/20-again\.conf \(unused\) {2}NODE/);
  t.match(stderr, "no runtime uses it: ");
});

test("of the files of several networks all but the first are marked: they are used by name", async (t) => {
  const node = nodeFor(t);
  for (const [name, subnet] of [
    ["first", "198.51.100.0/29"],
    ["second", "198.51.100.8/29"],
  ] as const) {
    node.network(name, { subnet });
  }
  const { stdout, stderr } = node.tool(["networks", "--no-headers"]);
  t.match(withoutPaths(node, stdout), / NODE\/net\.d\/first\.conf {2}NODE/);
  t.match(withoutPaths(node, stdout), / NODE\/net\.d\/second\.conf \(by name\) {2}NODE/);
  t.equal(stderr, "");
  t.match(node.json(["networks"]).document, {
    networks: [
      { use: "used", shadowedBy: null },
      { use: "byName", shadowedBy: join(node.confDir, "first.conf") },
    ],
  });
});

test("a FIFO, a device or a dangling link among configurations is reported, and blocks nothing", async (t) => {
  const node = nodeFor(t);
  spawnSync("mkfifo", [join(node.confDir, "a.conf")]);
  symlinkSync("/dev/zero", join(node.confDir, "b.conf"));
  symlinkSync("nowhere", join(node.confDir, "c.conf"));
  node.network("net", { subnet: "198.51.100.0/29" });

  const { exitCode, stdout, stderr } = node.tool(["networks", "--no-headers"]);

  t.match({ exitCode, stdout }, { exitCode: 0, stdout: /^net .*\n$/ });
  t.equal(
    withoutPaths(node, stderr),
    `host-local: NODE/net.d/a.conf: not a regular file
host-local: NODE/net.d/b.conf: not a regular file
host-local: NODE/net.d/c.conf: stat NODE/net.d/c.conf: no such file or directory
`,
  );
});

/** A command line of each command that finds networks. */
const finding = [
  ["list"],
  ["networks"],
  ["capacity"],
  ["check"],
  ["metrics"],
  ["show", "198.51.100.2"],
  ["release", "198.51.100.2", "--yes", "--force"],
  ["gc", "--live", "-"],
];

for (const words of finding) {
  test(`${words[0]}: a directory or network that does not exist is an error`, async (t) => {
    const node = nodeFor(t);
    const file = node.network("net", { subnet: "198.51.100.0/29" });
    const missing = join(node.root, "none");
    const takesOption = words[0] === "show" || words[0] === "release";
    for (const [wrong, problem] of [
      [["--conf-dir", missing], `${words[0]}: --conf-dir: ${missing}: no such file or directory`],
      [["--data-dir", file], `${words[0]}: --data-dir: ${file}: not a directory`],
      [
        takesOption ? ["--network", "none"] : ["none"],
        'unknown network "none"; known networks: net',
      ],
    ] as const) {
      const confDir = wrong[0] === "--conf-dir" ? [] : ["--conf-dir", node.confDir];
      const outcome = tool([...words, ...wrong, ...confDir], { stdin: "c1\n" });
      t.strictSame(outcome, { exitCode: 2, stdout: "", stderr: `host-local: ${problem}\n` });
    }
  });
}
