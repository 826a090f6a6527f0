/** The links of the node, of which the kernel tells. */

import { test } from "tap";
import { readLinks } from "../../../src/operator/facts/links.ts";
import { linksText } from "../../harness/network-links.ts";

const text = linksText({
  lo: ["127.0.0.1/8"],
  veth1: { kind: "veth", master: "cni0", otherEnd: 7 },
  cni0: { kind: "bridge", addresses: ["10.1.2.1/24", "fd00:0:0:0:0:0:0:1/64"] },
  veth2: { kind: "veth", isDown: true },
});

test("what the kernel tells twice, as in a list that was changed meanwhile, is once there", async (t) => {
  const links = readLinks({ networkLinks: () => text.replaceAll(/^.*$/gm, "$&\n$&") });
  t.equal(links?.size, 4);
  t.equal(links?.get("cni0")?.addresses.length, 2);
});
