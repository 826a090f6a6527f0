/** The ledger of a stress finds each violation, and reports no false one. */

import { test } from "tap";
import { type Kind, Verifier } from "../../harness/violations.ts";
import { type StressAnswer, type StressCall, StressLedger } from "./stress-ledger.ts";
import type { StressNetwork } from "./stress-networks.ts";

const FULL = "no IP addresses available in range set: x";
const DUPLICATE = "duplicate allocation is not allowed";
const NOT_FOUND = "Failed to find address added by container";

const X = "10.1.0.2";
const Y = "10.1.0.3";

/** Two addresses, so that it is easily full. */
const network: StressNetwork = {
  name: "net",
  sets: [{ ranges: [], prefixes: ["10.1."], capacity: 2 }],
};
const forgiving: StressNetwork = { ...network, ipam: { repeatedAdd: "same" } };

type Step = (ledger: StressLedger) => void;
type Verb = StressCall["verb"];

/** A call, during which others may run. */
function call(
  verb: Verb,
  attachment: string,
  answer: Partial<StressAnswer> = {},
  { meanwhile = [], valid = [] }: { meanwhile?: readonly Step[]; valid?: readonly string[] } = {},
): Step {
  return (ledger) => {
    const list = verb === "GC" ? { valid: new Set(valid) } : {};
    const running = ledger.begin({ verb, program: "native", attachment, ...list });
    for (const step of meanwhile) step(ledger);
    ledger.end(running, { kind: "done", addresses: [], text: "", ...answer });
  };
}

const add = (attachment: string, address: string, ...meanwhile: readonly Step[]): Step =>
  call("ADD", attachment, { addresses: [address] }, { meanwhile });
const killed = (verb: Verb, attachment: string, ...addresses: readonly string[]): Step =>
  call(verb, attachment, { kind: "killed", addresses });
const refused = (verb: Verb, attachment: string, msg: string, code = 999): Step =>
  call(verb, attachment, { kind: "refused", text: JSON.stringify({ code, msg }) });
const del = (attachment: string, ...meanwhile: readonly Step[]): Step =>
  call("DEL", attachment, {}, { meanwhile });
const gc = (valid: readonly string[], ...meanwhile: readonly Step[]): Step =>
  call("GC", "", {}, { valid, meanwhile });
const die =
  (attachment: string): Step =>
  (ledger) =>
    ledger.die(attachment);
const boot: Step = (ledger) => ledger.boot();

interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
  /** What is on disk in the end: owners by address. */
  readonly disk?: Readonly<Record<string, string>>;
  readonly on?: StressNetwork;
  readonly found?: readonly Kind[];
}

const innocent: readonly Case[] = [
  { name: "one that lives", steps: [add("a", X), call("CHECK", "a")], disk: { [X]: "a" } },
  { name: "one that is deleted", steps: [add("a", X), del("a")] },
  {
    name: "an address that is handed out while the DEL still runs",
    steps: [add("a", X), del("a", add("b", X))],
    disk: { [X]: "b" },
  },
  {
    name: "an address that a killed DEL may have freed",
    steps: [add("a", X), killed("DEL", "a"), add("b", X)],
    disk: { [X]: "b" },
  },
  {
    name: "one that is collected while the GC still runs",
    steps: [add("a", X), die("a"), gc([], add("b", X))],
    disk: { [X]: "b" },
  },
  {
    name: "a dead one that a GC lists",
    steps: [add("a", X), die("a"), gc(["a"])],
    disk: { [X]: "a" },
  },
  { name: "a killed ADD that holds", steps: [killed("ADD", "a")], disk: { [X]: "a" } },
  { name: "a killed ADD that does not", steps: [killed("ADD", "a")] },
  { name: "a killed ADD whose result was out", steps: [killed("ADD", "a", X)], disk: { [X]: "a" } },
  {
    name: "another ADD of one that lives",
    steps: [add("a", X), refused("ADD", "a", DUPLICATE), killed("ADD", "a")],
    disk: { [X]: "a" },
  },
  {
    name: "the same answer where it is configured",
    on: forgiving,
    steps: [add("a", X), add("a", X)],
    disk: { [X]: "a" },
  },
  {
    name: "an ADD and STATUS where all may be taken",
    steps: [
      add("a", X),
      killed("ADD", "b"),
      refused("ADD", "c", FULL),
      refused("STATUS", "", FULL, 50),
    ],
    disk: { [X]: "a" },
  },
  {
    name: "an ADD where the last is taken while it runs",
    steps: [
      add("a", X),
      (ledger) => {
        const late = ledger.begin({ verb: "ADD", program: "native", attachment: "c" });
        killed("ADD", "b")(ledger);
        del("b")(ledger);
        const text = JSON.stringify({ code: 999, msg: FULL });
        ledger.end(late, { kind: "refused", addresses: [], text });
      },
    ],
    disk: { [X]: "a" },
  },
  {
    name: "one from before a boot that gives way, and is deleted late",
    steps: [add("a", X), boot, add("b", X), del("a")],
    disk: { [X]: "b" },
  },
  { name: "one from before a boot that stays", steps: [add("a", X), boot], disk: { [X]: "a" } },
  { name: "one that starts again", steps: [add("a", X), boot, add("a", X)], disk: { [X]: "a" } },
  { name: "a CHECK of nothing", steps: [refused("CHECK", "a", NOT_FOUND)] },
];

