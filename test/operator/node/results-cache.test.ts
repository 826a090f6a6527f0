/** What is read of the entries of libcni's cache, in the form that libcni gives them and in others. */

import { test } from "tap";
import { ResultsCache } from "../../../src/operator/node/results-cache.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { contextOf, startOperator } from "../memory-node.ts";

/** The members of an entry, in libcni's order. */
const entry = {
  kind: "cniCacheV1",
  containerId: "c1",
  config: "eyJuYW1lIjoibmV0In0=",
  ifName: "eth0",
  networkName: "net",
  netns: "/run/netns/cni-1",
  cniArgs: [
    ["K8S_POD_NAMESPACE", "default"],
    ["K8S_POD_NAME", "web"],
  ],
  result: { cniVersion: "1.0.0", ips: [{ address: "10.7.9.2/24" }] },
};

const attachment = {
  network: "net",
  containerId: "c1",
  interfaceName: "eth0",
  networkNamespace: "/run/netns/cni-1",
  addresses: ["10.7.9.2"],
  pod: "default/web",
};

/** The attachments in a cache with one entry. */
function read(text: string) {
  const machine = new MemoryMachine();
  const directory = "/var/lib/cni/results";
  machine.disk.makeDirectories(directory);
  machine.disk.put(`${directory}/net-c1-eth0`, text);
  const { attachments } = new ResultsCache(contextOf(startOperator(machine).system));
  return attachments.map(
    ({ network, containerId, interfaceName, networkNamespace, addresses, pod }) => {
      return { network, containerId, interfaceName, networkNamespace, addresses, pod };
    },
  );
}

test("an entry says the same in libcni's form and in others", (t) => {
  const { kind, containerId, ...rest } = entry;
  const forms: Readonly<Record<string, string>> = {
    "libcni's": JSON.stringify(entry),
    "in another order": JSON.stringify({ ...rest, containerId, kind }),
    "on several lines": JSON.stringify(entry, undefined, 2),
    "with an escape sequence": JSON.stringify(entry).replace('"c1"', '"\\u00631"'),
  };
  for (const [form, text] of Object.entries(forms)) t.strictSame(read(text), [attachment], form);
  t.end();
});

test("a name may be that of a member", (t) => {
  for (const name of ["netns", "result", "cniArgs", "networkName"]) {
    t.strictSame(
      read(JSON.stringify({ ...entry, networkName: name })),
      [{ ...attachment, network: name }],
      `network ${name}`,
    );
  }
  const named = { ...entry, containerId: "netns", ifName: "netns", networkName: "netns" };
  t.match(read(JSON.stringify(named)), [{ addresses: ["10.7.9.2"], pod: "default/web" }]);
  t.end();
});

test("an entry that was cut off says nothing", (t) => {
  const text = JSON.stringify(entry);
  for (const length of [0, 20, 90, 140, text.length - 2]) {
    t.strictSame(read(text.slice(0, length)), [], `${length} characters`);
  }
  t.end();
});
