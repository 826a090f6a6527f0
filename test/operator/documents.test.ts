// test: native executable
/** The JSON documents have the members and types of the examples in docs/operator-json.md. */

import { test } from "tap";
import { nodesJson } from "../cluster/node-texts.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { exampleOf, formOf } from "./json-examples.ts";
import { nodeFor } from "./node.ts";

const PLAN = [
  ...["--cluster-cidr=10.240.0.0/12", "--node-cidr-mask-size=24", "--nodes=5000"],
  ...["--was-cluster-cidr=10.244.0.0/16", "--partition=192.168.0.0/16"],
];

const nodes = nodesJson([
  { name: "node-1", podCidrs: ["10.244.0.0/24"] },
  { name: "node-2", podCidrs: ["10.99.0.0/24"] },
]);

for (const [words, operands] of [
  ["list", []],
  ["show", ["10.88.0.99"]],
  ["history", ["10.88.0.2"]],
  ["networks", []],
  ["capacity", []],
  ["check", []],
  ["capacity --max-pods --host-network-pods=3", []],
  ["capacity --node-patch", []],
  ["capacity --node-feature", ["@"]],
  ["release", ["nobody"]],
  ["reserve", ["10.88.0.7", "--for=default/db-0"]],
  ["install", ["@", "--yes"]],
  ["plan", PLAN],
  ["audit", ["-", "--cluster-cidr=10.244.0.0/16"]],
  ["completion bash", []],
  ["completion --line", ["host-local ca"]],
  ["man", []],
  ["version", []],
] as const) {
  test(`the document of ${words} matches docs/operator-json.md`, (t) => {
    const node = nodeFor(t);
    const empty = scratchDirectory(t);
    const ipam = { type: "host-local", dataDir: node.dataDir, subnet: "10.88.0.0/24" };
    const plugin = { type: "bridge", isGateway: true, ipam };
    node.configure("mynet.conf", { cniVersion: "1.0.0", name: "mynet", ...plugin });
    node.add("mynet", { subnet: "10.88.0.0/24", history: true }, "c1");
    if (words === "check") node.write("mynet/10.88.0.9", "", 60);
    node.remember("mynet", "c1", "default/web");
    const line = [...words.split(" "), ...operands].map((word) => word.replace("@", empty));

    const { stdout } = node.tool([...line, "--json"], {
      stdin: words === "audit" ? nodes : "",
    });

    t.strictSame(formOf(JSON.parse(stdout)), formOf(exampleOf(words)));
    t.end();
  });
}
