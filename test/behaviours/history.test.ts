// test: each executable, one if short
/** With `"history": true` each ADD, DEL and GC tells whose address it was. */

import type { Machine } from "../harness/machine.ts";
import type { Network } from "../harness/network.ts";
import { behaviour, dualStack } from "./behaviour.ts";

const ipam = { ...dualStack, history: true };

const PATH = ".host-local/net/history";

/** The words of each line without its time, which differs between machines. */
function told({ machine }: Network<Machine>): readonly string[] {
  const text = machine.tree().find(({ path }) => path === PATH)?.content ?? "";
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split(" ").slice(1).join(" "));
}

behaviour(
  "CHECK, STATUS and a refused or repeated ADD tell nothing",
  { ipam: { ...ipam, repeatedAdd: "same" } },
  (t, network) => {
    network.add("c1");
    const before = told(network);

    network.check("c1");
    network.status();
    network.add("c1");
    t.equal(network.add("c2", { cniArgs: "IP=198.51.100.2" }).exitCode, 1);
    const full = { subnet: "203.0.113.0/30", rangeStart: "203.0.113.2", gateway: "203.0.113.2" };
    const ranges = [...dualStack.ranges, [full]];
    t.equal(network.add("c2", { ipam: { ranges } }).exitCode, 1);

    t.strictSame(told(network), before);
  },
);

behaviour(
  "ADD that takes over an empty file tells that, too",
  { ipam: { subnet: "198.51.100.0/30", history: {} }, files: { "198.51.100.2": "" } },
  (t, network) => {
    network.machine.makeOld("net/198.51.100.2");

    network.add("c1");

    t.strictSame(told(network), ["RECLAIM 198.51.100.2 - - -", "ADD 198.51.100.2 c1 eth0 -"]);
  },
);

behaviour(
  "DEL with invalid arguments tells what it can, with an invalid key nothing",
  { ipam },
  (t, network) => {
    network.add("c1");
    t.equal(network.del("c1", { cniArgs: "K8S_POD_NAME=a=b;garbage" }).exitCode, 0);
    t.equal(told(network).at(-1), "DEL 2001:db8::2 c1 eth0 a=b");

    network.add("c1");
    const { length } = told(network);
    t.equal(network.del("c1", { ipam: { history: "yes" } }).exitCode, 0);
    t.equal(told(network).length, length);
  },
);

behaviour(
  "ADD and DEL that cannot keep the history succeed, and say so in one line",
  { ipam },
  (t, network) => {
    network.machine.put(`${PATH}/`, "");

    const { addresses, stderr } = network.add("c1");

    t.equal(addresses.length, 2);
    t.match(stderr, /^host-local: this call is missing in the history: open .+: .+\n$/);
    t.equal(network.del("c1").exitCode, 0);
    t.same(network.reserved(), []);
  },
);
