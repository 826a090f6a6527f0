/** The ledger of a stress finds each violation, and reports no false one. */

import { test } from "tap";
import { Verifier } from "../../harness/violations.ts";
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

/** What happens, what is on disk in the end (owners by address), and the kinds of violations that are found. */
type Case = readonly [
  name: string,
  steps: readonly Step[],
  disk?: Readonly<Record<string, string>>,
  found?: string,
  on?: StressNetwork,
];

/** Two ADDs of which the second takes the last address while a third waits, and is freed again. */
const lateToTheLast: Step = (ledger) => {
  const late = ledger.begin({ verb: "ADD", program: "native", attachment: "c" });
  killed("ADD", "b")(ledger);
  del("b")(ledger);
  const text = JSON.stringify({ code: 999, msg: FULL });
  ledger.end(late, { kind: "refused", addresses: [], text });
};

const innocent: readonly Case[] = [
  ["one that lives", [add("a", X), call("CHECK", "a")], { [X]: "a" }],
  ["one that is deleted", [add("a", X), del("a")]],
  ["an address of one whose DEL still runs", [add("a", X), del("a", add("b", X))], { [X]: "b" }],
  ["what a killed DEL may free", [add("a", X), killed("DEL", "a"), add("b", X)], { [X]: "b" }],
  ["one while it is collected", [add("a", X), die("a"), gc([], add("b", X))], { [X]: "b" }],
  ["a dead one that a GC lists", [add("a", X), die("a"), gc(["a"])], { [X]: "a" }],
  ["a killed ADD that holds", [killed("ADD", "a")], { [X]: "a" }],
  ["a killed ADD that does not", [killed("ADD", "a")]],
  ["a killed ADD whose result was out", [killed("ADD", "a", X)], { [X]: "a" }],
  ["another ADD", [add("a", X), refused("ADD", "a", DUPLICATE), killed("ADD", "a")], { [X]: "a" }],
  ["the same answer", [add("a", X), add("a", X)], { [X]: "a" }, "", forgiving],
  [
    "an ADD where all may be taken",
    [add("a", X), killed("ADD", "b"), refused("ADD", "c", FULL)],
    { [X]: "a" },
  ],
  [
    "STATUS where all are taken",
    [add("a", X), add("b", Y), refused("STATUS", "", FULL, 50)],
    { [X]: "a", [Y]: "b" },
  ],
  ["an ADD where the last is taken meanwhile", [add("a", X), lateToTheLast], { [X]: "a" }],
  ["one that is reclaimed after a boot", [add("a", X), boot, add("b", X), del("a")], { [X]: "b" }],
  ["one from before a boot that stays", [add("a", X), boot], { [X]: "a" }],
  ["one that starts again", [add("a", X), boot, add("a", X)], { [X]: "a" }],
  ["a CHECK of nothing", [refused("CHECK", "a", NOT_FOUND)]],
];

const guilty: readonly Case[] = [
  ["two hold one address", [add("a", X), add("b", X)], { [X]: "b" }, "double double"],
  ["for a moment", [add("a", X), add("b", X), del("a"), del("b")], {}, "double"],
  [
    "a dead one's before a GC",
    [add("a", X), die("a"), gc(["a"]), add("b", X), del("a")],
    { [X]: "b" },
    "double",
  ],
  ["that of a killed ADD", [killed("ADD", "a", X), add("b", X), del("a")], { [X]: "b" }, "double"],
  ["one that lives lost its address", [add("a", X)], {}, "double"],
  ["one that lives has more", [add("a", X)], { [X]: "a", [Y]: "a" }, "leak"],
  ["a deleted one holds", [add("a", X), del("a")], { [X]: "a" }, "leak"],
  ["a collected one holds", [add("a", X), die("a"), gc([])], { [X]: "a" }, "leak"],
  [
    "a refused ADD holds",
    [add("b", Y), killed("ADD", "c"), refused("ADD", "a", FULL)],
    { [X]: "a", [Y]: "b" },
    "leak",
  ],
  ["a killed ADD holds two", [killed("ADD", "a")], { [X]: "a", [Y]: "a" }, "double"],
  ["a file is empty", [], { [X]: "" }, "torn"],
  ["a file names nobody", [], { [X]: "who" }, "torn"],
  ["an ADD is refused", [refused("ADD", "a", FULL)], {}, "refused"],
  [
    "an ADD finds what a DEL left",
    [add("a", X), del("a"), refused("ADD", "a", DUPLICATE)],
    {},
    "leak",
  ],
  ["STATUS says full", [refused("STATUS", "", FULL, 50)], {}, "refused"],
  ["CHECK misses", [add("a", X), refused("CHECK", "a", NOT_FOUND)], { [X]: "a" }, "refused"],
  ["CHECK finds a deleted one", [add("a", X), del("a"), call("CHECK", "a")], {}, "accepted"],
  ["a second ADD works", [add("a", X), add("a", X)], { [X]: "a" }, "accepted"],
  ["and has another answer", [add("a", X), add("a", Y)], { [X]: "a" }, "accepted", forgiving],
  [
    "one of this boot is reclaimed",
    [add("a", X), boot, add("a", X), add("b", X), del("a")],
    { [X]: "b" },
    "double",
  ],
  ["an ADD grants an address of no set", [add("a", "9.9.9.9")], { "9.9.9.9": "a" }, "torn"],
  ["a DEL fails", [refused("DEL", "a", NOT_FOUND)], {}, "refused"],
  ["a failure says nothing", [call("DEL", "a", { kind: "refused" })], {}, "mute"],
  ["a call hangs", [call("DEL", "a", { kind: "hung" })], {}, "hang"],
  ["a call crashes", [call("DEL", "a", { kind: "crashed" })], {}, "crash"],
];

for (const [name, steps, disk = {}, found = "", on = network] of [...innocent, ...guilty]) {
  test(`StressLedger, ${found || "nothing wrong"}: ${name}`, (t) => {
    const verifier = new Verifier();
    const ledger = new StressLedger(on, verifier);
    for (const step of steps) step(ledger);
    const files = Object.entries(disk).map(([address, owner]): [string, string] => [
      address,
      owner === "" ? "" : `${owner}\r\neth0`,
    ]);
    ledger.verifyFiles(new Map(files), "torn");
    const kinds = verifier.violations.map(({ kind }) => kind).join(" ");
    t.equal(kinds, found, verifier.violations.map(({ detail }) => detail).join("\n"));
    t.end();
  });
}
