import { test } from "tap";
import { interfacesAmong } from "../../../src/operator/check/bridge-findings.ts";
import { address } from "../../ipam/parsed.ts";

test("what ip -json address prints, without link-local addresses", async (t) => {
  const listed = [
    { ifname: "lo", addr_info: [{ family: "inet", local: "127.0.0.1", prefixlen: 8 }] },
    {
      ifname: "cni0",
      addr_info: [
        { family: "inet", local: "10.1.2.1", prefixlen: 24, scope: "global" },
        { family: "inet6", local: "fd00::1", prefixlen: 64, scope: "global" },
        { family: "inet6", local: "fe80::1", prefixlen: 64, scope: "link" },
        { family: "mctp", local: 8 },
      ],
    },
    { ifname: "veth0" },
    {},
  ];

  t.same(interfacesAmong(listed).get("cni0"), [
    { address: address("10.1.2.1"), prefixLength: 24 },
    { address: address("fd00::1"), prefixLength: 64 },
  ]);
  t.same(interfacesAmong(listed).get("veth0"), []);
  t.equal(interfacesAmong(listed).get("eth0"), undefined);
});
