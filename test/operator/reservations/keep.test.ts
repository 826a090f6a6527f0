import { test } from "tap";
import type { NetworkName } from "../../../src/cni/call.ts";
import { keep, keepNoLonger } from "../../../src/operator/reservations/keep.ts";
import { openNetwork } from "../../../src/store/files/network-files.ts";
import { reclaimable } from "../../../src/store/journal/earlier-boots.ts";
import { withLock } from "../../../src/store/lock.ts";
import type { LockedNetwork } from "../../../src/store/locked-network.ts";
import { hasKept, readKept } from "../../../src/store/reservations/kept.ts";
import { parsePodName } from "../../../src/store/reservations/owner.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { Network } from "../../harness/network.ts";
import { address } from "../../ipam/parsed.ts";

const pod = parsePodName("default/db-0");
const kept = address("10.0.0.4");

/** Runs something under the lock of the network. */
function locked<T>({ machine }: Network, body: (network: LockedNetwork) => T): T {
  return withLock(filesOf(machine), { timeoutSeconds: 1 }, body);
}

function filesOf(machine: MemoryMachine) {
  return openNetwork(machine.start(), machine.dataDirectory, "net" as NetworkName);
}

test("keep reserves a free address, for a pod or for nobody, whom it may change", (t) => {
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/29" });
  for (const [whom, text] of [
    [pod, "default/db-0"],
    [undefined, "nobody"],
  ] as const) {
    t.same(
      locked(network, (one) => keep(one, kept, whom)),
      { kind: "kept", pod: whom },
    );
    t.same(network.reservations(), { "10.0.0.4": `kept by host-local reserve for ${text}` });
    t.same(
      readKept(filesOf(network.machine)).map((one) => one.pod),
      [whom],
    );
  }
  t.end();
});

test("keep leaves an address to its holder, and says who that is", (t) => {
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/29" });
  network.add("c1");

  const owner = locked(network, (one) => keep(one, address("10.0.0.2"), pod));

  t.match(owner, { kind: "attachment", containerId: "c1" });
  t.same(network.reservations(), { "10.0.0.2": "c1\r\neth0" });
  network.del("c1");
  t.same(network.reservations(), { "10.0.0.2": "kept by host-local reserve for default/db-0" });
  t.end();
});

test("keepNoLonger frees an address, or leaves it to its holder", (t) => {
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/29" });
  locked(network, (one) => keep(one, kept, pod));
  locked(network, (one) => keep(one, address("10.0.0.5"), undefined));

  t.equal(
    locked(network, (one) => keepNoLonger(one, kept)),
    undefined,
  );
  t.same(Object.keys(network.reservations()), ["10.0.0.5"]);

  network.add("c1");
  locked(network, (one) => keep(one, address("10.0.0.2"), pod));
  t.match(
    locked(network, (one) => keepNoLonger(one, address("10.0.0.2"))),
    { containerId: "c1" },
  );
  network.del("c1");
  t.same(Object.keys(network.reservations()), ["10.0.0.5"]);
  t.same(
    readKept(filesOf(network.machine)).map(({ name }) => name),
    ["10.0.0.5"],
  );
  for (const one of [address("10.0.0.5"), address("10.0.0.6")]) {
    t.equal(
      locked(network, (held) => keepNoLonger(held, one)),
      undefined,
    );
  }
  t.equal(hasKept(filesOf(network.machine)), false);
  t.end();
});

test("keep, as the first call of a boot, notes what is from before it", (t) => {
  const network = new Network(new MemoryMachine(), { subnet: "10.0.0.0/29" });
  network.add("c1");
  network.machine.wait(5000);
  network.machine.boot();

  locked(network, (one) => keep(one, kept, pod));

  t.same(
    [...reclaimable(filesOf(network.machine), () => true)].map(({ note }) => note.name),
    ["10.0.0.2"],
  );
  t.end();
});
