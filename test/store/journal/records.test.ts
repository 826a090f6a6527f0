/** The records of a journal. */

import { test } from "tap";
import { type PlacedRecord, Records } from "../../../src/store/journal/records.ts";

const RECORD = "1,5,7 4026532001 pod /run/netns/a";
const lines = [
  `c1 eth0 198.51.100.1 ${RECORD}-before`,
  `c2 eth0 198.51.100.2 ${RECORD}`,
  `c1 eth0 198.51.100.1 ${RECORD}`,
  `c3 eth0 198.51.100.3 ${RECORD}`,
  "c3 eth0 -198.51.100.3",
  `c4 eth0 198.51.100.4 ${RECORD}`,
  "c4 eth0 198.51.100.4",
  `c5 eth0 198.51.100.11 ${RECORD}`,
];
const last = ["198.51.100.2", "198.51.100.1", "198.51.100.11"];

function namesOf(records: Iterable<PlacedRecord>): readonly string[] {
  return [...records].map(({ record }) => record.name);
}

test("the last record of each reservation counts, unless a later line is about it", async (t) => {
  t.same(namesOf(new Records(lines).all()), last);
});

test("all records are given as they were written", async (t) => {
  const written = lines.filter((line) => line.includes(RECORD)).map((line) => line.split(" ")[2]);
  t.same(namesOf(new Records(lines).written()), written);
});

test("lines gives the last record of each reservation, and none of one that was released", async (t) => {
  const record = (name: string): string => `c1 eth0 ${name} ${RECORD}`;
  const [two, three] = [record("10.0.0.2"), record("10.0.0.3")];
  const kept = (...all: readonly string[]) => [...new Records(all).lines()];

  t.same(kept(two, three, `${two}-later`), [
    ["10.0.0.3", three],
    ["10.0.0.2", `${two}-later`],
  ]);
  t.same(kept(two, three, "c1 eth0 -10.0.0.2"), [["10.0.0.3", three]]);
  t.same(kept(two, "c2 eth0 10.0.0.2"), [], "without a record");
  t.same(kept("c1 eth0", "", "c1 eth0 -", two), [["10.0.0.2", two]]);
});