const guilty: readonly Case[] = [
  {
    name: "two hold one address",
    steps: [add("a", X), add("b", X)],
    disk: { [X]: "b" },
    found: ["double", "double"],
  },
  {
    name: "two hold one address for a moment",
    steps: [add("a", X), add("b", X), del("a"), del("b")],
    found: ["double"],
  },
  {
    name: "the address of a dead one is handed out before a GC",
    steps: [add("a", X), die("a"), gc(["a"]), add("b", X), del("a")],
    disk: { [X]: "b" },
    found: ["double"],
  },
  {
    name: "a killed ADD whose result was out shares its address",
    steps: [killed("ADD", "a", X), add("b", X), del("a")],
    disk: { [X]: "b" },
    found: ["double"],
  },
  { name: "one that lives lost its address", steps: [add("a", X)], found: ["double"] },
  {
    name: "one that lives has more than it got",
    steps: [add("a", X)],
    disk: { [X]: "a", [Y]: "a" },
    found: ["leak"],
  },
  {
    name: "a deleted one holds",
    steps: [add("a", X), del("a")],
    disk: { [X]: "a" },
    found: ["leak"],
  },
  {
    name: "a collected one holds",
    steps: [add("a", X), die("a"), gc([])],
    disk: { [X]: "a" },
    found: ["leak"],
  },
  {
    name: "a refused ADD holds",
    steps: [add("b", X), add("c", Y), refused("ADD", "a", FULL), del("c")],
    disk: { [X]: "b", [Y]: "a" },
    found: ["leak"],
  },
  {
    name: "a killed ADD holds two of a set",
    steps: [killed("ADD", "a")],
    disk: { [X]: "a", [Y]: "a" },
    found: ["double"],
  },
  { name: "a file is empty", steps: [], disk: { [X]: "" }, found: ["torn"] },
  { name: "a file names nobody", steps: [], disk: { [X]: "who" }, found: ["torn"] },
  { name: "an ADD is refused", steps: [refused("ADD", "a", FULL)], found: ["refused"] },
  {
    name: "an ADD finds what a DEL left",
    steps: [add("a", X), del("a"), refused("ADD", "a", DUPLICATE)],
    found: ["leak"],
  },
  { name: "STATUS says full", steps: [refused("STATUS", "", FULL, 50)], found: ["refused"] },
  {
    name: "CHECK misses one that lives",
    steps: [add("a", X), refused("CHECK", "a", NOT_FOUND)],
    disk: { [X]: "a" },
    found: ["refused"],
  },
  {
    name: "CHECK finds one that is deleted",
    steps: [add("a", X), del("a"), call("CHECK", "a")],
    found: ["accepted"],
  },
  {
    name: "a second ADD works",
    steps: [add("a", X), add("a", X)],
    disk: { [X]: "a" },
    found: ["accepted"],
  },
  {
    name: "a second ADD has another answer",
    on: forgiving,
    steps: [add("a", X), add("a", Y)],
    disk: { [X]: "a" },
    found: ["accepted"],
  },
  {
    name: "one that started again after a boot gives way",
    steps: [add("a", X), boot, add("a", X), add("b", X), del("a")],
    disk: { [X]: "b" },
    found: ["double"],
  },
  {
    name: "an ADD grants an address of no set",
    steps: [add("a", "9.9.9.9")],
    disk: { "9.9.9.9": "a" },
    found: ["torn"],
  },
  { name: "a DEL fails", steps: [refused("DEL", "a", NOT_FOUND)], found: ["refused"] },
  {
    name: "a failure says nothing",
    steps: [call("DEL", "a", { kind: "refused" })],
    found: ["mute"],
  },
  { name: "a call hangs", steps: [call("DEL", "a", { kind: "hung" })], found: ["hang"] },
  { name: "a call crashes", steps: [call("DEL", "a", { kind: "crashed" })], found: ["crash"] },
];

for (const { name, steps, disk = {}, on = network, found = [] } of [...innocent, ...guilty]) {
  test(`StressLedger, ${found.join(" ") || "nothing wrong"}: ${name}`, (t) => {
    const verifier = new Verifier();
    const ledger = new StressLedger(on, verifier);
    for (const step of steps) step(ledger);
    const files = Object.entries(disk).map(([address, owner]): [string, string] => [
      address,
      owner === "" ? "" : `${owner}\r\neth0`,
    ]);
    ledger.verifyFiles(new Map(files), "torn");
    t.same(
      verifier.violations.map(({ kind }) => kind),
      found,
      verifier.violations.map(({ detail }) => detail).join("\n"),
    );
    t.end();
  });
}
