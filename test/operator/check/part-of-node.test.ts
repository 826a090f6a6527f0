// test: each executable, one if short
/** What the commands say of a network of which this node has only a part. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { type Node, nodeFor } from "../node.ts";

/** A node with the podCIDR 198.18.7.0/24, whose part of 198.19.0.0/20 is 198.19.0.112-198.19.0.127. */
function nodeWithPart(t: Test): Node & { readonly subnetFile: string; readonly source: string } {
  const node = nodeFor(t);
  const subnetFile = join(node.root, "subnet.env");
  writeFileSync(subnetFile, "FLANNEL_NETWORK=198.18.0.0/16\nFLANNEL_SUBNET=198.18.7.1/24\n");
  const source = node.network("net", {
    partition: { subnetFile, ranges: [[{ subnet: "198.19.0.0/20" }]] },
  });
  return { ...node, subnetFile, source };
}

test("the commands count the part", async (t) => {
  const node = nodeWithPart(t);
  node.call("ADD", "net", "c1");
  t.match(node.json(["capacity"]).document, {
    networks: [{ pods: 16, ranges: [{ first: "198.19.0.112", last: "198.19.0.127", free: 15 }] }],
  });
  t.match(node.json(["list"]).document, {
    reservations: [{ address: "198.19.0.112", range: { last: "198.19.0.127" } }],
  });
  t.match(node.json(["show", "198.19.0.128"]).document, {
    hints: [{ reason: "otherNode", text: /another node may hand it out\.$/ }],
  });
});

test("check names what the node had before its part changed, until released, or is in no part", async (t) => {
  const node = nodeWithPart(t);
  node.call("ADD", "net", "c1");
  node.write("net/198.19.16.1", "c9\r\neth0");
  writeFileSync(node.subnetFile, "FLANNEL_NETWORK=198.18.0.0/15\nFLANNEL_SUBNET=198.18.7.1/24\n");

  t.match(node.findings(), [
    {
      code: "out-of-range",
      severity: "warning",
      message:
        "198.19.0.112 is outside of this node's part: another node may hand it out, held by container c1",
    },
    { code: "out-of-range" },
  ]);
  t.match(node.json(["list"]).document, {
    reservations: [{ address: "198.19.0.112", range: null }, {}],
  });

  node.call("DEL", "net", "c1");
  t.match(node.findings(), [{ code: "out-of-range" }]);
});

test("a node without a part is an error, and its reservations are still listed", async (t) => {
  const node = nodeWithPart(t);
  node.call("ADD", "net", "c1");
  writeFileSync(node.subnetFile, "FLANNEL_NETWORK=198.18.0.0/16\nFLANNEL_SUBNET=198.19.7.1/24\n");
  t.match(node.findings(), [
    {
      code: "unreadable-configuration",
      severity: "error",
      path: node.source,
      message: /^FLANNEL_SUBNET 198\.19\.7\.1\/24 is not in FLANNEL_NETWORK 198\.18\.0\.0\/16; /,
    },
  ]);
  t.match(node.json(["list"]).document, { reservations: [{ address: "198.19.0.112" }] });
});
