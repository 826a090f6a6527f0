/** How addresses are used again: `reuseDelaySeconds` and `sticky`. */

import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { type Answer, Network } from "../harness/network.ts";

const STATE = "/var/lib/cni/networks/.host-local/net";
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

test("a /29 under churn: no address is used again within the delay while another is free", async (t) => {
  const delay = 30;
  const net = network({ reuseDelaySeconds: delay });
  const released = new Map<string, number>();
  net.add("stays1");
  net.add("stays2");
  const violations: string[] = [];
  for (let round = 0; round < 40; round++) {
    const address = net.add(`c${round}`).addresses[0] ?? "";
    const age = net.machine.time - (released.get(address) ?? 0);
    if (age < delay * 1000) violations.push(`round ${round}: ${address} after ${age} ms`);
    net.machine.wait(1000);
    net.del(`c${round}`);
    released.set(address, net.machine.time);
    // Three addresses in turn, each of them free for longer than the delay.
    net.machine.wait(11_000);
  }
  t.same(violations, []);
  t.ok(released.size >= 3);
});

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

test("a release by the Go plugin begins the time, too, once a call here finds the address free", async (t) => {
  const prepare = (): Network => {
    const net = network({ sticky: "pod", stickySeconds: 60 });
    net.add("a1", podOptions("web-0"));
    net.machine.wait(3_600_000);
    net.machine.disk.unlink(`${net.directory}/10.0.0.2`);
    return net;
  };
  t.equal(last(prepare().add("a2", podOptions("web-0"))), "2", "the pod's own ADD");
  const net = prepare();
  net.add("other", podOptions("other"));
  net.machine.wait(59_000);
  t.equal(last(net.add("a2", podOptions("web-0"))), "2", "the ADD of another pod");
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
    calls(plain).filter((call) => /\/reuse|before-boot|machine-id/.test(call)),
    [],
  );
});

test("what an ADD reserves and gives back at once was nobody's: it does not cool down", async (t) => {
  const net = network({ reuseDelaySeconds: 30 });
  net.add("c1");
  const { error } = net.add("c2", {
    interrupt: refuse("overwriteFile", "EIO", `${net.directory}/last_reserved_ip.0`),
  });

  t.match(error?.msg, "last_reserved_ip.0");
  t.same(Object.keys(net.reservations()), ["10.0.0.2"]);
  t.notOk(net.machine.disk.has(`${STATE}/reuse`));
});
