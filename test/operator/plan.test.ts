/** `plan`: the stories of real clusters. */

import { test } from "tap";
import { tool } from "./tool.ts";

const { parse } = JSON;

test("a /16 cut into /24 holds 256 nodes", (t) => {
  const { exitCode, stdout, stderr } = tool(
    "plan --cluster-cidr 10.244.0.0/16 --node-cidr-mask-size 24".split(" "),
  );

  t.equal(exitCode, 0);
  t.equal(stderr, "");
  t.equal(
    stdout,
    [
      "FAMILY  CLUSTER CIDR   NODE MASK  NODES  PODS A NODE",
      "IPv4    10.244.0.0/16  /24          256          253",
      "",
      "Node 257 would get no podCIDR, and its pods no address.",
      "Set kubelet's --max-pods to at most 253.",
      "",
      "Node masks for 10.244.0.0/16 (IPv4):",
      "",
      "NODE MASK  NODES  PODS A NODE",
      "/21           32         2045",
      "/22           64         1021",
      "/23          128          509",
      "/24          256          253",
      "/25          512          125",
      "/26         1024           61",
      "/27         2048           29",
      "",
    ].join("\n"),
  );
  t.end();
});

test("a /12 cut into /16 holds 16 nodes: the seventeenth gets none", (t) => {
  const words = "plan --cluster-cidr 10.240.0.0/12 --node-cidr-mask-size 16 --nodes 17".split(" ");
  const { exitCode, stdout } = tool(words);

  t.equal(exitCode, 1);
  t.match(
    stdout,
    "17 nodes do not fit: there are 16 blocks of /16, so 1 node would get no podCIDR",
  );
  t.end();
});

test("a /12 cut into /24 holds 4096", (t) => {
  const { exitCode, stdout } = tool(
    "plan --cluster-cidr 10.240.0.0/12 --node-cidr-mask-size 24 --nodes 4096".split(" "),
  );

  t.equal(exitCode, 0);
  t.match(stdout, /^IPv4 {4}10\.240\.0\.0\/12 {2}\/24 +4096 +253$/m);
  t.end();
});

test("a /30 holds one pod, a /29 five", (t) => {
  for (const [mask, pods] of [
    [30, 1],
    [29, 5],
  ]) {
    const { stdout } = tool(["plan", "--node-cidr-mask-size", `${mask}`, "--nodes", "1"]);
    t.match(stdout, new RegExp(`^IPv4 .* /${mask} +1 +${pods}$`, "m"));
  }
  t.end();
});

test("from nodes and pods to the rest, in IPv4 and IPv6", (t) => {
  const four = tool("plan --nodes 300 --pods 110".split(" "));
  t.equal(four.exitCode, 0);
  t.match(four.stdout, /^IPv4 +\/\d+ +\/\d+ /m);

  const six = tool("plan --cluster-cidr fd00:10::/48 --node-cidr-mask-size-ipv6 64".split(" "));
  t.equal(six.exitCode, 0);
  t.match(six.stdout, /^IPv6 +fd00:10::\/48 +\/64 +65536 +18446744073709551614$/m);
  t.end();
});

test("a change of the settings says who keeps a block, who is left without, and what may overlap", (t) => {
  const { exitCode, stdout } = tool(
    "plan --cluster-cidr 10.240.0.0/12 --node-cidr-mask-size 16 --was-cluster-cidr 10.244.0.0/16 --was-node-cidr-mask-size 24 --nodes 40".split(
      " ",
    ),
  );

  t.equal(exitCode, 1);
  t.match(
    stdout,
    /^IPv4 +10\.244\.0\.0\/16 by \/24 +10\.240\.0\.0\/12 by \/16 +0 +256 +0 +1 +15$/m,
  );
  t.match(stdout, "40 nodes do not fit: there are 16 blocks of /16");
  t.match(stdout, "1 block of /16 shares addresses with them");
  t.end();
});

test("the document has the same, with exact numbers", (t) => {
  const { stdout } = tool(
    "plan --cluster-cidr 10.244.0.0/16 --node-cidr-mask-size 24 --json".split(" "),
  );

  t.match(JSON.stringify(parse(stdout)), /256/);
  t.match(JSON.stringify(parse(stdout)), /253/);
  t.end();
});

test("what cannot be planned is exit code 2", (t) => {
  for (const words of [
    ["plan"],
    ["plan", "--nodes", "many", "--pods", "1"],
    ["plan", "--cluster-cidr", "10.244.0.0", "--nodes", "1"],
    ["plan", "--cluster-cidr", "10.244.0.0/16", "--node-cidr-mask-size", "33"],
  ]) {
    const { exitCode, stderr } = tool(words);
    t.equal(exitCode, 2, words.join(" "));
    t.match(stderr, /^host-local: /);
  }
  t.end();
});
