import { test } from "tap";
import type { MemoryDisk } from "../harness/memory-disk.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";

const CURSOR = "/var/lib/cni/networks/net/last_reserved_ip.0";
const subnet = { subnet: "10.0.0.0/29" };
const strict = { exhaustedStatus: "unavailable" };

test("a resolvConf that is missing counts where the runtime sends the ranges, too", async (t) => {
  const network = new Network(new MemoryMachine(), { resolvConf: "/none" });

  const { error } = network.status();

  t.match(error, { code: 50, msg: "open /none: no such file or directory", details: /resolvConf/ });
});

for (const [what, make] of [
  ["a directory", (disk: MemoryDisk, path: string) => disk.makeDirectories(path)],
  ["a link to one", (disk: MemoryDisk, path: string) => disk.putLink(path, "/var")],
] as const) {
  test(`with ${what} in the place of a cursor, STATUS fails exactly if ADD does`, async (t) => {
    const network = new Network(new MemoryMachine(), { ...subnet, ...strict });
    network.add("c1");
    network.machine.disk.removeAll(CURSOR);
    make(network.machine.disk, CURSOR);

    const { error } = network.status();

    t.equal(error === undefined, network.add("c2").error === undefined);
    t.equal(error?.code, what === "a directory" ? 50 : undefined);
  });
}
