/** What the verbs append to the history. */

import { test } from "tap";
import { parseRecords } from "../../src/store/history/history-record.ts";
import { refuse } from "../harness/interruption.ts";
import { DATA_DIRECTORY, MemoryMachine } from "../harness/memory-machine.ts";
import { type CallOptions, Network } from "../harness/network.ts";

const PATH = `${DATA_DIRECTORY}/.host-local/net/history`;

const dualStack = { ranges: [[{ subnet: "10.0.0.0/29" }], [{ subnet: "2001:db8::/125" }]] };

/** As containerd calls it by way of the `bridge` plugin. */
const asKubernetes: CallOptions = {
  cniArgs: "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web",
};

function networkWith(ipam: object = { history: true }): Network {
  return new Network(new MemoryMachine(), { ...dualStack, ...ipam });
}

/** What the history tells, without times. */
function told({ machine }: Network): readonly string[] {
  if (!machine.disk.has(PATH)) return [];
  return parseRecords(machine.disk.readFile(PATH, 1e6)).map(
    ({ verb, address, container, interfaceName, pod }) =>
      [verb, address, container, interfaceName, pod || "-"].join(" "),
  );
}

test("ADD, DEL and GC tell what they reserved and released, and for whom", async (t) => {
  const network = networkWith();
  t.equal(network.add("c1", asKubernetes).stderr, "");
  network.add("c2");
  network.del("c1", asKubernetes);
  network.del("c1", asKubernetes);
  network.gc([]);
  network.gc([]);

  t.strictSame(told(network), [
    "ADD 10.0.0.2 c1 eth0 default/web",
    "ADD 2001:db8::2 c1 eth0 default/web",
    "ADD 10.0.0.3 c2 eth0 -",
    "ADD 2001:db8::3 c2 eth0 -",
    "DEL 10.0.0.2 c1 eth0 default/web",
    "DEL 2001:db8::2 c1 eth0 default/web",
    "GC 10.0.0.3 c2 eth0 -",
    "GC 2001:db8::3 c2 eth0 -",
  ]);
});

test("without the key there is no further system call", async (t) => {
  for (const history of [undefined, null, false]) {
    const network = networkWith({ history });
    const plain = networkWith({});
    for (const verb of ["ADD", "DEL"]) {
      const { calls } = network.call(verb, "c1", asKubernetes);
      t.strictSame(calls, plain.call(verb, "c1", asKubernetes).calls);
    }
    t.strictSame(told(network), []);
  }
});

test("an ADD whose result cannot be delivered is undone in the history, too", async (t) => {
  const network = networkWith({ subnet: "10.0.0.0/29", ranges: [], history: {} });
  const interrupt = refuse("writeStandardOutput", "EPIPE");

  network.add("c1", { ...asKubernetes, interrupt });

  t.strictSame(told(network), [
    "ADD 10.0.0.2 c1 eth0 default/web",
    "UNDO 10.0.0.2 c1 eth0 default/web",
  ]);
});

test("a call without the lock says that it is missing in the history", async (t) => {
  const network = networkWith();
  network.add("c1");
  const { length } = told(network);
  const { exitCode, stderr } = network.del("c1", { interrupt: refuse("lock", "EROFS") });
  t.equal(exitCode, 0);
  t.match(stderr, /^host-local: this call is missing in the history: lock .*\n$/);
  t.equal(told(network).length, length);
});
