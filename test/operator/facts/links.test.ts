/** The links of the node, of which the kernel tells. */

import { test } from "tap";
import { type Links, portsOf, readLinks } from "../../../src/operator/facts/links.ts";
import { createNodeOperatorSystem } from "../../../src/system/node/operator-system.ts";
import { SystemError } from "../../../src/system/system.ts";
import { linksText } from "../../harness/network-links.ts";

const text = linksText({
  lo: ["127.0.0.1/8"],
  veth1: { kind: "veth", master: "cni0", otherEnd: 7 },
  cni0: { kind: "bridge", addresses: ["10.1.2.1/24", "fd00:0:0:0:0:0:0:1/64"] },
  veth2: { kind: "veth", isDown: true },
});

test("interfaces are told with their addresses, kinds and states", async (t) => {
  const links = readLinks({ networkLinks: () => text });
  t.same(
    [...(links?.values() ?? [])].map(({ name, kind, isUp, otherEnd, addresses }) => [
      ...[name, kind, isUp, otherEnd],
      addresses.map(({ prefixLength }) => prefixLength),
    ]),
    [
      ["lo", "-", true, -1, [8]],
      ["veth1", "veth", true, 7, []],
      ["cni0", "bridge", true, -1, [24, 64]],
      ["veth2", "veth", false, -1, []],
    ],
  );
});

test("the ports of a bridge are those that have it as their master", async (t) => {
  const links: Links = readLinks({ networkLinks: () => text }) ?? new Map();
  const bridge = links.get("cni0");
  t.same(bridge && portsOf(links, bridge).map(({ name }) => name), ["veth1"]);
});

test("what the kernel tells twice, as in a list that was changed meanwhile, is once there", async (t) => {
  const links = readLinks({ networkLinks: () => text.replaceAll(/^.*$/gm, "$&\n$&") });
  t.equal(links?.size, 4);
  t.equal(links?.get("cni0")?.addresses.length, 2);
});

test("where the kernel does not tell of interfaces, that is not that there are none", async (t) => {
  const networkLinks = (): never => {
    throw new SystemError("socket", "netlink", "EAFNOSUPPORT");
  };
  t.equal(readLinks({ networkLinks }), undefined);
});

test("of this machine the loopback interface is told", async (t) => {
  t.match(readLinks(createNodeOperatorSystem())?.get("lo"), { kind: "-", master: 0, otherEnd: -1 });
});
