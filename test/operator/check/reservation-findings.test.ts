/** What is found of the files of reservations. */

import { test } from "tap";
import { configure, findingsOn, memoryNode } from "../memory-node.ts";

test("files that are dated ahead of the clock are told once a network", async (t) => {
  const machine = memoryNode({ "10.1.2.2": "c2\r\neth0", "10.1.2.3": "c3\r\neth0" });
  configure(machine, "net.conf", {
    cniVersion: "1.1.0",
    name: "net",
    type: "ptp",
    ipam: { type: "host-local", subnet: "10.1.2.0/24" },
  });
  const datedAhead = (): readonly string[] =>
    findingsOn(machine)
      .filter(({ code }) => code === "dated-ahead")
      .map(({ severity, message }) => `${severity}: ${message}`);
  const path = (name: string): string => `/data/net/${name}`;
  const date = (name: string, seconds: bigint): void => {
    const { modified } = machine.disk.linkStatus(path(name));
    machine.disk.setModified(path(name), modified + seconds * 1_000_000_000n);
  };
  date("10.1.2.2", 30n);
  t.strictSame(datedAhead(), [], "a clock need not be exact");

  for (const name of ["10.1.2.2", "10.1.2.3"]) date(name, 3600n);
  const [found = "", ...others] = datedAhead();
  t.match(found, /^info: 2 files dated ahead of the clock, such as 10\.1\.2\.2: \d{4}-/);
  t.strictSame(others, []);
});
