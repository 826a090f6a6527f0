/** The checks of a storm find each violation, and report no false one. */

import { test } from "tap";
import { type Kind, Verifier } from "../../harness/violations.ts";
import type { Operation } from "./storm-log.ts";
import { type StormNetwork, wideNetworks } from "./storm-network.ts";
import { StormVerifier } from "./storm-verifier.ts";

const FULL = JSON.stringify({ code: 999, msg: "no IP addresses available in range set: x" });
const DUPLICATE = JSON.stringify({ code: 999, msg: "duplicate allocation is not allowed" });
const NOT_FOUND = JSON.stringify({ code: 999, msg: "Failed to find address added by container" });
const FULL_STATUS = JSON.stringify({ code: 50, msg: "no IP addresses available in range set: x" });

const X = "10.1.0.2";
const Y = "10.1.0.3";

/** One address, so that it is easily full. */
const tiny: StormNetwork = {
  name: "net",
  ranges: [],
  sets: [{ prefixes: ["10.1."], capacity: 1 }],
};

type Fields = Partial<Omit<Operation, "valid">> & { readonly valid?: readonly string[] };

/** A call that runs from `start` to `end` and works, unless the case says otherwise. */
function call(verb: Operation["verb"], start: number, end: number, fields: Fields = {}): Operation {
  const { valid, ...rest } = fields;
  return {
    network: "net",
    verb,
    program: "native",
    start,
    end,
    attachment: verb === "GC" || verb === "STATUS" ? undefined : "a",
    answer: "done",
    addresses: [],
    text: "",
    ...rest,
    valid: valid === undefined ? undefined : new Set(valid),
  };
}

const add = (start: number, end: number, attachment = "a", address = X): Operation =>
  call("ADD", start, end, { attachment, addresses: [address] });
const killedAdd = (start: number, end: number): Operation =>
  call("ADD", start, end, { answer: "killed" });
const del = (start: number, end: number, fields: Fields = {}): Operation =>
  call("DEL", start, end, fields);
const refused = (verb: Operation["verb"], start: number, end: number, text: string): Operation =>
  call(verb, start, end, { answer: "refused", text });

interface Case {
  readonly name: string;
  readonly log: readonly Operation[];
  /** What is on disk in the end: owners by address. */
  readonly disk?: Readonly<Record<string, string>>;
  readonly network?: StormNetwork;
  readonly boots?: readonly number[];
  readonly found: readonly Kind[];
}

