/** The records of a journal. */

import { test } from "tap";
import { Records } from "../../../src/store/journal/records.ts";

test("lines gives the last record of each reservation, and none of one that was released", async (t) => {
  const record = (name: string): string => `c1 eth0 ${name} 1,5,7 4026532001 pod /run/netns/a`;
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
