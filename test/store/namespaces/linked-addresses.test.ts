import { test } from "tap";
import { parseAddress } from "../../../src/ipam/address.ts";
import { LinkedAddresses } from "../../../src/store/namespaces/linked-addresses.ts";
import { SystemError } from "../../../src/system/system.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

/** The addresses where the kernel answers with these lines, of either family. */
function linkedBy(lines: Readonly<Record<4 | 6, readonly string[]>>, caller?: string) {
  const asked: unknown[] = [];
  const process = new MemoryMachine().start();
  process.linkedAddresses = (family, but) => {
    asked.push([family, but]);
    return lines[family].map((line) => `${line}\n`).join("");
  };
  return { linked: new LinkedAddresses(process, caller), asked };
}

function address(text: string) {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
}

const lines = {
  4: ["a000002 7", "1a000002 8", "a000003 -", "a000002 12", "a000002f 3"],
  6: ["20010db8000000000000000000000002 7", "1 -"],
};

test("an address has the namespaces whose lines begin with it, and no others", async (t) => {
  const { linked } = linkedBy(lines);
  t.same(linked.with(address("10.0.0.2")), [7, 12]);
  t.same(linked.with(address("10.0.0.3")), ["node"]);
  t.same(linked.with(address("10.0.0.4")), []);
  t.same(linked.with(address("26.0.0.2")), [8], "its digits end as those of another one");
  t.same(linked.with(address("2001:db8::2")), [7]);
  t.same(linked.with(address("::1")), ["node"]);
});

test("all addresses are there in their canonical form", async (t) => {
  const { linked } = linkedBy({
    4: ["a000002 7", "a000002 7", "a000002 -"],
    6: ["fe800000000000000000000000000001 7"],
  });
  t.same(
    [...linked.all()].map(([text, namespaces]) => [text, [...namespaces]]),
    [
      ["10.0.0.2", [7, "node"]],
      ["fe80::1", [7]],
    ],
  );
});

test("the kernel is asked once a family, for the caller", async (t) => {
  const { linked, asked } = linkedBy(lines, "/run/netns/c1");
  linked.with(address("10.0.0.2"));
  t.same(asked, [[4, "/run/netns/c1"]], "of the other family nothing is asked");
  linked.with(address("10.0.0.3"));
  linked.with(address("::1"));
  linked.all();
  t.same(asked, [
    [4, "/run/netns/c1"],
    [6, "/run/netns/c1"],
  ]);
});

test("where it is not to be asked, nothing is seen, and that is said", async (t) => {
  const process = new MemoryMachine().start();
  process.linkedAddresses = () => {
    throw new SystemError("socket", "route", "EAFNOSUPPORT");
  };
  const linked = new LinkedAddresses(process);
  t.same(linked.with(address("10.0.0.2")), []);
  t.ok(linked.isUnseen(address("10.0.0.2")));
  t.same([...linked.all()], []);
  t.notOk(linkedBy({ 4: [], 6: [] }).linked.isUnseen(address("10.0.0.2")));
});