const innocent: readonly Omit<Case, "found">[] = [
  { name: "one that lives", log: [add(1, 2)], disk: { [X]: "a" } },
  { name: "one that is deleted", log: [add(1, 2), del(3, 4)] },
  {
    name: "an address that goes from one to the other while the DEL still runs",
    log: [add(1, 2), del(3, 9), add(4, 5, "b")],
    disk: { [X]: "b" },
  },
  {
    name: "an address that a killed DEL may have freed",
    log: [add(1, 2), del(3, 4, { answer: "killed" }), add(5, 6, "b")],
    disk: { [X]: "b" },
  },
  {
    name: "one that is collected while it dies unheard",
    log: [add(1, 2), call("GC", 3, 9, { valid: ["b"] }), add(4, 5, "b")],
    disk: { [X]: "b" },
  },
  {
    name: "one that a GC lists",
    log: [add(1, 2), call("GC", 3, 4, { valid: ["a"] })],
    disk: { [X]: "a" },
  },
  {
    name: "an ADD beside a GC that does not know it yet",
    log: [add(1, 4), call("GC", 2, 3, { valid: [] }), call("CHECK", 5, 6)],
    disk: { [X]: "a" },
  },
  { name: "the same, where it was faster", log: [add(1, 4), call("GC", 2, 3, { valid: [] })] },
  { name: "a killed ADD that holds", log: [killedAdd(1, 2)], disk: { [X]: "a" } },
  { name: "a killed ADD that does not", log: [killedAdd(1, 2)] },
  { name: "a killed ADD, deleted", log: [killedAdd(1, 2), del(3, 4)] },
  {
    name: "a killed ADD whose result was out",
    log: [call("ADD", 1, 2, { answer: "killed", addresses: [X] })],
    disk: { [X]: "a" },
  },
  {
    name: "another ADD of one that lives is refused",
    log: [add(1, 2), refused("ADD", 3, 4, DUPLICATE)],
    disk: { [X]: "a" },
  },
  {
    name: "another ADD of one that lives is killed",
    log: [add(1, 2), killedAdd(3, 4)],
    disk: { [X]: "a" },
  },
  {
    name: "an ADD where all are taken",
    network: tiny,
    log: [add(1, 2, "b"), refused("ADD", 3, 4, FULL), refused("STATUS", 3, 4, FULL_STATUS)],
    disk: { [X]: "b" },
  },
  {
    name: "an ADD where a killed one may hold the last",
    network: tiny,
    log: [killedAdd(1, 2), call("ADD", 3, 4, { attachment: "b", answer: "refused", text: FULL })],
  },
  {
    name: "one from before a boot, whose address is another's then",
    boots: [3],
    log: [add(1, 2), add(4, 5, "b")],
    disk: { [X]: "b" },
  },
  { name: "one from before a boot that stays", boots: [3], log: [add(1, 2)], disk: { [X]: "a" } },
  {
    name: "one that is deleted after a boot, after its address became another's",
    boots: [3],
    log: [add(1, 2), add(4, 5, "b"), del(6, 7)],
    disk: { [X]: "b" },
  },
  {
    name: "one that starts again after a boot, with its address",
    boots: [3],
    log: [add(1, 2), add(4, 5)],
    disk: { [X]: "a" },
  },
  {
    name: "another ADD of one that lives has the same answer",
    network: { ...tiny, ipam: { repeatedAdd: "same" } },
    log: [add(1, 2), add(3, 4)],
    disk: { [X]: "a" },
  },
  { name: "a CHECK of nothing", log: [refused("CHECK", 1, 2, NOT_FOUND)] },
];

