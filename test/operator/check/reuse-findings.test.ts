// test: each executable, one if short
/** What `check` says of a delay that is too short, and of ranges that are too small for theirs. */

import { existsSync } from "node:fs";
import { type Test, test } from "tap";
import { type Node, nodeFor } from "../node.ts";

const skip = existsSync("/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_syn_sent")
  ? false
  : "The kernel has no conntrack here.";

/** Five addresses, and a delay that no conntrack exceeds. */
const five = { subnet: "10.7.43.0/29", reuseDelaySeconds: 36_000 };

function nodeWith(t: Test, ipam: Parameters<Node["network"]>[1], pods: number): Node {
  const node = nodeFor(t);
  node.network("net", ipam);
  for (let at = 1; at <= pods; at++) node.call("ADD", "net", `c${at}`);
  return node;
}

/** Codes and messages of the findings on the delay. */
function findingsOf(node: Node): readonly string[] {
  return node
    .findings()
    .filter(({ code }) => code.startsWith("reuse-"))
    .map(({ code, message }) => `${code}: ${message}`);
}

test("a delay that is shorter than conntrack's is named, one as long or longer not", {
  skip,
}, async (t) => {
  const [found = ""] = findingsOf(nodeWith(t, { ...five, reuseDelaySeconds: 0.5 }, 0));
  t.match(found, /^reuse-delay-short: reuseDelaySeconds is 0.5, but conntrack .* [0-9]+ seconds /);

  for (const reuseDelaySeconds of ["conntrack", 36_000, 0]) {
    t.same(findingsOf(nodeWith(t, { ...five, reuseDelaySeconds }, 0)), []);
  }
});

test("a range is too small where all that is free was released a moment ago", async (t) => {
  const node = nodeWith(t, five, 4);
  node.call("DEL", "net", "c1");
  t.same(findingsOf(node), [], "10.7.43.6 is still fresh");

  node.call("ADD", "net", "c5");

  t.same(findingsOf(node), [
    "reuse-delay-missed: 10.7.43.1-10.7.43.6 is turned over faster than reuseDelaySeconds (36000): all free addresses (1) were released later than that, and the next pod gets one of them",
  ]);
  node.call("ADD", "net", "c6");
  t.same(findingsOf(node), [], "a full range is another finding");
});

test("the history tells which addresses came too soon, except to the pod that had them", async (t) => {
  const pod = { cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0" };
  const ipam = { ...five, sticky: "pod", history: true };
  const node = nodeWith(t, ipam, 4);
  node.add("net", ipam, "c5", pod);
  node.call("DEL", "net", "c5");
  node.add("net", ipam, "c6", pod);
  t.same(findingsOf(node), []);

  node.call("DEL", "net", "c1");
  node.call("ADD", "net", "c7");

  t.match(findingsOf(node), [
    /^reuse-delay-missed: .+: in the last day 1 address came too soon, at the earliest [0-9]+s after the release$/,
  ]);
});
