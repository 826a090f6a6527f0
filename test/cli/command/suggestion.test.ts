import { test } from "tap";
import { suggestion } from "../../../src/cli/command/suggestion.ts";

const names = ["list", "show", "networks", "capacity", "check", "completion", "release"];

for (const [word, name] of [
  ["liszt", "list"],
  ["lsit", "list"],
  ["lis", "list"],
  ["shwo", "show"],
  ["netwroks", "networks"],
  ["relase", "release"],
  ["cap", "capacity"],
  ["c", undefined],
  ["", undefined],
  ["status", undefined],
  ["x", undefined],
] as const) {
  test(`${JSON.stringify(word)} probably means ${name ?? "nothing known"}`, async (t) => {
    t.equal(suggestion(word, names), name === undefined ? "" : `; did you mean ${name}?`);
  });
}

test("a word that is longer than any name is compared with none", async (t) => {
  const began = performance.now();
  t.equal(suggestion(`list${"t".repeat(1_000_000)}`, names), "");
  t.equal(suggestion(`completion${"n".repeat(3)}`, names), "; did you mean completion?");
  t.ok(performance.now() - began < 1000, "or it would take hours");
});
