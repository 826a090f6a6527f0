import { test } from "tap";
import {
  clockSetBack,
  type Holding,
  holdingsOf,
  isHeldAfter,
  isHeldAt,
  type Present,
} from "../../../src/operator/history/holding.ts";
import type { HistoryRecord, HistoryVerb } from "../../../src/store/history/history-record.ts";

const ADDRESS = "10.0.0.2";

/** `<time> <verb> <container>`, times in seconds; all of one address. */
function records(...lines: readonly string[]): readonly HistoryRecord[] {
  return lines.map((line) => {
    const [time = "", verb, container = ""] = line.split(" ");
    return {
      time: Number(time) * 1000,
      verb: verb as HistoryVerb,
      address: ADDRESS,
      container,
      interfaceName: container === "" ? "" : "eth0",
      pod: "",
      caller: "",
    };
  });
}

function reservation(container: string, from: number | undefined): Present {
  const time = from === undefined ? undefined : from * 1000;
  return { address: ADDRESS, container, interfaceName: "eth0", pod: "", from: time };
}

const NOW = 1000;

/** In short: container, beginning, end. */
function holdings(lines: readonly string[], present: readonly Present[] = []): readonly string[] {
  return holdingsOf(records(...lines), present, NOW * 1000).map(inShort);
}

function inShort({ container, from, fromAfter, source, end }: Holding): string {
  const begin = from === undefined ? `?>${(fromAfter ?? 0) / 1000}` : `${from / 1000}`;
  const until =
    end.kind === "held"
      ? "now"
      : end.kind === "unknown"
        ? `<${end.before / 1000}`
        : `${end.record.time / 1000}`;
  return `${container} ${begin}-${until}${source === "reservation" ? " by its file" : ""}`;
}

const c2 = [reservation("c2", 20)];

for (const [name, lines, present, expected] of [
  ["reserved and released", ["10 ADD c1", "20 DEL c1"], [], ["c1 10-20"]],
  ["held now", ["10 ADD c1", "15 DEL c1", "20 ADD c2"], c2, ["c1 10-15", "c2 20-now"]],
  [
    "reused within one time",
    ["10 ADD c1", "10 DEL c1", "10 ADD c2"],
    c2,
    ["c1 10-10", "c2 10-now"],
  ],
  [
    "released by the Go plugin, and reserved again",
    ["10 ADD c1", "20 ADD c2"],
    c2,
    ["c1 10-<20", "c2 20-now"],
  ],
  [
    "released and reserved again for the same one",
    ["10 ADD c2", "20 ADD c2"],
    c2,
    ["c2 10-<20", "c2 20-now"],
  ],
  ["released without a line, and free", ["10 ADD c1"], [], ["c1 10-<1000"]],
  [
    "released and reserved by the Go plugin",
    ["10 ADD c1"],
    c2,
    ["c1 10-<20", "c2 20-now by its file"],
  ],
  [
    "replaced by a file that is older than it",
    ["30 ADD c1"],
    c2,
    ["c1 30-<1000", "c2 20-now by its file"],
  ],
  ["reserved before the history began", ["10 DEL c1"], [], ["c1 ?>0-10"]],
  ["reserved before the history began, and held", [], c2, ["c2 20-now by its file"]],
  [
    "reserved by the Go plugin",
    ["10 ADD c1", "15 DEL c1", "20 GC c2"],
    [],
    ["c1 10-15", "c2 ?>15-20"],
  ],
  ["taken over unseen, and released", ["10 ADD c1", "20 DEL c2"], [], ["c1 10-<20", "c2 ?>10-20"]],
  ["released twice", ["10 ADD c1", "20 DEL c1", "30 DEL c1"], [], ["c1 10-20", "c1 ?>20-30"]],
  ["an empty file that was removed", ["10 ADD c1", "20 check "], [], ["c1 10-<20"]],
  ["an empty file that was reused", ["20 RECLAIM ", "20 ADD c2"], c2, ["c2 20-now"]],
  [
    "a reservation that was reclaimed",
    ["10 ADD c1", "20 RECLAIM c1", "20 ADD c2"],
    c2,
    ["c1 10-20", "c2 20-now"],
  ],
  [
    "a clock that was set back",
    ["30 ADD c1", "10 DEL c1", "11 ADD c2"],
    c2,
    ["c1 30-10", "c2 11-now"],
  ],
] as const) {
  test(`the history of an address: ${name}`, async (t) => {
    t.strictSame(holdings(lines, present), expected);
  });
}

test("a reservation without an interface is its container's", async (t) => {
  const legacy = { ...reservation("c1", 10), interfaceName: "" };
  t.strictSame(holdings(["10 ADD c1"], [legacy]), ["c1 10-now"]);
  const [added] = records("10 ADD c1");
  const other = { ...reservation("c1", 20), interfaceName: "eth1" };
  t.strictSame(holdingsOf(added === undefined ? [] : [added], [other], 0).map(inShort), [
    "c1 10-<20",
    "c1 20-now by its file",
  ]);
});

test("addresses do not disturb each other", async (t) => {
  const [first, second] = records("10 ADD c1", "20 ADD c2");
  if (first === undefined || second === undefined) throw new Error("no records");
  const both = [first, { ...second, address: "fd00::2" }];
  t.strictSame(holdingsOf(both, [], NOW * 1000).map(inShort), ["c1 10-<1000", "c2 20-<1000"]);
});

for (const [lines, present, at, held, after] of [
  [["10 ADD c1", "20 DEL c1"], [], 9, false, true],
  [["10 ADD c1", "20 DEL c1"], [], 10, true, true],
  [["10 ADD c1", "20 DEL c1"], [], 19, true, true],
  [["10 ADD c1", "20 DEL c1"], [], 20, false, false],
  [["10 ADD c2"], c2, 999, true, true],
  [["10 ADD c1"], [], 500, true, true],
  [["10 DEL c1"], [], 5, true, true],
  [["30 ADD c1", "10 DEL c1"], [], 20, true, false],
  [["30 ADD c1", "10 DEL c1"], [], 31, false, false],
] as const) {
  test(`of ${lines}, at ${at}: held ${held}, then or later ${after}`, async (t) => {
    const [holding] = holdingsOf(records(...lines), present, NOW * 1000);
    if (holding === undefined) throw new Error("there is none");
    t.equal(isHeldAt(holding, at * 1000), held);
    t.equal(isHeldAfter(holding, at * 1000), after);
  });
}

test("an unknown beginning is not before the end of the one before", async (t) => {
  const [, second] = holdingsOf(records("10 ADD c1", "20 DEL c1", "30 DEL c2"), [], NOW * 1000);
  if (second === undefined) throw new Error("there is none");
  t.equal(isHeldAt(second, 15_000), false);
  t.equal(isHeldAt(second, 25_000), true);
});

test("that the clock was set back shows", async (t) => {
  t.equal(clockSetBack([]), undefined);
  t.equal(clockSetBack(records("10 ADD c1", "20 DEL c1")), undefined);
  t.equal(clockSetBack(records("10 ADD c1", "9.5 DEL c1")), undefined, "a correction");
  t.equal(clockSetBack(records("30 ADD c1", "10 DEL c1", "11 ADD c2")), 10_000);
});
