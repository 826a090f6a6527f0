/** list: every reservation of one network or of all. */

import { chmodSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { isRoot, withoutPrivileges } from "../../blackbox/unprivileged.ts";
import { goPlugin, skipWithoutGoPlugin } from "../../differential/go-plugin.ts";
import { nodeFor } from "../node.ts";
import { atTerminal, skipWithoutTerminal } from "../terminal.ts";
import { tool } from "../tool.ts";

const LONG_ID = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

test("reservations are sorted by address, IPv4 first, with their ages and pods", (t) => {
  const node = nodeFor(t);
  const ranges = [[{ subnet: "10.0.0.0/24" }], [{ subnet: "fd00::/120" }]];
  for (const id of ["a", "b", "c", "d", "e", "f", "g", "h"]) node.add("net", { ranges }, id);
  node.add("net", { subnet: "10.0.1.0/24" }, LONG_ID, { interfaceName: "net1" });
  node.write("net/10.0.0.12", "legacy");
  node.write("net/10.0.0.13", "");
  node.remember("net", "a", "default/web");
  node.remember("net", "legacy", "kube-system/dns");
  const names = ["2", "3", "4", "5", "6", "7", "8", "9"];
  for (const name of [...names, "12", "13"]) node.age(`net/10.0.0.${name}`, 3 * 3600 + 40);
  for (const name of names) node.age(`net/fd00::${name}`, 3 * 86400 + 40);
  node.age("net/10.0.1.2", 100);

  const answer = node.tool(["list", "net"]);
  // A busy machine may take some seconds from the one line to the other.
  t.strictSame(
    { ...answer, stdout: answer.stdout.replace(/\b10\ds\b/, "100s") },
    {
      exitCode: 0,
      stdout: `NETWORK  ADDRESS    CONTAINER                                                         INTERFACE  AGE   POD
net      10.0.0.2   a                                                                 eth0       3h    default/web
net      10.0.0.3   b                                                                 eth0       3h    -
net      10.0.0.4   c                                                                 eth0       3h    -
net      10.0.0.5   d                                                                 eth0       3h    -
net      10.0.0.6   e                                                                 eth0       3h    -
net      10.0.0.7   f                                                                 eth0       3h    -
net      10.0.0.8   g                                                                 eth0       3h    -
net      10.0.0.9   h                                                                 eth0       3h    -
net      10.0.0.12  legacy                                                            -          3h    kube-system/dns
net      10.0.0.13  -                                                                 -          3h    -
net      10.0.1.2   ${LONG_ID}  net1       100s  -
net      fd00::2    a                                                                 eth0       3d    default/web
net      fd00::3    b                                                                 eth0       3d    -
net      fd00::4    c                                                                 eth0       3d    -
net      fd00::5    d                                                                 eth0       3d    -
net      fd00::6    e                                                                 eth0       3d    -
net      fd00::7    f                                                                 eth0       3d    -
net      fd00::8    g                                                                 eth0       3d    -
net      fd00::9    h                                                                 eth0       3d    -
`,
      stderr: "",
    },
  );
  t.end();
});

test("the document names network, address, owner, time, range and path", (t) => {
  const node = nodeFor(t);
  const ipam = { type: "host-local", dataDir: node.dataDir, subnet: "10.0.0.0/24" };
  node.configure("10-net.conf", { cniVersion: "1.0.0", name: "net", type: "bridge", ipam });
  node.add("net", { subnet: "10.0.0.0/24" }, "c1");
  node.remember("net", "c1", "default/web");

  const { exitCode, stdout } = node.tool(["list", "net", "--json"]);

  t.equal(exitCode, 0);
  const { reservations } = JSON.parse(stdout);
  t.match(reservations[0].since, /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$/);
  t.strictSame(reservations, [
    {
      network: "net",
      address: "10.0.0.2",
      container: "c1",
      interface: "eth0",
      pod: "default/web",
      owner: "attachment",
      since: reservations[0].since,
      range: { first: "10.0.0.1", last: "10.0.0.254" },
      path: join(node.dataDir, "net/10.0.0.2"),
    },
  ]);
  t.end();
});

test("reservations of the Go plugin are listed", { skip: skipWithoutGoPlugin }, (t) => {
  const node = nodeFor(t);
  const program = goPlugin?.path ?? "";
  node.add("net", { subnet: "10.0.0.0/24" }, "ours");
  node.add("net", { subnet: "10.0.0.0/24" }, "theirs", { program });

  const { stdout } = node.tool(["list", "--json"]);

  const { reservations } = JSON.parse(stdout);
  t.strictSame(
    reservations.map((one: { address: string; container: string; owner: string }) => [
      one.address,
      one.container,
      one.owner,
    ]),
    [
      ["10.0.0.2", "ours", "attachment"],
      ["10.0.0.3", "theirs", "attachment"],
    ],
  );
  t.end();
});

test("control characters in names are replaced on a terminal, and kept in the document", (t) => {
  const node = nodeFor(t);
  node.write("net/10.0.0.2", "c1\r\ne\u001b]0;x\u0007");
  node.remember("net", "c1", "default/\u001b[2Jweb\u009b", { interfaceName: "e\u001b]0;x\u0007" });
  node.age("net/10.0.0.2", 7300);

  const { stdout } = node.tool(["list"]);

  t.equal(stdout.split("\n")[1], "net      10.0.0.2  c1         e?]0;x?    2h   default/?[2Jweb?");
  const { reservations } = JSON.parse(node.tool(["list", "--json"]).stdout);
  t.equal(reservations[0].interface, "e\u001b]0;x\u0007");
  t.end();
});

test("an empty data directory gives the headings alone", (t) => {
  const node = nodeFor(t);
  t.strictSame(node.tool(["list"]), {
    exitCode: 0,
    stdout: "NETWORK  ADDRESS  CONTAINER  INTERFACE  AGE  POD\n",
    stderr: "",
  });
  t.strictSame(node.tool(["list", "--data-dir", node.dataDir, "--json"]), {
    exitCode: 0,
    stdout: '{\n  "reservations": []\n}\n',
    stderr: "",
  });
  t.end();
});

test("wrong usage exits with 2 and an error that says what is expected", (t) => {
  const node = nodeFor(t);
  const cases: [string[], string][] = [
    [["list", "a", "b"], "list: too many operands; expected [NETWORK]"],
    [["list", "--color"], "list: unknown or unexpected option: --color"],
    [["list", "none", "--data-dir", node.dataDir], 'unknown network "none"; known networks: none'],
    [["liszt"], 'unknown command "liszt"; see host-local --help'],
  ];
  for (const [words, message] of cases) {
    t.strictSame(tool([...words, ...(words[0] === "list" ? ["--conf-dir", node.confDir] : [])]), {
      exitCode: 2,
      stdout: "",
      stderr: `host-local: ${message}\n`,
    });
  }
  t.end();
});

test("reservations that may not be read are listed, and the error is logged", {
  skip: isRoot ? false : "Only root can make files here that another user may not read.",
}, (t) => {
  const node = nodeFor(t);
  node.add("net", { subnet: "10.0.0.0/24" }, "c1");
  node.add("net", { subnet: "10.0.0.0/24" }, "c2");
  chmodSync(join(node.cacheDir, "results"), 0o700);
  node.age("net/10.0.0.2", 7300);
  node.age("net/10.0.0.3", 7300);

  t.strictSame(node.tool(["list"], withoutPrivileges(t)), {
    exitCode: 0,
    stdout: `NETWORK  ADDRESS   CONTAINER  INTERFACE  AGE  POD
net      10.0.0.2  ?          -          2h   -
net      10.0.0.3  ?          -          2h   -
`,
    stderr: `host-local: pods are unknown: open ${node.cacheDir}/results: permission denied
host-local: cannot read all reservations: open ${node.dataDir}/net/10.0.0.2: permission denied, and 1 more
`,
  });
  t.end();
});

test("on a terminal ids are shortened, as crictl shows them", {
  skip: skipWithoutTerminal,
}, (t) => {
  const node = nodeFor(t);
  node.add("net", { subnet: "10.0.0.0/24" }, LONG_ID);
  node.age("net/10.0.0.2", 7300);

  const { exitCode, stdout } = atTerminal([
    ...["list", "--data-dir", node.dataDir, "--conf-dir", node.confDir],
    ...["--cache-dir", node.cacheDir],
  ]);

  t.equal(exitCode, 0);
  t.equal(
    stdout,
    `NETWORK  ADDRESS   CONTAINER      INTERFACE  AGE  POD
net      10.0.0.2  0123456789abc  eth0       2h   -
`,
  );
  t.end();
});

test("thousands of reservations show progress on a terminal, and nowhere else", {
  skip: skipWithoutTerminal,
}, (t) => {
  const node = nodeFor(t);
  for (let at = 0; at < 2100; at++) node.write(`net/10.0.${at >> 8}.${at & 255}`, `c${at}\r\neth0`);
  const words = ["list", "--data-dir", node.dataDir, "--conf-dir", node.confDir];
  const progress = `\rreading ${node.dataDir}/net: 1000 of 2100\rreading ${node.dataDir}/net: 2000 of 2100\r\u001b[K`;

  const seen = atTerminal(words);

  t.equal(seen.stdout.slice(0, progress.length), progress);
  t.equal(seen.stdout.split("\n").length, 2102);
  const { exitCode, stdout, stderr } = tool(words);
  t.strictSame([exitCode, stdout.split("\n").length, stderr], [0, 2102, ""]);
  t.end();
});
