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
