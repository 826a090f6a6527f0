// test: each executable, one if short, each architecture
/** networks: the networks of the node. */

import { join } from "node:path";
import { test } from "tap";
import { atTerminal, skipWithoutTerminal } from "../../harness/terminal.ts";
import { nodeFor, withoutPaths } from "../node.ts";

const BRIDGE = { type: "bridge", bridge: "cni7", isGateway: true };

test("each network has its ranges, free addresses, bridge, configuration and directory", async (t) => {
  const node = nodeFor(t);
  node.network(
    "dual",
    { ranges: [[{ subnet: "10.0.0.0/29" }], [{ subnet: "fd00::/64" }]] },
    BRIDGE,
  );
  node.network("part", { subnet: "10.1.0.0/24", rangeStart: "10.1.0.10", rangeEnd: "10.1.0.19" });
  node.call("ADD", "dual", "c1");
  node.write("removed/10.2.0.2", "c2\r\neth0");

  const { exitCode, stdout, stderr } = node.tool(["networks"]);

  t.strictSame([exitCode, stderr], [0, ""]);
  t.equal(
    withoutPaths(node, stdout),
    `NETWORK  RANGES  FREE  BRIDGE  CONFIGURATION  DIRECTORY
dual  10.0.0.0/29,fd00::/64  4,18446744073709551613  cni7  NODE/net.d/dual.conf  NODE/networks/dual
part  10.1.0.10-10.1.0.19  10  -  NODE/net.d/part.conf  NODE/networks/part
removed  -  -  -  -  NODE/networks/removed
`,
  );
});

test("the document has the ranges one by one, and exact numbers", async (t) => {
  const node = nodeFor(t);
  const source = node.network("net", { subnet: "10.0.0.0/29" }, BRIDGE);
  node.write("removed/10.2.0.2", "c2\r\neth0");

  t.strictSame(node.json(["networks"]), {
    exitCode: 0,
    document: {
      networks: [
        {
          network: "net",
          directory: join(node.dataDir, "net"),
          configuration: source,
          bridge: "cni7",
          ranges: [
            {
              set: 0,
              first: "10.0.0.1",
              last: "10.0.0.6",
              subnet: "10.0.0.0/29",
              gateway: "10.0.0.1",
              free: 5,
            },
          ],
        },
        {
          network: "removed",
          directory: join(node.dataDir, "removed"),
          configuration: null,
          bridge: null,
          ranges: [],
        },
      ],
    },
  });
});

test("one network, without headings", async (t) => {
  const node = nodeFor(t);
  for (const name of ["one", "two"]) node.network(name, { subnet: "10.0.0.0/29" });
  const { stdout } = node.tool(["networks", "two", "--no-headers"]);
  t.match(stdout, /^two {2}10\.0\.0\.0\/29 {2}5 {2}- .*\n$/);
});

test("on a terminal large numbers are powers of two, and each line fits", {
  skip: skipWithoutTerminal,
}, async (t) => {
  const node = nodeFor(t);
  node.network(
    "dual",
    { ranges: [[{ subnet: "10.0.0.0/29" }], [{ subnet: "fd00::/64" }]] },
    BRIDGE,
  );

  const { stdout } = atTerminal(node.line(["networks"]), "", { COLUMNS: "80" });

  t.match(
    stdout,
    /^NETWORK +dual\nRANGES +10\.0\.0\.0\/29,fd00::\/64\nFREE +5,≈2\^64\nBRIDGE +cni7\n/,
  );
  t.ok(
    stdout.split("\n").every((line) => line.length <= 80),
    stdout,
  );
});
