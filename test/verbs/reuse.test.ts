/** How addresses are used again: `reuseDelaySeconds` and `sticky`. */

import { test } from "tap";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { type Answer, Network } from "../harness/network.ts";

const subnet = "10.0.0.0/29";

function network(ipam: object): Network {
  return new Network(new MemoryMachine(), { subnet, ...ipam });
}

function last({ addresses }: Answer): string | undefined {
  return /\.(\d+)$/.exec(addresses[0] ?? "")?.[1];
}

function podOptions(name: string): { readonly cniArgs: string } {
  return { cniArgs: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${name}` };
}

test("GC's releases cool down, too, and those of the Go plugin once they are noticed", async (t) => {
  const net = network({ reuseDelaySeconds: 30 });
  for (let at = 2; at <= 5; at++) net.add(`c${at}`);
  net.gc(["c2 eth0", "c3 eth0", "c4 eth0"]);
  net.machine.disk.unlink(`${net.directory}/10.0.0.4`);
  net.machine.disk.put(`${net.directory}/last_reserved_ip.0`, "10.0.0.3");

  t.same(
    ["x", "y", "z"].map((id) => last(net.add(id))),
    ["6", "5", "4"],
  );
});

test("the memory lasts for stickySeconds from the release on, over boots, whoever releases", async (t) => {
  const prepare = (release: (net: Network) => void): Network => {
    const net = network({ sticky: "pod", stickySeconds: 60 });
    net.add("a1", podOptions("web-0"));
    net.machine.wait(3_600_000);
    net.add("other", podOptions("other"));
    release(net);
    net.machine.boot();
    return net;
  };
  const del = prepare((net) => net.del("a1"));
  del.machine.wait(57_000);
  t.equal(last(del.add("a2", podOptions("web-0"))), "2");
  const gc = prepare((net) => net.gc(["other eth0"]));
  t.equal(last(gc.add("a2", podOptions("web-0"))), "2");
  const late = prepare((net) => net.del("a1"));
  late.machine.wait(61_000);
  t.equal(last(late.add("a2", podOptions("web-0"))), "4");
});

test("with the keys off no call makes a system call for them, not even where files are left", async (t) => {
  const calls = (net: Network): readonly string[] => {
    net.add("a");
    net.del("a");
    const made = [net.add("b", podOptions("b")), net.del("b")].flatMap((answer) => answer.calls);
    return made.map(({ operation, path }) => `${operation} ${path.replace(/\d+\.0$/, "")}`);
  };
  const plain = network({});
  const before = network({ sticky: "pod", reuseDelaySeconds: 30 });
  before.add("x", podOptions("x"));
  before.del("x");
  const off = new Network(before.machine, { subnet });

  t.same(calls(plain).length, calls(off).length);
  t.same(
    calls(plain).filter((call) => /\/reuse|machine-id/.test(call)),
    [],
  );
});