const guilty: readonly Case[] = [
  {
    name: "two hold one address",
    log: [add(1, 2), add(3, 4, "b")],
    disk: { [X]: "b" },
    found: ["double", "double"],
  },
  {
    name: "two hold one address for a moment",
    log: [add(1, 2), add(3, 4, "b"), del(5, 6), del(5, 6, { attachment: "b" })],
    found: ["double"],
  },
  {
    name: "an address is handed out while a listed one holds it",
    log: [add(1, 2), call("GC", 3, 4, { valid: ["a"] }), add(5, 6, "b"), del(7, 8)],
    disk: { [X]: "b" },
    found: ["double"],
  },
  {
    name: "a killed ADD whose result was out shares its address",
    log: [call("ADD", 1, 2, { answer: "killed", addresses: [X] }), add(3, 4, "b"), del(5, 6)],
    disk: { [X]: "b" },
    found: ["double"],
  },
  { name: "one that lives lost its address", log: [add(1, 2)], found: ["double"] },
  {
    name: "one that lives has more than it got",
    log: [add(1, 2)],
    disk: { [X]: "a", [Y]: "a" },
    found: ["leak"],
  },
  {
    name: "a deleted one holds",
    log: [add(1, 2), del(3, 4)],
    disk: { [X]: "a" },
    found: ["leak"],
  },
  {
    name: "a collected one holds",
    log: [add(1, 2), call("GC", 3, 4, { valid: [] })],
    disk: { [X]: "a" },
    found: ["leak"],
  },
  {
    name: "a killed ADD, deleted, holds",
    log: [killedAdd(1, 2), del(3, 4)],
    disk: { [X]: "a" },
    found: ["leak"],
  },
  {
    name: "a refused ADD holds",
    network: tiny,
    log: [add(1, 2, "b"), refused("ADD", 3, 4, FULL)],
    disk: { [X]: "b", [Y]: "a" },
    found: ["leak"],
  },
  {
    name: "a killed ADD holds two of a set",
    log: [killedAdd(1, 2)],
    disk: { [X]: "a", [Y]: "a" },
    found: ["double"],
  },
  { name: "a file is empty", log: [], disk: { [X]: "" }, found: ["torn"] },
  { name: "a file names nobody", log: [], disk: { [X]: "who" }, found: ["torn"] },
  {
    name: "an ADD is refused though there is room",
    log: [refused("ADD", 1, 2, FULL)],
    found: ["refused"],
  },
  {
    name: "an ADD after a DEL finds what that left",
    log: [add(1, 2), del(3, 4), refused("ADD", 5, 6, DUPLICATE)],
    found: ["leak"],
  },
  {
    name: "STATUS says full though there is room",
    log: [refused("STATUS", 1, 2, FULL_STATUS)],
    found: ["refused"],
  },
  {
    name: "CHECK misses one that lives",
    log: [add(1, 2), refused("CHECK", 3, 4, NOT_FOUND)],
    disk: { [X]: "a" },
    found: ["refused"],
  },
  {
    name: "CHECK finds one that is deleted",
    log: [add(1, 2), del(3, 4), call("CHECK", 5, 6)],
    found: ["accepted"],
  },
  {
    name: "a second ADD works",
    log: [add(1, 2), add(3, 4, "a", Y)],
    disk: { [X]: "a" },
    found: ["accepted"],
  },
  {
    name: "a second ADD has another answer",
    network: { ...tiny, ipam: { repeatedAdd: "same" } },
    log: [add(1, 2), add(3, 4, "a", Y)],
    disk: { [X]: "a" },
    found: ["accepted"],
  },
  {
    name: "one of this boot gives way",
    boots: [3, 8],
    log: [add(4, 5), add(6, 7, "b")],
    disk: { [X]: "b" },
    found: ["double"],
  },
  {
    name: "one that started again after a boot gives way",
    boots: [3],
    log: [add(1, 2), add(4, 5), add(6, 7, "b"), del(8, 9)],
    disk: { [X]: "b" },
    found: ["double"],
  },
  {
    name: "one from before a boot holds two of a set",
    boots: [3],
    log: [add(1, 2)],
    disk: { [X]: "a", [Y]: "a" },
    found: ["double"],
  },
  {
    name: "one that is deleted after a boot holds",
    boots: [3],
    log: [add(1, 2), del(4, 5)],
    disk: { [X]: "a" },
    found: ["leak"],
  },
  {
    name: "an ADD grants nothing",
    log: [call("CHECK", 1, 2), add(3, 4, "a", "9.9.9.9")],
    disk: { "9.9.9.9": "a" },
    found: ["accepted", "torn"],
  },
  { name: "a DEL fails", log: [refused("DEL", 1, 2, NOT_FOUND)], found: ["refused"] },
  { name: "a failure says nothing", log: [refused("DEL", 1, 2, "oops")], found: ["mute"] },
  { name: "a call hangs", log: [call("DEL", 1, 2, { answer: "hung" })], found: ["hang"] },
  { name: "a call crashes", log: [call("DEL", 1, 2, { answer: "crashed" })], found: ["crash"] },
];

function decide({ log, boots, disk = {}, network = wideNetworks[0] ?? tiny }: Omit<Case, "found">) {
  const verifier = new Verifier();
  const operations = log.map((operation) => ({ ...operation, network: network.name }));
  const decide = new StormVerifier(network, operations, verifier, boots);
  decide.verifyTenures();
  decide.verifyAnswers();
  const files = Object.entries(disk).map(([address, owner]): [string, string] => [
    address,
    owner === "" ? "" : `${owner}\r\neth0`,
  ]);
  decide.verifyDirectory(new Map(files), "torn");
  return verifier.violations;
}

for (const one of innocent) {
  test(`innocent: ${one.name}`, (t) => {
    t.same(decide(one), []);
    t.end();
  });
}

for (const one of guilty) {
  test(`guilty: ${one.name}`, (t) => {
    t.same(
      decide(one).map(({ kind }) => kind),
      one.found,
    );
    t.end();
  });
}

test("an accusation quotes the calls that it is about, and no others", (t) => {
  const log = [add(1, 2), add(3, 4, "b"), add(5, 6, "c", Y)];

  const [first] = decide({ name: "", log, disk: { [X]: "a", [Y]: "c" } });

  t.equal(
    first?.detail,
    [
      `single: ${X} is held by a and b`,
      `  1.0 to 2.0 native ADD a: done ${X}`,
      `  3.0 to 4.0 native ADD b: done ${X}`,
    ].join("\n"),
  );
  t.end();
});
