import { test } from "tap";
import { LinkedAddresses } from "../../../src/store/namespaces/linked-addresses.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";
import { address } from "../../ipam/parsed.ts";

/** Lines of the kernel's answer, by family. */
const lines = {
  4: ["a000002 7", "1a000002 8", "a000003 -", "a000002 12", "a000002f 3"],
  6: ["20010db8000000000000000000000002 7", "1 -"],
};

test("an address has the namespaces whose lines begin with it, and no others", async (t) => {
  const process = new MemoryMachine().start();
  process.linkedAddresses = (family) => lines[family].map((line) => `${line}\n`).join("");
  const linked = new LinkedAddresses(process);
  t.same(linked.with(address("10.0.0.2")), [7, 12]);
  t.same(linked.with(address("10.0.0.3")), ["node"]);
  t.same(linked.with(address("10.0.0.4")), []);
  t.same(linked.with(address("26.0.0.2")), [8], "its digits end as those of another one");
  t.same(linked.with(address("2001:db8::2")), [7]);
  t.same(linked.with(address("::1")), ["node"]);
});
