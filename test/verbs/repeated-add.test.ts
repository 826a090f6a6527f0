import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "../harness/network.ts";

/** A network that answers a repeated ADD as the first one. */
function repeating(): Network {
  return new Network(new MemoryMachine(), { repeatedAdd: "same", subnet: "10.0.0.0/29" });
}

test("a repeated ADD takes the lock once, and changes nothing under it", (t) => {
  const network = repeating();
  network.add("c1");

  const operations = network.add("c1").calls.map(({ operation }) => operation);

  t.equal(operations.filter((operation) => operation === "lock").length, 1);
  for (const change of ["createFile", "link", "symlink", "overwriteFile", "rename", "unlink"]) {
    t.notOk(operations.includes(change as never), change);
  }
  t.end();
});

test("an answer that cannot be delivered leaves the addresses with the attachment", (t) => {
  const network = repeating();
  network.add("c1");

  const answer = network.add("c1", { interrupt: refuse("writeStandardOutput", "EPIPE") });

  t.equal(answer.exitCode, 1);
  t.same(network.reservations(), { "10.0.0.2": "c1\r\neth0" });
  t.end();
});
