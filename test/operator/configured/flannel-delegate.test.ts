/** What flannel sends its delegate, see github.com/flannel-io/cni-plugin: doCmdAdd and getDelegateIPAM. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { flannelDelegate } from "../../../src/operator/configured/flannel-delegate.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

const SUBNET_FILE = "/run/flannel/subnet.env";

const DUAL = `FLANNEL_NETWORK=10.244.0.0/16
FLANNEL_SUBNET=10.244.3.1/24
FLANNEL_IPV6_NETWORK=fd00:10:244::/48
FLANNEL_IPV6_SUBNET=fd00:10:244:3::1/64
FLANNEL_MTU=1450
FLANNEL_IPMASQ=true
`;

function delegateOf(
  plugin: JsonObject,
  subnetEnv: string = DUAL,
): { readonly delegate: JsonObject; readonly problems: readonly string[] } {
  const machine = new MemoryMachine();
  if (subnetEnv !== "") machine.disk.put(SUBNET_FILE, subnetEnv);
  const problems: string[] = [];
  const document = { type: "flannel", name: "cbr0", cniVersion: "0.3.1", ...plugin };
  const delegate = flannelDelegate(machine.start(), document, (problem) => problems.push(problem));
  return { delegate, problems };
}

test("by default it is a bridge with the gateway's address, and a range set for each family", async (t) => {
  const { delegate, problems } = delegateOf({});
  t.match(delegate, { name: "cbr0", cniVersion: "0.3.1", type: "bridge", isGateway: true });
  t.strictSame(delegate.ipam, {
    type: "host-local",
    ranges: [[{ subnet: "10.244.3.0/24" }], [{ subnet: "fd00:10:244:3::/64" }]],
  });
  t.strictSame(problems, []);
});

test("what is in delegate stays, and the keys of ipam", async (t) => {
  const { delegate } = delegateOf({
    delegate: { bridge: "kube0", isGateway: false, forceAddress: true },
    ipam: { dataDir: "/srv/networks" },
    capabilities: { ipRanges: true },
  });
  t.match(delegate, { type: "bridge", bridge: "kube0", isGateway: false, forceAddress: true });
  t.match(delegate, { ipam: { dataDir: "/srv/networks" }, capabilities: { ipRanges: true } });
});

test("only a bridge gets isGateway", async (t) => {
  t.equal(delegateOf({ delegate: { type: "ipvlan" } }).delegate.isGateway, undefined);
});

test("without its file it has no ranges, and is a bridge still", async (t) => {
  const { delegate, problems } = delegateOf({}, "");
  t.match(delegate, { type: "bridge", isGateway: true });
  t.strictSame((delegate?.ipam as { ranges?: unknown } | undefined)?.ranges, []);
  t.match(problems, [/^cannot read the subnets of flannel: .*no such file/]);
});
