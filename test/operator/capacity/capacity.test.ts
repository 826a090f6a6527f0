// test: each executable, one if short, Go plugin, each architecture, sees the node, acts as others
/** capacity: what the ranges hold, for people, programs, kubelet and the scheduler. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { shellCommand } from "../../../src/operator/next-command.ts";
import { goPlugin } from "../../harness/go-plugin.ts";
import { kubectl, skipWithoutKubectl } from "../../harness/kubectl.ts";
import { lacking } from "../../harness/needs.ts";
import { atTerminal, skipWithoutTerminal } from "../../harness/terminal.ts";
import { tool } from "../../harness/tool.ts";
import { withoutPrivileges } from "../../harness/unprivileged.ts";
import { nodeFor } from "../node.ts";

test("every range is counted, and the reservations of a network without known ranges", async (t) => {
  const node = nodeFor(t);
  const dual = {
    ranges: [
      [{ subnet: "198.18.0.0/29" }, { subnet: "198.51.100.0/24" }],
      [{ subnet: "2001:db8::/64" }],
    ],
    exclude: ["198.51.100.128/25"],
  };
  node.network("dual", dual);
  node.network("small", { subnet: "203.0.113.0/30" });
  const program = goPlugin?.current === true ? { program: goPlugin.path } : {};
  for (const id of ["a", "b", "c"]) node.add("dual", dual, id);
  node.add("small", { subnet: "203.0.113.0/30" }, "a", program);
  node.write("dual/198.51.100.7", "");
  node.write("dual/198.51.100.200", "excluded");
  node.write("dual/198.18.1.1", "stray");
  node.add("forgotten", { subnet: "198.18.2.0/24" }, "a");

  t.strictSame(node.tool(["capacity"]), {
    exitCode: 1,
    stdout: `NETWORK    SET  RANGE                        CAPACITY  USED                  FREE   USED%
dual       0    198.18.0.0/29                       5     3                     2   60.0%
dual       0    198.51.100.0/24                   126     1                   125    0.7%
dual       1    2001:db8::/64    18446744073709551614     3  18446744073709551611    0.0%
forgotten  -    unknown                             -     1                     -       -
small      0    203.0.113.0/30                      1     1                     0  100.0%

dual holds 131 pods.
small holds 1 pod.
small: range set 0 has no free address: the next pod fails. To see why: ${shellCommand(["host-local", ...node.line(["check", "small"])])}
`,
    stderr: "",
  });
});

test("what is held since before this boot counts as free", {
  skip:
    lacking("sees the node") ||
    (existsSync("/etc/machine-id") ? false : "There is no /etc/machine-id."),
}, async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "198.51.100.0/29" });
  for (const id of ["c1", "c2"]) node.call("ADD", "net", id);
  const { ino, mtimeNs } = statSync(join(node.dataDir, "net/198.51.100.2"), { bigint: true });
  const journal = ".host-local/net/journal";
  const boot = "11111111-2222-3333-4444-555555555555";
  const line = `c1 eth0 198.51.100.2 ${ino},${mtimeNs} ${boot}\n`;
  const [seal = ""] = readFileSync(join(node.dataDir, journal), "utf8").split("\n");
  node.write(journal, `${seal}\n${line}`);

  t.match(node.json(["capacity", "net"]).document, {
    networks: [{ reclaimable: 1, ranges: [{ used: 1, free: 4 }] }],
  });
});

test("what may not be read is said: owners, earlier boots, and what was released lately", {
  skip: lacking("acts as others"),
}, async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "198.51.100.0/29" });
  node.call("ADD", "net", "c1");
  const reserved = `${node.dataDir}/net/198.51.100.2`;
  const journal = `${node.dataDir}/.host-local/net/journal`;

  t.match(node.tool(["capacity", "net"], withoutPrivileges(t)), {
    exitCode: 0,
    stdout: /^net +0 +198\.51\.100\.0\/29 +5 +1 +4 /m,
    stderr: `host-local: cannot read all reservations: open ${reserved}: permission denied; they count as used
host-local: net: which reservations are of dead pods or from before this boot, and count as free, and which addresses were released lately is not known: open ${journal}: permission denied
`,
  });
  t.equal(node.tool(["capacity", "net"]).stderr, "", "root reads all");
  rmSync(join(node.dataDir, ".host-local"), { recursive: true });
  t.notMatch(node.tool(["capacity", "net"], withoutPrivileges(t)).stderr, "before this boot");
});

test("a range that only root sees is full is said to be full perhaps", {
  skip: lacking("acts as others"),
}, async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "203.0.113.0/30" });
  node.call("ADD", "net", "c1");
  const other = withoutPrivileges(t);

  const { stdout } = node.tool(["capacity", "net"], other);
  t.match(stdout, "net: range set 0 has no free address: the next pod may fail. To see");
  t.match(stdout, "net: which addresses dead pods hold cannot be read: run as root.");
  t.match(node.json(["capacity", "net"], other).document, { networks: [{ reclaimable: null }] });
  t.match(node.json(["capacity", "net"]).document, { networks: [{ reclaimable: 0 }] });
  const journal = `${node.dataDir}/.host-local/net/journal`;
  t.match(
    node.tool(["networks", "net"], other).stderr,
    `and which addresses were released lately is not known: open ${journal}: permission denied`,
  );
  t.equal(node.tool(["networks", "net"]).stderr, "", "root reads all");
});

test("at a terminal, --max-pods says that pods with hostNetwork count, and to drain the node", {
  skip: skipWithoutTerminal,
}, async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "198.51.100.0/29" });
  const words = node.line(["capacity", "net", "--max-pods"]);

  t.match(atTerminal(words).stdout, "add them with --host-network-pods N. Drain the node before");
  t.notMatch(atTerminal([...words, "--host-network-pods=3"]).stdout, "Drain");
});

test("kubectl applies the patch, again and again", { skip: skipWithoutKubectl }, async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "198.51.100.0/24" });
  const patch = node.tool(["capacity", "net", "--node-patch"]).stdout;
  const file = join(node.root, "node.json");
  const object = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } };
  const expected = { pods: "110", "example.com/pod-ips": "253" };
  for (const capacity of [{ pods: "110" }, { pods: "110", "example.com/pod-ips": "7" }]) {
    writeFileSync(file, JSON.stringify({ ...object, status: { capacity } }));
    const { stdout, stderr } = spawnSync(
      kubectl,
      ["patch", "--local", "-f", file, "--type=json", "-p", patch, "-o", "json"],
      { encoding: "utf8" },
    );
    t.strictSame(JSON.parse(stdout || `"${stderr}"`).status?.capacity, expected);
  }
});

test("an option of one form of the number is refused with another one", async (t) => {
  for (const [words, problem] of [
    [["--host-network-pods", "3"], "--host-network-pods: requires --max-pods"],
    [["--resource", "example.com/x"], "--resource: requires --node-feature or --node-patch"],
    [["--node-patch", "--expires-after", "1h"], "--expires-after: requires --node-feature"],
    [["--max-pods", "--node-patch"], "--max-pods: cannot be combined with --node-patch"],
  ] as const) {
    t.strictSame(tool(["capacity", ...words]), {
      exitCode: 2,
      stdout: "",
      stderr: `host-local: capacity: ${problem}\nRun 'host-local capacity --help' for usage.\n`,
    });
  }
});

test("on a terminal a lack of addresses is coloured, unless NO_COLOR is set", {
  skip: skipWithoutTerminal,
}, async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "198.51.100.0/30" });
  node.add("net", { subnet: "198.51.100.0/30" }, "a");
  const words = node.line(["capacity", "net"]);
  const row = (free: string, share: string): string =>
    `net      0    198.51.100.0/30         1     1     ${free}  ${share}\n`;

  t.match(atTerminal(words).stdout, row("\u001b[31m0\u001b[0m", "\u001b[31m100.0%\u001b[0m"));
  t.match(atTerminal(words, "", { NO_COLOR: "1" }).stdout, row("0", "100.0%"));
  t.match(atTerminal(words, "", { TERM: "dumb" }).stdout, row("0", "100.0%"));
  t.notMatch(node.tool(["capacity", "net"]).stdout, "\u001b");
});

test("on a terminal large counts are powers of two, and 80 columns suffice", {
  skip: skipWithoutTerminal,
}, async (t) => {
  const node = nodeFor(t);
  const name = "k8s-pod-network";
  node.network(name, {
    ranges: [[{ subnet: "203.0.113.0/24" }], [{ subnet: "2001:db8:244:3::/64" }]],
  });

  const { stdout } = atTerminal(node.line(["capacity"]), "", { COLUMNS: "80", NO_COLOR: "1" });

  t.equal(
    stdout,
    `NETWORK          SET  RANGE                CAPACITY  USED   FREE  USED%
k8s-pod-network  0    203.0.113.0/24            253     0    253   0.0%
k8s-pod-network  1    2001:db8:244:3::/64     ≈2^64     0  ≈2^64   0.0%

k8s-pod-network holds 253 pods.
`,
  );
});

test("sizes around 2^63, 2^64 and 2^128 have all their digits", async (t) => {
  const node = nodeFor(t);
  for (const length of [0, 1, 2, 64, 65, 66, 67]) {
    node.network(`net${length}`, { subnet: `8000::/${length}`.replace("8000::/0", "::/0") });
    const size = 2n ** BigInt(128 - length) - 2n;
    const { stdout } = node.tool(["capacity", `net${length}`, "--json"]);
    t.match(stdout, `"capacity": ${size},`);
    t.match(node.tool(["capacity", `net${length}`]).stdout, ` ${size} `);
  }
  const nodes = 2n ** 64n - 1n;
  const plan = tool(["plan", "--nodes", `${nodes}`, "--pods", `${nodes}`]).stdout;
  t.match(plan, `${nodes} nodes`);
  t.match(plan, `${nodes} pods`);
});
